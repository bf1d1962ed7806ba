"""The design of a run: config and papers, validated, with every fan-out spelled out as plain data.

:mod:`formalsynth.config` says what a user may write; :func:`read_plan` turns it into a :class:`Plan` of scenarios,
synthesizers, figures and tables in which nothing is left to expand.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import os
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.allowed import refused
from formalsynth.checks import check_claim, check_figure, check_table
from formalsynth.claims import Claim
from formalsynth.config import (
    ClaimConfig,
    ClaimsConfig,
    ConfigError,
    FigureConfig,
    PaperConfig,
    RunConfig,
    ScenarioConfig,
    SynthesizerConfig,
    TableConfig,
    check_unique,
    load_yaml,
    message,
    short,
    validated,
)  # fmt: skip
from formalsynth.datasets import COUNTS, DATASETS, LEAST, TABLES, DataError, check, find, is_folder, load, load_counts
from formalsynth.families import FAMILIES, Records
from formalsynth.mechanisms import MECHANISMS
from formalsynth.populations import POPULATIONS
from formalsynth.scenario import DATA, PRIOR, STUDY, Display, Look, Scenario, Synthesizer
from formalsynth.studies import STUDIES

DATA_COLOUR = "#333333"
PRIOR_COLOUR = "#999999"
_SYMBOLS = {"epsilon": "ε"}
BATCHES = 10_000
"""Batches of a scenario at most: their ids have four digits."""


@dataclass(frozen=True)
class Paper:
    """One paper with everything expanded."""

    key: str
    config: PaperConfig
    scenarios: dict[str, Scenario]
    figures: dict[str, FigureConfig]
    tables: dict[int, TableConfig]
    groups: dict[str, list[str]]
    """Ids of the synthesizers of each config entry."""
    looks: dict[str, Look]
    """Label and colour of each synthesizer id, the confidential data included."""
    synthesizers: dict[str, Synthesizer]
    """Every synthesizer of the paper's config."""
    claims: list[Claim] = field(default_factory=list)

    def of(self, names: str | Sequence[str]) -> list[Scenario]:
        """The scenarios that config entries expanded to, by sample size; skipped ones are not among them."""
        names = [names] if isinstance(names, str) else names
        return [one for name in names for one in self.scenarios.values() if one.name == name]

    def order(self, names: Sequence[str | Sequence[str]]) -> list[str]:
        """Synthesizer ids from left to right; the members of a nested list alternate."""
        ids: list[str] = []
        for name in names:
            members = [self._ids(one) for one in ([name] if isinstance(name, str) else name)]
            ids += [one for row in itertools.zip_longest(*members) for one in row if one is not None]
        return ids

    def display(self, section: str, number: int | str, scale: str) -> Display:
        """What a figure (section ``figures``) or table (``tables``) shows."""
        entry = self.figures[str(number)] if section == "figures" else self.tables[int(number)]
        if section == "figures" and entry.same_as:
            entry = self.figures[entry.same_as]
        scenarios = [one for one in self.of(entry.scenario) if getattr(entry, "size", None) in (None, one.size)]
        ids = [id for id in self.order(entry.synthesizers) if self.fits(id, entry.where)]
        given = self._by_id(getattr(entry, "labels", {}))
        looks = {id: asdict(self.looks[id]) | {"guarantee": self._guarantee(id)} for id in ids}
        shown = ("id", "name", "label", "n", "place", "replicates", "synthetic_sets", "file", "population", "stand_in", "unit")
        return Display(
            paper=self.key,
            number=str(number),
            scale=scale,
            authors=self.config.authors,
            source=entry.source,
            entry=entry.model_dump(exclude={"synthesizers", "scenario", "where", "labels"}),
            ids=ids,
            looks={id: look | {"label": given.get(id, look["label"])} for id, look in looks.items()},
            panels=self._panels(ids, getattr(entry, "panels", "none"), entry.where),
            at={id: self.parameters(id).get(entry.at) for id in ids} if getattr(entry, "at", "") else {},
            scenarios=[{key: getattr(one, key) for key in shown} | {"data": _kind_of_data(one)} for one in scenarios],
        )

    def _by_id(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Labels of a figure by id, where config gives them by id or for a whole entry."""
        return {id: label for name, label in labels.items() for id in self.groups.get(name, [name])}

    def parameters(self, id: str) -> dict[str, float]:
        """Parameters of a synthesizer over those of its parents, with defaults; none for the confidential data."""
        one = self.synthesizers.get(id)
        if one is None:
            return {}
        inherited = {key: value for parent in one.parents for key, value in self.parameters(parent).items()}
        defaults = {k: v for k, v in MECHANISMS[one.mechanism].parameters().items() if v is not inspect.Parameter.empty}
        return inherited | defaults | one.parameters

    def fits(self, id: str, where: Mapping[str, float]) -> bool:
        """Whether a synthesizer has these parameters where it has them at all."""
        parameters = self.parameters(id)
        return all(parameters.get(key, value) == value for key, value in where.items())

    def _panels(self, ids: Sequence[str], by: str, where: Mapping[str, float]) -> list[dict[str, Any]]:
        if by in ("none", "synthesizer", "scenario"):
            return [{"title": "", "ids": list(ids), "epsilon": where.get("epsilon")}]
        values = dict.fromkeys(self.parameters(id)[by] for id in ids if by in self.parameters(id))
        return [
            {
                "title": f"{_SYMBOLS.get(by, by)} = {value:g}",
                "ids": [id for id in ids if self.fits(id, {by: value})],
                "epsilon": value if by == "epsilon" else where.get("epsilon"),
            }
            for value in values
        ]

    def _guarantee(self, id: str) -> str:
        if id not in self.synthesizers:
            return "none: confidential" if id == DATA else "none: prior"
        return MECHANISMS[self.synthesizers[id].mechanism].guarantee

    def _ids(self, name: str) -> list[str]:
        return [name] if name in (DATA, PRIOR) else self.groups.get(name, [name])


@dataclass(frozen=True)
class Plan:
    """A whole run."""

    config: RunConfig
    papers: dict[str, Paper]
    skipped: list[str]
    """What is left out because its data are absent, each a sentence."""

    def programs(self) -> list[str]:
        """Names of the Stan programs that the run needs."""
        return sorted({one.program for paper in self.papers.values() for one in paper.scenarios.values()} - {""})


def _kind_of_data(scenario: Scenario) -> str:
    """What a caption says of the data; nothing where a study's data set is named by its label."""
    if (scenario.population or {}).get("counts"):
        return "draws from published counts"
    dataset = (scenario.study or {}).get("dataset", "simulated")
    return "simulated data" if dataset == "simulated" else ""


def figure_file(number: str) -> str:
    """A figure's file name without its ending: two digits, so that files sort, and the letter of its panel."""
    digits = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    return f"fig{int(digits):02d}{number.removeprefix(digits)}"


def read_plan(config: Mapping[str, Any], folder: Path) -> Plan:
    """Validate the run's config and the papers it names, and expand them.

    Args:
        config: contents of ``config/config.yaml``, with what the command line overrides.
        folder: the config folder.

    Raises:
        ConfigError: something cannot be used.
    """
    file = folder / "config.yaml"
    run = validated(RunConfig, config, file)
    if run.scale not in run.scales:
        raise ConfigError(message(file, "scale", run.scale, run.scales))
    named = os.environ.get("FORMALSYNTH_DATA")
    if named and not is_folder(named):
        raise ConfigError(f"environment variable FORMALSYNTH_DATA: given {short(named)}; allowed: a folder that is there")
    if os.path.lexists(run.data_folder) and not is_folder(run.data_folder):
        raise ConfigError(message(file, "data_folder", run.data_folder, ["a folder"]))
    papers, skipped = {}, []
    for key in run.papers:
        path = folder / "papers" / f"{key}.yaml"
        known = sorted(one.stem for one in path.parent.glob("*.yaml"))
        if not path.exists():
            raise ConfigError(message(file, "papers", key, known))
        paper, absent = _paper(key, validated(PaperConfig, load_yaml(path), path), run, path)
        papers[key] = replace(paper, claims=_claims(paper, folder / "claims" / f"{key}.yaml"))
        skipped += absent
    check_unique((paper.config.id, f"{folder / 'papers' / key}.yaml: id") for key, paper in papers.items())
    check_unique(
        (one.id, f"{folder / 'claims' / key}.yaml: claims.{one.id}.id") for key, paper in papers.items() for one in paper.claims
    )
    return Plan(run, papers, skipped)


@dataclass(frozen=True)
class _Expanded:
    """The synthesizers of a paper: by id, their looks, and the ids of each config entry."""

    synthesizers: dict[str, Synthesizer]
    looks: dict[str, Look]
    groups: dict[str, list[str]]


def _paper(key: str, config: PaperConfig, run: RunConfig, file: Path) -> tuple[Paper, list[str]]:
    expanded = _expand(config, file)
    for name, one in config.scenarios.items():
        if one.synthetic_sets > run.sampler.draws:
            where = f"{file}: scenarios.{name}.synthetic_sets"
            raise ConfigError(f"{where}: given {one.synthetic_sets}; allowed: up to sampler.draws, which is {run.sampler.draws}")
        most = BATCHES * (one.batch_size or run.batch_size)
        if one.replicates > most:
            allowed = f"up to {most}, {BATCHES} times batch_size"
            raise ConfigError(message(file, f"scenarios.{name}.replicates", one.replicates, [allowed]))
    check_unique((one.id, f"{file}: scenarios.{name}.id") for name, one in config.scenarios.items())
    scenarios: dict[str, Scenario] = {}
    skipped: list[str] = []
    for name, one in config.scenarios.items():
        _check_scenario(name, one, expanded, file)
        if one.file and not find(one.file.name, run.data_folder):
            absent = f"{key}: {one.place} ({name}): {DATASETS[one.file.name].file} is absent"
            skipped.append(f"{absent}, a STAND-IN takes its place" if one.stand_in else f"{absent}, skipped")
            if not one.stand_in:
                continue
        missing = [(DATASETS | TABLES)[need].file for need in _required(one) if not find(need, run.data_folder)]
        if missing:
            skipped.append(f"{key}: {one.place} ({name}): {', '.join(missing)} absent, skipped")
            continue
        for scenario in _scenarios(key, config, name, run, expanded, file):
            if scenario.id in scenarios:
                where = f"{file}: scenarios.{name}.n"
                raise ConfigError(f"{where}: given {one.n}; allowed: sizes that are different at scale {run.scale}")
            scenarios[scenario.id] = scenario
    for number in config.telling:
        if number not in config.figures:
            raise ConfigError(message(file, "telling", number, config.figures))
    paper = Paper(key, config, scenarios, {}, {}, expanded.groups, expanded.looks, expanded.synthesizers)
    figures = {number: entry for number, entry in config.figures.items() if check_figure(number, entry, paper, file)}
    tables = {number: entry for number, entry in config.tables.items() if check_table(number, entry, paper, file)}
    return replace(paper, figures=figures, tables=tables), skipped


def _expand(config: PaperConfig, file: Path) -> _Expanded:
    all = _Expanded({}, {DATA: Look(DATA, DATA_COLOUR), PRIOR: Look(PRIOR, PRIOR_COLOUR)}, {})
    for name, entry in config.synthesizers.items():
        where = f"synthesizers.{name}"
        for sweep in entry.over:
            if sweep not in config.sweeps:
                raise ConfigError(message(file, f"{where}.over", sweep, config.sweeps))
        all.groups[name] = []
        places = {key: place for sweep in entry.over for point in config.sweeps[sweep] for key, place in _places(sweep, point)}
        for k, point in enumerate(_points(config, entry.over)):
            one, label = _synthesizer(name, entry, point, places, file)
            if one.id in all.looks:
                raise ConfigError(message(file, f"{where}.id", one.id, ["an id that is not used already"]))
            all.synthesizers[one.id] = one
            all.looks[one.id] = Look(label, entry.colours[k % len(entry.colours)])
            all.groups[name].append(one.id)
    for name, ids in all.groups.items():
        for id in ids:
            _check_references(all.synthesizers[id], f"synthesizers.{name}", all.synthesizers, file)
    _check_acyclic(all.synthesizers, file)
    return all


def _check_references(one: Synthesizer, where: str, synthesizers: Mapping[str, Synthesizer], file: Path) -> None:
    for key, ids in (("parents", one.parents), ("fit", [one.fit])):
        for id in ids:
            if id not in synthesizers:
                raise ConfigError(message(file, f"{where}.{key}", id, synthesizers))
            if id != one.id and MECHANISMS[synthesizers[id].mechanism].releases:
                raise ConfigError(message(file, f"{where}.{key}", id, ["one with a posterior that others can use"]))
    if synthesizers[one.fit].fit != one.fit:
        raise ConfigError(message(file, f"{where}.fit", one.fit, ["one with a fit of its own"]))
    if one.fit != one.id and (one.search or MECHANISMS[one.mechanism].releases):
        why = "a search" if one.search else f"the mechanism {one.mechanism}"
        raise ConfigError(message(file, f"{where}.fit", one.fit, [f"none: {why} needs a fit of its own"]))


def _check_acyclic(synthesizers: Mapping[str, Synthesizer], file: Path) -> None:
    """Check that no fit needs, by way of parents of those that share it, what is made from it."""
    needs: dict[str, list[str]] = {one.fit: [] for one in synthesizers.values()}
    for one in synthesizers.values():
        needs[one.fit] += [synthesizers[parent].fit for parent in one.parents]
    done: set[str] = set()

    def visit(fit: str, below: tuple[str, ...]) -> None:
        if fit in below:
            raise ConfigError(message(file, "synthesizers", " -> ".join((*below, fit)), ["parents that do not run in a circle"]))
        if fit not in done:
            for needed in needs[fit]:
                visit(needed, (*below, fit))
            done.add(fit)

    for fit in needs:
        visit(fit, ())


def _points(config: PaperConfig, sweeps: Sequence[str]) -> Iterator[dict[str, float]]:
    """The product of the sweeps; a bare number in a sweep is the parameter of the sweep's name."""
    axes = [[p if isinstance(p, dict) else {sweep: p} for p in config.sweeps[sweep]] for sweep in sweeps]
    for combination in itertools.product(*axes):
        yield {key: value for point in combination for key, value in point.items()}


def _places(sweep: str, point: dict[str, float] | float) -> list[tuple[str, str]]:
    """The parameters of a point of a sweep, with the path of keys to where each is given."""
    return [(key, f"sweeps.{sweep}.{key}") for key in point] if isinstance(point, dict) else [(sweep, f"sweeps.{sweep}")]


def _filled(key: str, template: str, parameters: Mapping[str, str], file: Path, where: str) -> str:
    """A text with the values of the parameters that it names in braces."""
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError:  # a brace that is not closed
        parts = [("", "", "", None)]
    for _, name, form, conversion in parts:
        if name is not None and (name not in parameters or form or conversion):
            raise ConfigError(message(file, f"{where}.{key}", template, [f"in braces {', '.join(parameters) or 'no parameter'}"]))
    return template.format(**parameters)


def _synthesizer(
    name: str, entry: SynthesizerConfig, point: dict[str, float], places: Mapping[str, str], file: Path
) -> tuple[Synthesizer, str]:
    """A synthesizer at one point of its sweeps, and its label; ``places`` are the paths of keys to what sweeps give."""
    where = f"synthesizers.{name}"
    if entry.mechanism not in MECHANISMS:
        raise ConfigError(message(file, f"{where}.mechanism", entry.mechanism, MECHANISMS))
    mechanism = MECHANISMS[entry.mechanism]
    parameters = entry.parameters | point
    searched = {entry.search.parameter: entry.search.high} if entry.search else {}
    allowed = mechanism.parameters()
    for key in searched:
        if key not in allowed or mechanism.releases or mechanism.study:
            fitted = allowed if not (mechanism.releases or mechanism.study) else []
            raise ConfigError(message(file, f"{where}.search.parameter", key, fitted or ["no parameter"]))
    if entry.search and entry.search.target == "parent" and not mechanism.parents:
        raise ConfigError(message(file, f"{where}.search.target", "parent", ["a number: it has no parent"]))
    given, elsewhere = parameters | searched, {**places, **dict.fromkeys(searched, f"{where}.search.high")}
    _check_settings(f"{where}.parameters", entry.mechanism, mechanism.function, allowed, given, file, elsewhere)
    if len(entry.parents) != mechanism.parents:
        raise ConfigError(message(file, f"{where}.parents", entry.parents, [f"{mechanism.parents} for {entry.mechanism}"]))
    text = {key: f"{value:g}" for key, value in parameters.items()}
    filled = functools.partial(_filled, parameters=text, file=file, where=where)
    id = filled("id", entry.id or "_".join([name, *(f"{{{key}}}" for key in point)]))
    label = filled("label", entry.label or id)
    parents = [filled("parents", parent) for parent in entry.parents]
    fit = filled("fit", entry.fit or id)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{,99}", id) or id == STUDY:
        allowed_id = f"up to 100 letters, digits, _ . -, a letter first, and not {STUDY}"
        raise ConfigError(f"{file}: {where}.id: given {short(id)}; allowed: {allowed_id}")
    search = entry.search.model_dump() if entry.search else None
    return Synthesizer(id, entry.mechanism, parameters, parents, fit, search, list(mechanism.words(parameters))), label


def data_files(one: ScenarioConfig) -> list[str]:
    """Names of the registered data files that a scenario reads where they are there."""
    counts = (one.population or one.stand_in or {}).get("counts")
    return [*([one.file.name] if one.file else []), *_required(one), *([counts] if counts else [])]


def _required(one: ScenarioConfig) -> tuple[str, ...]:
    """Registered data files without which a scenario's study cannot run."""
    return STUDIES[one.study["name"]].requires(one.study) if one.study else ()


def _check_study(where: str, one: ScenarioConfig, file: Path) -> None:
    given = dict(one.study or {})
    name = given.pop("name", None)
    if not isinstance(name, str) or name not in STUDIES:
        raise ConfigError(message(file, f"{where}.study.name", name, STUDIES))
    function = STUDIES[name].function
    _check_settings(f"{where}.study", name, function, _keywords(function), given, file)
    for key in ("family", "priors", "file", "population", "stand_in"):
        if getattr(one, key):
            raise ConfigError(message(file, f"{where}.{key}", getattr(one, key), ["nothing beside study"]))
    if one.n is None:
        raise ConfigError(f"{file}: {where}: n is missing; a study needs it")
    for key, model in STUDIES[name].sections.items():
        validated(model, given.get(key) or {}, file, f"{where}.study.{key}")


def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """Keyword-only parameters with their defaults."""
    signature = inspect.signature(function).parameters.values()
    return {one.name: one.default for one in signature if one.kind is inspect.Parameter.KEYWORD_ONLY}


def _check_settings(
    where: str, name: str, function: Callable[..., Any], wanted: Mapping[str, Any], given: Mapping[str, Any], file: Path,
    elsewhere: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Check the settings given for a function against the parameters that config may set.

    Args:
        where: path of keys to them.
        name: what config calls the function.
        function: the function.
        wanted: the parameters, with defaults.
        given: the settings.
        file: where they were given.
        elsewhere: paths of keys to those that were given somewhere else.

    Raises:
        ConfigError: one is unknown, missing or cannot be used.
    """
    for key in given:
        if key not in wanted:
            raise ConfigError(message(file, where, key, wanted or ["no parameter"]))
    for key, default in wanted.items():
        if default is inspect.Parameter.empty and key not in given:
            raise ConfigError(f"{file}: {where}: {key} is missing; {name} needs it")
    wrong = refused(function, given)
    if wrong:
        key, value, allowed = wrong
        raise ConfigError(message(file, (elsewhere or {}).get(key, f"{where}.{key}"), value, [allowed]))


def _check_scenario(name: str, one: ScenarioConfig, expanded: _Expanded, file: Path) -> None:
    where, groups = f"scenarios.{name}", expanded.groups
    if one.study is not None:
        _check_study(where, one, file)
    for synthesizer in one.synthesizers:
        if synthesizer not in groups:
            raise ConfigError(message(file, f"{where}.synthesizers", synthesizer, groups))
        for id in groups[synthesizer]:
            belongs = MECHANISMS[expanded.synthesizers[id].mechanism].study
            if belongs != (one.study or {}).get("name", ""):
                allowed = [f"another one: it is for {f'the study {belongs}' if belongs else 'scenarios with a family'}"]
                raise ConfigError(message(file, f"{where}.synthesizers", synthesizer, allowed))
    if one.study is not None:
        return
    if one.family not in FAMILIES:
        raise ConfigError(message(file, f"{where}.family", one.family, FAMILIES))
    family = FAMILIES[one.family]
    for prior in one.priors:
        if prior not in family.priors:
            raise ConfigError(message(file, f"{where}.priors", prior, family.priors))
    if not family.censors:
        for synthesizer in one.synthesizers:
            if any(MECHANISMS[expanded.synthesizers[id].mechanism].censors for id in groups[synthesizer]):
                allowed = [f"no censoring: family {one.family} has no censored likelihood"]
                raise ConfigError(message(file, f"{where}.synthesizers", synthesizer, allowed))
    if (one.population is None) == (one.file is None):
        given = "both" if one.file else "neither"
        raise ConfigError(f"{file}: {where}: given {given} population {'and' if one.file else 'nor'} file; allowed: one of them")
    if one.file and one.file.name not in DATASETS:
        raise ConfigError(message(file, f"{where}.file.name", one.file.name, DATASETS))
    if one.file and one.stand_in is None and one.n is not None:
        raise ConfigError(message(file, f"{where}.n", one.n, ["nothing: a file without a stand_in has its own size"]))
    if one.file and one.replicates != 1:
        raise ConfigError(message(file, f"{where}.replicates", one.replicates, ["1: a file is one data set"]))
    if one.stand_in is not None and one.file is None:
        raise ConfigError(
            message(file, f"{where}.stand_in", one.stand_in, ["nothing: there is no file that it could stand in for"])
        )
    if one.population is not None or one.stand_in is not None:
        _check_population(where, one, file)


def _check_population(where: str, one: ScenarioConfig, file: Path) -> None:
    key, population = ("population", one.population) if one.population is not None else ("stand_in", one.stand_in)
    given = dict(population or {})
    name = given.pop("name", None)
    if not isinstance(name, str) or name not in POPULATIONS:
        raise ConfigError(message(file, f"{where}.{key}.name", name, POPULATIONS))
    if one.n is None:
        raise ConfigError(f"{file}: {where}: n is missing; simulated data need a sample size")
    function = POPULATIONS[name]
    wanted = _keywords(function)
    counts = given.pop("counts", None)
    if counts is not None and ("counts" not in wanted or counts not in COUNTS):
        raise ConfigError(message(file, f"{where}.{key}.counts", counts, COUNTS if "counts" in wanted else ["nothing"]))
    wanted.pop("counts", None)
    _check_settings(f"{where}.{key}", name, function, wanted, given, file)


TRIAL = 100_000
"""Records at most that are drawn to see whether a population can be drawn from."""


def _check_records(where: str, one: ScenarioConfig, records: Records, file: Path) -> None:
    """Check that confidential data are in the family's support."""
    allowed = FAMILIES[one.family].outcomes
    x = records["x"]
    if not allowed.holds(x):
        takes = [f"a family of these values, {x.min():g} to {x.max():g}; {one.family} takes {allowed.what}"]
        raise ConfigError(message(file, f"{where}.family", one.family, takes))


def _drawn(where: str, population: Mapping[str, Any], n: int, folder: str, file: Path) -> Records:
    """Records drawn on trial."""
    parameters = dict(population)
    function = POPULATIONS[parameters.pop("name")]
    given = f"{file}: {where}: given {short(dict(population))} and n = {n}"
    try:
        if parameters.get("counts"):
            parameters["counts"] = load_counts(parameters["counts"], folder)
        with np.errstate(all="ignore"):
            records = function(np.random.default_rng(0), min(n, TRIAL), **parameters)
    except DataError as error:
        raise ConfigError(f"{file}: {where}.counts: {error}") from error
    except (ValueError, OverflowError) as error:
        raise ConfigError(f"{given}; {error}") from error
    if not np.isfinite(records["x"]).all():
        raise ConfigError(f"{given}; allowed: what gives finite values")
    return records


def _read(where: str, one: ScenarioConfig, folder: str, file: Path) -> Records:
    """Records of a file, without those that are left out."""
    drop, name = one.file.drop_rows, one.file.name
    try:
        records = load(name, folder)
    except DataError as error:
        raise ConfigError(f"{file}: {where}: {error}") from error
    rows = len(records["x"])
    if len(set(drop)) < len(drop) or max(drop, default=0) > rows or rows - len(drop) < LEAST:
        allowed = f"different rows from 1 to {rows}, so that {LEAST} or more are left"
        raise ConfigError(message(file, f"{where}.drop_rows", drop, [allowed]))
    return load(name, folder, drop)


def _scenarios(key: str, config: PaperConfig, name: str, run: RunConfig, expanded: _Expanded, file: Path) -> Iterator[Scenario]:
    where = f"scenarios.{name}"
    synthesizers, groups = expanded.synthesizers, expanded.groups
    one, scale = config.scenarios[name], run.scales[run.scale]
    ids = _with_parents([id for entry in one.synthesizers for id in groups[entry]], synthesizers)
    sizes = one.n if isinstance(one.n, list) else [one.n]
    found = one.file is not None and find(one.file.name, run.data_folder) is not None
    for need in _required(one):
        try:
            check(need, run.data_folder)
        except DataError as error:
            raise ConfigError(f"{file}: {where}.study: {error}") from error
    for size in sizes:
        if found:
            records = _read(f"{where}.file", one, run.data_folder, file)
            n = len(records["x"])
        else:
            n = min(size, max(one.n_least, math.ceil(size / scale.shrink)))
            drawn = "population" if one.population else "stand_in"
            records = None if one.study else _drawn(f"{where}.{drawn}", getattr(one, drawn), n, run.data_folder, file)
        if records:
            _check_records(where, one, records, file)
        yield Scenario(
            paper=key,
            paper_id=config.id,
            id=name if one.file else f"{name}_n{n}",
            name=name,
            number=one.id,
            place=one.place,
            label=one.label or name,
            family=one.family,
            program=FAMILIES[one.family].program if one.family else "",
            priors=(dict(FAMILIES[one.family].priors) if one.family else {}) | one.priors,
            population=None if found else one.stand_in if one.file else one.population,
            file=one.file.model_dump() if found else None,
            stand_in=one.file is not None and not found,
            study=one.study,
            unit=one.unit,
            n=n,
            size=n if one.file else size,
            replicates=min(one.replicates, scale.replicates or one.replicates),
            batch_size=one.batch_size or run.batch_size,
            synthetic_sets=min(one.synthetic_sets, scale.synthetic_sets or one.synthetic_sets),
            synthesizers={id: synthesizers[id] for id in ids},
        )


def _with_parents(ids: Sequence[str], synthesizers: Mapping[str, Synthesizer]) -> list[str]:
    """The ids with everything they build on, each after what it needs."""
    ordered: list[str] = []

    def visit(id: str) -> None:
        if id not in ordered:
            for needed in (*synthesizers[id].parents, *({synthesizers[id].fit} - {id})):
                visit(needed)
            ordered.append(id)

    for id in ids:
        visit(id)
    return ordered


def _claims(paper: Paper, file: Path) -> list[Claim]:
    """The claims of a paper, with the ids of their cells spelled out; none where it has no file of them."""
    if not file.exists():
        return []
    return [_claim(paper, one, file) for one in validated(ClaimsConfig, load_yaml(file), file).claims]


def _claim(paper: Paper, one: ClaimConfig, file: Path) -> Claim:
    scenarios, cells = check_claim(one, paper, file)
    return Claim(
        id=one.id, paper=paper.key, place=one.place, shows=one.shows, claim=one.claim, printed=one.printed, erratum=one.erratum,
        note=one.note, test=one.test.model_dump(),
        estimate=one.estimate.model_dump(exclude={"scenario", "size", "where"}) | {"of": cells},
        scenarios=[{key: getattr(one, key) for key in ("id", "name", "population", "stand_in")} for one in scenarios],
    )  # fmt: skip
