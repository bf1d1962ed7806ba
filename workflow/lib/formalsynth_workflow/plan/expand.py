"""Expand each entry of a paper at every point of its sweeps into synthesizers and arms with ids, labels and colours."""

from __future__ import annotations

import functools
import itertools
import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from formalsynth.core.mechanism import MECHANISMS, Mechanism
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.parameters import Parameters, defaults, partial
from formalsynth.core.synthesizer import Synthesizer
from formalsynth.settings.messages import ConfigError, Problems, Section, refusal, short, validated
from formalsynth_workflow.jobs.inputs import ArmChoice
from formalsynth_workflow.plan.model import ArmEntry, PaperConfig, SynthesizerEntry
from formalsynth_workflow.show.display import NOT_SYNTHETIC, Look
from formalsynth_workflow.study import STUDIES

COLOURS = {DATA: "#333333", PRIOR: "#999999"}
"""Colours of entries that are not synthesizers."""
LARGEST = 1e300
"""Largest finite value that a parameter may have."""


@dataclass
class Expanded:
    """The synthesizers and arms of a paper and their looks, by id, and the ids of each config entry."""

    synthesizers: dict[str, Synthesizer] = field(default_factory=dict)
    arms: dict[str, ArmChoice] = field(default_factory=dict)
    studies: dict[str, str] = field(default_factory=dict)
    """The study that each arm belongs to."""
    looks: dict[str, Look] = field(
        default_factory=lambda: {id: Look(label=id, colour=COLOURS[id], guarantee=words) for id, words in NOT_SYNTHETIC.items()}
    )
    groups: dict[str, list[str]] = field(default_factory=dict)

    def parameters(self, id: str) -> dict[str, float]:
        """Return a synthesizer's parameters, with defaults, merged over its parents'; empty for the confidential data."""
        if id in self.arms:
            arm = self.arms[id]
            return defaults(STUDIES[self.studies[id]].arms[arm.arm].parameters) | arm.parameters
        if id not in self.synthesizers:
            return {}
        synthesizer = self.synthesizers[id]
        inherited = {key: value for parent in synthesizer.parents for key, value in self.parameters(parent).items()}
        return inherited | defaults(MECHANISMS[synthesizer.mechanism].parameters) | synthesizer.parameters


