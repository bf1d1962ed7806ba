"""A user's own study files, in any folder: their own keys, and the parts that they inherit from a paper."""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import Field

from formalsynth.core.model import Identifier, Model, pattern
from formalsynth.core.registry import DuplicateError, OwnCodeError, forget_own, load
from formalsynth.core.synthesizer import with_parents
from formalsynth.core.words import counted
from formalsynth.runtime.files import is_file
from formalsynth.settings.messages import ConfigError, Problems, cut, refusal, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.ledger.claims import Claim, ClaimConfig
from formalsynth_workflow.plan.model import ClaimsConfig
from formalsynth_workflow.plan.paper import Paper

OF_FOLDER = "study"
"""Stem of a study file that takes its key from the name of its folder."""
SCHEMA = "$schema"
"""Key that gives the path of the schema, for editors."""
REPLACED = ("name", "mechanism")
"""Keys that identify a section: if an override changes one of them, the section is not inherited."""
FREE = {"replicates", "batch_size", "synthesizers"}
"""Keys that scenarios with the same results may have different values for."""
OWN_CLAIM = "own study"
"""Kind of claims of a user's own study."""
OWN_KINDS = ("test", "by construction", "implied", OWN_CLAIM)
"""Kinds of claim allowed in the file of such claims; ``test`` is then replaced with :data:`OWN_CLAIM`."""
STUDY_DEFAULTS = {"title": "Own study", "authors": "own study"}
"""Defaults of a study file."""
Tree = dict[Any, Any]


class StudyKeys(Model):
    """Keys of a study file, in addition to those of a paper; if it extends a paper, none of the paper's keys is required."""

    key: Identifier | None = Field(
        None, description="Its name in paths; if left out, the name of the file, or of its folder if the file is study.yaml."
    )
    extends: Identifier | None = Field(
        None, description="Paper from which all keys missing in this file are inherited; null removes an inherited key."
    )
    code: list[str] = Field(
        default_factory=list,
        description="Python files of your own code, relative to the study file; the file may use the names that they register.",
    )
    claims: str | None = Field(
        None,
        description="File of the study's claims, relative to the study file; the ledger judges them and marks them as the "
        "study's own.",
    )


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read."""

    key: str
    path: Path
    extends: str
    """Key of the paper that it extends; empty if there is none."""
    code: tuple[Path, ...]
    """Files of own code, and own Stan programs."""
    tree: Tree = field(repr=False)
    """Its contents as a paper's config."""
    claims: Path | None = None
    """File of its own claims; None if there is none."""


def read_study(path: Path, tree: Mapping[Any, Any]) -> StudyFile:
    """Read a study file from its contents.

    Raises:
        ConfigError: with a line for each problem.
    """
    own = {name: tree[name] for name in StudyKeys.model_fields if name in tree}
    keys = validated(StudyKeys, own, path)
    problems, key = Problems(), ""
    with problems.catch():
        key = keys.key or _key_of(path)
    code = _named_files(path, "code", keys.code, "an existing Python file", problems)
    claims = _named_files(path, "claims", [keys.claims] if keys.claims else [], "an existing file", problems)
    rest = copy.deepcopy({name: value for name, value in tree.items() if name not in {*own, SCHEMA}})
    programs = _programs(path, rest, problems)
    problems.report()
    files = tuple(file.resolve() for file in [*code, *programs])
    return StudyFile(key, path, keys.extends or "", files, rest, next(iter(claims), None))


def _named_files(path: Path, key: str, names: Sequence[str], kind: str, problems: Problems) -> list[Path]:
    """Return the files that a key of a study file names, relative to it."""
    files = [path.parent / name for name in names]
    for name, file in zip(names, files, strict=True):
        with problems.catch():
            if not is_file(file) or (key == "code" and file.suffix != ".py"):
                raise refusal(path, key, name, [f"{kind}; looked for {cut(file)}"])
    return files