@dataclass(frozen=True)
class _Point(Section):
    """An entry at one point of its sweeps."""

    name: str
    entry: SynthesizerEntry | ArmEntry
    values: Mapping[str, float]
    """Parameters set by the sweeps."""
    places: Mapping[str, str]
    """Config paths of these parameters."""

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the entry and of the sweeps."""
        return self.entry.given() | dict(self.values)

    def check(self, model: type[Parameters], needs: str, more: Mapping[str, float]) -> None:
        """Check the parameters against a model.

        Args:
            model: the model.
            needs: the mechanism or arm that needs them, for messages.
            more: parameters set by a search.
        """
        given, problems = self.parameters | dict(more), Problems()
        missing = [name for name, field in model.model_fields.items() if field.is_required() and name not in given]
        with problems.catch():
            if missing:
                raise ConfigError(f"{self.file}: {self.where}.parameters: {missing[0]} is missing; {needs} needs it")
        with problems.catch():
            validated(partial(model) if missing else model, given, self.file, f"{self.where}.parameters")
        try:
            problems.report()
        except ConfigError as error:
            raise ConfigError("\n".join(self._replaced(line) for line in str(error).splitlines())) from error

    def _replaced(self, line: str) -> str:
        """Replace the config path in a message with the path at which the value was given."""
        for name, place in self.places.items():
            line = line.replace(f"{self.where}.parameters.{name}: ", f"{place}: ")
        return line

    def filled(self, key: str, template: str) -> str:
        """Fill in the parameters named in braces in a text; ``{name:%}`` is a percentage."""
        text = {name: f"{value:g}" for name, value in self.parameters.items()}
        try:
            parts = list(string.Formatter().parse(template))
        except ValueError:  # an unclosed brace
            parts = [("", "", "", None)]
        for _, name, form, conversion in parts:
            if name is not None and (name not in text or form not in ("", "%") or conversion):
                raise self.refuse(key, template, [f"in braces {', '.join(text) or 'no parameter'}"])
        return re.sub(r"{(\w+):%}", lambda part: f"{100 * self.parameters[part[1]]:g} %", template).format(**text)

    def id(self) -> str:
        """Return the id at this point of the sweeps.

        Raises:
            ConfigError: it cannot be part of a path.
        """
        id = self.filled("id", self.entry.id or "_".join([self.name, *(f"{{{key}}}" for key in self.values)]))
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{,99}", id):
            allowed = "up to 100 letters, digits, _ . -, starting with a letter"
            raise ConfigError(f"{self.file}: {self.where}.id: given {short(id)}; allowed: {allowed}")
        return id


def expand(config: PaperConfig, file: Path) -> Expanded:
    """Expand every entry of a paper at every point of its sweeps.

    Raises:
        ConfigError: with a line for each problem.
    """
    expanded, problems = Expanded(), Problems()
    for name, entry in config.synthesizers.items():
        expanded.groups[name] = []
        with problems.catch():
            _expand_entry(name, entry, config, expanded, file)
    problems.report()
    for name, ids in expanded.groups.items():
        for id in ids:
            with problems.catch():
                if id in expanded.synthesizers:
                    _check_references(expanded.synthesizers[id], f"synthesizers.{name}", expanded.synthesizers, file)
    problems.report()
    _check_acyclic(expanded.synthesizers, file)
    return expanded


def _expand_entry(name: str, entry: SynthesizerEntry | ArmEntry, config: PaperConfig, expanded: Expanded, file: Path) -> None:
    Section(file, f"synthesizers.{name}").check_names("over", entry.over, config.sweeps)
    places = {key: place for sweep in entry.over for point in config.sweeps[sweep] for key, place in _places(sweep, point)}
    for k, values in enumerate(_points(config, entry.over)):
        point = _Point(file, f"synthesizers.{name}", name, entry, values, places)
        colour = entry.colours[k % len(entry.colours)]
        expanded.groups[name].append(_add(point, colour, expanded))


def _add(point: _Point, colour: str, expanded: Expanded) -> str:
    """Add the synthesizer or arm of an entry at one point, and return its id."""
    entry = point.entry
    guarantee, epsilon = _check_arm(point, entry) if isinstance(entry, ArmEntry) else _check_synthesizer(point, entry)
    id = point.id()
    label = point.filled("label", entry.label or id)
    if id in expanded.looks:
        raise point.refuse("id", id, ["an id that is not in use"])
    expanded.looks[id] = Look(label=label, colour=colour, guarantee=guarantee, epsilon=epsilon)
    if isinstance(entry, ArmEntry):
        expanded.arms[id] = ArmChoice(id=id, arm=entry.arm, parameters=point.parameters)
        expanded.studies[id] = entry.study
    else:
        expanded.synthesizers[id] = _synthesizer(point, entry, id)
    return id


def _check_arm(point: _Point, entry: ArmEntry) -> tuple[str, None]:
    """Check an arm's parameters; return its kind of guarantee, which declares no epsilon."""
    arm = STUDIES[entry.study].arms[entry.arm]
    point.check(arm.parameters, f"the arm {entry.arm}", {})
    return arm.guarantee, None


def _check_synthesizer(point: _Point, entry: SynthesizerEntry) -> tuple[str, float | None]:
    """Check a synthesizer's parameters, search and number of parents.

    Returns:
        Its kind of guarantee, and the epsilon guaranteed for every data set when a record is added or removed.
    """
    mechanism, search = MECHANISMS[entry.mechanism], entry.search
    if search:
        allowed = [] if mechanism.releases else list(mechanism.parameters.model_fields)
        point.check_names("search.parameter", [search.parameter], allowed, "no parameter")
        if mechanism.strict:
            why = f"none: {mechanism.name} guarantees a declared epsilon, and a search would choose a parameter from the data"
            raise point.refuse("search.parameter", search.parameter, [why])
        if search.target == "parent" and not mechanism.parents:
            raise point.refuse("search.target", "parent", ["a number: it has no parent"])
    point.check(mechanism.parameters, mechanism.name, {search.parameter: search.high} if search else {})
    if len(entry.parents) != mechanism.parents:
        raise point.refuse("parents", entry.parents, [f"{mechanism.parents} for {mechanism.name}"])
    return mechanism.kind, mechanism.claim(point.parameters, "add_remove")


def _synthesizer(point: _Point, entry: SynthesizerEntry, id: str) -> Synthesizer:
    mechanism: Mechanism = MECHANISMS[entry.mechanism]
    for name, value in point.parameters.items():
        if isinstance(value, float | int) and LARGEST < abs(value) < math.inf:
            raise point.refuse(f"parameters.{name}", value, [f"a number up to {LARGEST:g}"])
    filled = functools.partial(point.filled, "parents")
    return Synthesizer(
        id=id, mechanism=entry.mechanism, parameters=point.parameters, parents=tuple(map(filled, entry.parents)),
        fit=point.filled("fit", entry.fit or id), search=entry.search, words=mechanism.words(point.parameters),
    )  # fmt: skip


def _check_references(synthesizer: Synthesizer, where: str, synthesizers: Mapping[str, Synthesizer], file: Path) -> None:
    for key, ids in (("parents", synthesizer.parents), ("fit", [synthesizer.fit])):
        for id in ids:
            if id not in synthesizers:
                raise refusal(file, f"{where}.{key}", id, synthesizers)
            if id != synthesizer.id and MECHANISMS[synthesizers[id].mechanism].releases:
                raise refusal(file, f"{where}.{key}", id, ["one with a posterior that others can use"])
    if synthesizers[synthesizer.fit].fit != synthesizer.fit:
        raise refusal(file, f"{where}.fit", synthesizer.fit, ["one with a fit of its own"])
    if synthesizer.fit != synthesizer.id and (synthesizer.search or MECHANISMS[synthesizer.mechanism].releases):
        why = "a search" if synthesizer.search else f"the mechanism {synthesizer.mechanism}"
        raise refusal(file, f"{where}.fit", synthesizer.fit, [f"none: {why} needs a fit of its own"])


def _check_acyclic(synthesizers: Mapping[str, Synthesizer], file: Path) -> None:
    """Check that no fit depends on itself through the parents of the synthesizers that share it."""
    needs = TopologicalSorter[str]()
    for synthesizer in synthesizers.values():
        owner = {synthesizer.fit} - {synthesizer.id}  # a parent whose fit it shares is no cycle
        needs.add(synthesizer.fit, *(synthesizers[parent].fit for parent in synthesizer.parents if parent not in owner))
    try:
        needs.prepare()
    except CycleError as error:
        raise refusal(file, "synthesizers", " -> ".join(error.args[1][::-1]), ["parents without a cycle"]) from error


def _points(config: PaperConfig, sweeps: Sequence[str]) -> Iterator[dict[str, float]]:
    """Yield the product of the sweeps; a bare number in a sweep sets the parameter that has the sweep's name."""
    axes = [[point if isinstance(point, dict) else {sweep: point} for point in config.sweeps[sweep]] for sweep in sweeps]
    for combination in itertools.product(*axes):
        yield {key: value for point in combination for key, value in point.items()}


def _places(sweep: str, point: dict[str, float] | float) -> list[tuple[str, str]]:
    """Return the parameters of a point of a sweep, with the config paths at which they are given."""
    return [(key, f"sweeps.{sweep}.{key}") for key in point] if isinstance(point, dict) else [(sweep, f"sweeps.{sweep}")]