def _programs(path: Path, tree: Tree, problems: Problems) -> list[Path]:
    """Return the Stan programs that scenarios name instead of a family; replace them in the tree with absolute paths."""
    programs = []
    scenarios = tree.get("scenarios")
    for name, scenario in scenarios.items() if isinstance(scenarios, dict) else ():
        family = scenario.get("family") if isinstance(scenario, dict) else None
        if isinstance(family, dict) and isinstance(family.get("stan"), str):
            file = path.parent / family["stan"]
            with problems.catch():
                if file.suffix != ".stan" or not is_file(file):
                    allowed = f"an existing Stan program; looked for {cut(file)}"
                    raise refusal(path, f"scenarios.{name}.family.stan", family["stan"], [allowed])
                programs.append(file.resolve())
                family["stan"] = str(file.resolve())
    return programs


def _key_of(path: Path) -> str:
    """Return the default key of a study file."""
    name = path.resolve().parent.name if path.stem == OF_FOLDER else path.stem
    if not re.fullmatch(pattern("name"), name):
        allowed = "letters and digits, starting with a letter; after a _ also full stops: give key: <name> in the file"
        raise refusal(path, "key", name, [allowed])
    return name


def load_code(studies: Iterable[StudyFile]) -> None:
    """Run the own code of studies, and forget the code of others.

    Raises:
        ConfigError: a file cannot be run, or registers a name that is already registered.
    """
    forget_own()
    problems = Problems()
    for study in studies:
        for file in study.code:
            with problems.catch():
                try:
                    load([str(file)])
                except (OwnCodeError, DuplicateError) as error:
                    raise ConfigError(
                        f"{study.path}: {'code' if file.suffix == '.py' else 'family.stan'}: given {file.name!r}; {error}"
                    ) from error
    problems.report()


def extended(base: Mapping[Any, Any], own: Mapping[Any, Any]) -> Tree:
    """Merge a tree over another one: sections are merged, other values replace those of the base, and null removes a key."""
    merged: Tree = dict(base)
    for key, value in own.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            below = merged.get(key)
            merged[key] = extended(below if isinstance(below, Mapping) and not _other(below, value) else {}, value)
        else:
            merged[key] = value
    return merged


def _other(below: Mapping[Any, Any], above: Mapping[Any, Any]) -> bool:
    return any(key in below and key in above and below[key] != above[key] for key in REPLACED)


def tree_over(base: Mapping[Any, Any], study: StudyFile, gone: Collection[str] = ()) -> Tree:
    """Merge a study over the paper that it extends.

    Args:
        base: contents of the paper's file.
        study: the study.
        gone: synthesizers that the study does not have: they are dropped from lists, labels and printed values of the paper.
    """
    gone = {*gone, *(name for name, entry in _section(study.tree, "synthesizers").items() if entry is None)}
    below = dict(base)
    for section in ("scenarios", "figures", "tables"):
        below[section] = {name: _without(gone, entry) for name, entry in _section(below, section).items()}
    swaps = [reading.get("replaces", {}) for reading in _section(below, "readings").values()]
    if any(not gone.isdisjoint([*swap, *swap.values()]) for swap in swaps):
        del below["readings"]
    tree = extended(below, study.tree)
    if "telling" not in study.tree:
        figures = set(map(str, _section(tree, "figures")))
        tree["telling"] = [number for number in tree.get("telling", []) if str(number) in figures]
    return tree


def _without(gone: Collection[str], entry: Tree) -> Tree:
    """Return a scenario, figure or table without some synthesizers."""
    return {key: _left(value, gone) if key in ("synthesizers", "labels", "printed") else value for key, value in entry.items()}


def _left(names: Any, gone: Collection[str]) -> Any:
    """Return the names that are left, also within nested lists, or the values by such names."""
    if isinstance(names, dict):
        return {name: value for name, value in names.items() if name not in gone}
    nested = [_left(name, gone) if isinstance(name, list) else name for name in names]
    return [name for name in nested if name and (isinstance(name, list) or name not in gone)]


def _section(tree: Tree, name: object) -> Tree:
    """Return a section of a tree; empty if missing or not a section, which is reported when the tree is checked."""
    section = tree.get(name)
    return section if isinstance(section, dict) else {}


def own_claims(study: StudyFile) -> list[ClaimConfig]:
    """Read the claims in a study's file.

    Raises:
        ConfigError: with a line for each problem.
    """
    if study.claims is None:
        return []
    claims, problems = validated(ClaimsConfig, load_yaml(study.claims), study.claims).claims, Problems()
    for claim in claims:
        with problems.catch():
            if claim.kind not in OWN_KINDS:
                raise refusal(study.claims, f"claims.{claim.id}.kind", claim.kind, OWN_KINDS)
    problems.report()
    return [claim.model_copy(update={"kind": OWN_CLAIM}) if claim.kind == "test" else claim for claim in claims]


@dataclass(frozen=True)
class Inherited:
    """Figures, tables and claims that a study inherits from the paper that it extends."""

    study: StudyFile
    base: Paper
    left_out: list[str] = field(default_factory=list)
    """Sentences about parts that cannot be inherited."""

    @contextlib.contextmanager
    def shown(self, what: str) -> Iterator[None]:
        """Record that a figure or table is left out if it cannot be made."""
        try:
            yield
        except ConfigError as error:
            why = str(error).splitlines()[0].split(": ", 2)[-1]
            self.left_out.append(f"{self.study.key}: {what} of {self.base.key} is left out: {why}")

    def mentions(self, section: str, number: object) -> bool:
        """Return True if the study itself has an entry for a figure or table."""
        return str(number) in map(str, _section(self.study.tree, section))

    def missing(self, paper: Paper) -> set[str]:
        """Return the entries and synthesizers of the base that the study does not have."""
        ours, theirs = paper.expanded, self.base.expanded
        return {*theirs.groups, *theirs.looks} - {*ours.groups, *ours.looks}

    def same(self, paper: Paper, scenario: str, ids: Iterable[str]) -> bool:
        """Return True if a scenario has the base's data, model and settings, and these synthesizers or arms as they are there."""
        own, ours, theirs = paper.config.scenarios.get(scenario), paper.expanded, self.base.expanded
        for id in ids:
            if id not in ours.looks or ours.arms.get(id) != theirs.arms.get(id):
                return False
            if id in theirs.synthesizers and with_parents([id], ours.synthesizers) != with_parents([id], theirs.synthesizers):
                return False
        return own is not None and own.model_dump(exclude=FREE) == self.base.config.scenarios[scenario].model_dump(exclude=FREE)

    def unprinted(self, paper: Paper) -> Paper:
        """Drop the printed values of inherited tables where the base's results are others."""
        config, tables = paper.config, dict(paper.config.tables)
        for number, table in config.tables.items():
            if not self.mentions("tables", number):
                printed = {id: cells for id, cells in table.printed.items() if self.same(paper, table.scenario, [id])}
                tables[number] = table.model_copy(update={"printed": printed})
        return replace(paper, config=config.model_copy(update={"tables": tables}))

    def claims(self, paper: Paper) -> list[Claim]:
        """Return the claims of the base on results that the study has and shows; record the others as left out."""
        shown = {"", *(f"figure {number}" for number in paper.figures), *(f"table {number}" for number in paper.tables)}
        own = [claim for claim in self.base.claims if claim.shows in shown and claim.scenarios]
        own = [claim for claim in own if all(self.same(paper, place.name, self._ids(claim)) for place in claim.scenarios)]
        others = [claim.id for claim in self.base.claims if claim not in own]
        if others:
            subject, verb = ("it concerns", "is") if len(others) == 1 else ("they concern", "are")
            which = f"{counted(len(others), 'claim')} of {self.base.key} {verb} not judged"
            why = f"{subject} parts that this study does not have, or has with other settings"
            self.left_out.append(f"{paper.key}: {which}, because {why}: {', '.join(others)}")
        return [claim.model_copy(update={"paper": paper.key}) for claim in own]

    def _ids(self, claim: Claim) -> list[str]:
        """Return the ids of the synthesizers that a claim is about."""
        if claim.estimate.over == "synthesizer":
            return [str(id) for id in claim.estimate.of]
        named = claim.estimate.rows.get("synthesizer")
        every = [id for place in claim.scenarios for id in self.base.scenarios[place.id].ids]
        return self.base.order([str(named)]) if named else every
