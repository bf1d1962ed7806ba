"""Study files of a user's own, which lie anywhere: their own keys, and what they take over from a paper."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from formalsynth.core.job import Synthesizer
from formalsynth.core.model import Identifier, Model, Names, WholeNumber, pattern
from formalsynth.core.registry import DuplicateError, OwnCodeError, forget_own, load
from formalsynth.core.words import counted
from formalsynth.data.files import is_file
from formalsynth.ledger.claims import Claim, ClaimConfig
from formalsynth.plan.messages import ConfigError, Problems, cut, refusal, validated
from formalsynth.plan.model import ClaimsConfig
from formalsynth.plan.paper import Paper
from formalsynth.plan.scenario import Scenario
from formalsynth.plan.yaml_file import load_yaml
from formalsynth.show.figures.base import Figure, Repeat
from formalsynth.show.tables.base import Table

OF_FOLDER = "study"
"""Name of a study file that says nothing: the key is then the folder's name."""
SCHEMA = "$schema"
"""Key with the path of the schema, for editors."""
REPLACED = ("name", "mechanism")
"""Keys that say what a section is: where an override gives another one, nothing of the section is taken over."""
OWN_CLAIM = "own study"
"""Kind of a claim of a user's own study."""
OWN_KINDS = ("test", "by construction", "implied", OWN_CLAIM)
"""Kinds that the file of such claims may say; a test is one of the study's own."""
ANYWHERE = {"title": "Own study", "authors": "own study"}
"""What a study file need not say."""
Tree = dict[Any, Any]


class InternalAudit(Model):
    """How hard the audit of the internal report of ``formalsynth compare`` looks."""

    synthesizers: Names | None = Field(None, description="Candidates that are audited; by default all.")
    each: int = Field(2, ge=1, le=1000, description="Records to take out for each reason and candidate.")
    random: int = Field(5, ge=0, le=1000, description="Records to take out at random.")
    refined: int = Field(3, ge=1, le=100, description="Worst neighbours of each kind and candidate that are computed in full.")
    outcomes: int = Field(3, ge=2, le=100, description="Outcomes of records to add, from one declared bound to the other.")
    profiles: int = Field(6, ge=1, le=1000, description="Combinations of predictors of records to add, at most.")
    largest: WholeNumber | None = Field(
        None,
        description="Rows above which nothing is audited; by default 20000, and 1000 where posteriors are not known exactly and "
        "each neighbour has to be sampled.",
    )


class StudyKeys(Model):
    """A study file: what it may say beside the keys of a paper, of which none has to be given where it extends a paper."""

    key: Identifier | None = Field(
        None, description="Its name in paths; left out, that of the file, or of the folder for a file study.yaml."
    )
    extends: Identifier | None = Field(
        None, description="Paper from which everything is taken over that the file does not say; null takes a key away."
    )
    code: list[str] = Field(
        default_factory=list, description="Python files of own code, relative to the study file: what they register may be named."
    )
    claims: str | None = Field(
        None, description="File of claims of the study, relative to it; the ledger judges them and marks them as the study's own."
    )
    internal_audit: InternalAudit | Literal[False] = Field(
        default_factory=InternalAudit, description="The audit of the internal report of formalsynth compare; false leaves it out."
    )


@dataclass(frozen=True)
class StudyFile:
    """A study file that was read."""

    key: str
    path: Path
    extends: str
    """Key of the paper that it extends; empty for none."""
    code: tuple[Path, ...]
    """Files of own code, and own Stan programs."""
    tree: Tree = field(repr=False)
    """What it says as a paper's config."""
    claims: Path | None = None
    """Its own claims; None for none."""
    internal_audit: InternalAudit | None = None
    """The audit of the internal report; None for none."""


def read_study(path: Path, tree: Mapping[Any, Any]) -> StudyFile:
    """A study file from its contents.

    Raises:
        ConfigError: a line for each thing that is wrong.
    """
    own = {name: tree[name] for name in StudyKeys.model_fields if name in tree}
    keys = validated(StudyKeys, own, path)
    problems, key = Problems(), ""
    with problems.catch():
        key = keys.key or _key_of(path)
    code = [path.parent / name for name in keys.code]
    for name, file in zip(keys.code, code, strict=True):
        with problems.catch():
            if file.suffix != ".py" or not is_file(file):
                raise refusal(path, "code", name, [f"a Python file that is there; looked for {cut(file)}"])
    claims = path.parent / keys.claims if keys.claims else None
    with problems.catch():
        if claims is not None and not is_file(claims):
            raise refusal(path, "claims", keys.claims, [f"a file that is there; looked for {cut(claims)}"])
    rest = {name: _copy(value) for name, value in tree.items() if name not in {*own, SCHEMA}}
    programs = _programs(path, rest, problems)
    problems.report()
    files = tuple(file.resolve() for file in [*code, *programs])
    return StudyFile(key, path, keys.extends or "", files, rest, claims, keys.internal_audit or None)


def _programs(path: Path, tree: Tree, problems: Problems) -> list[Path]:
    """The Stan programs that scenarios name in place of a family; in the tree each gets its whole path."""
    found = []
    scenarios = tree.get("scenarios")
    for name, scenario in scenarios.items() if isinstance(scenarios, dict) else ():
        family = scenario.get("family") if isinstance(scenario, dict) else None
        if isinstance(family, dict) and isinstance(family.get("stan"), str):
            file = path.parent / family["stan"]
            with problems.catch():
                if file.suffix != ".stan" or not is_file(file):
                    allowed = f"a Stan program that is there; looked for {cut(file)}"
                    raise refusal(path, f"scenarios.{name}.family.stan", family["stan"], [allowed])
                found.append(file.resolve())
                family["stan"] = str(file.resolve())
    return found


def _key_of(path: Path) -> str:
    """The key of a study file that does not say it."""
    name = path.resolve().parent.name if path.stem == OF_FOLDER else path.stem
    if not re.fullmatch(pattern("name"), name):
        allowed = "letters and digits, a letter first; after a _ also full stops: give key: <name> in the file"
        raise refusal(path, "key", name, [allowed])
    return name


def load_code(studies: Iterable[StudyFile]) -> None:
    """Run the own code of studies, and forget that of others.

    Raises:
        ConfigError: a file cannot be run, or registers what is there already.
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
    """A tree over another one: sections are merged, other values replace those of the base, and null takes a key away."""
    merged: Tree = {key: _copy(value) for key, value in base.items()}
    for key, value in own.items():
        below = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(below, Mapping) and not _other(below, value):
            merged[key] = extended(below, value)
        else:
            merged[key] = extended({}, value) if isinstance(value, Mapping) else _copy(value)
    return merged


def _other(below: Mapping[Any, Any], above: Mapping[Any, Any]) -> bool:
    return any(key in below and key in above and below[key] != above[key] for key in REPLACED)


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def tree_over(base: Mapping[Any, Any], study: StudyFile) -> Tree:
    """The tree of a study that extends a paper; lists of synthesizers that are taken over do without those taken away."""
    gone = {name for name, entry in _section(study.tree, "synthesizers").items() if entry is None}
    tree = extended(base, study.tree)
    own = _section(study.tree, "scenarios")
    for name, scenario in _section(tree, "scenarios").items():
        if isinstance(_section(tree["scenarios"], name).get("synthesizers"), list) and "synthesizers" not in _section(own, name):
            scenario["synthesizers"] = [each for each in scenario["synthesizers"] if each not in gone]
    if "telling" not in study.tree:
        figures = [str(number) for number in _section(tree, "figures")]
        tree["telling"] = [number for number in tree.get("telling", []) if str(number) in figures]
    return tree


def _section(tree: Tree, name: object) -> Tree:
    """A section of a tree; empty where there is none, or something else, which is told when the tree is checked."""
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def own_claims(study: StudyFile) -> list[ClaimConfig]:
    """The claims beside a study, as those of no paper.

    Raises:
        ConfigError: a line for each thing that is wrong.
    """
    if study.claims is None:
        return []
    found, problems = validated(ClaimsConfig, load_yaml(study.claims), study.claims).claims, Problems()
    for claim in found:
        with problems.catch():
            if claim.kind not in OWN_KINDS:
                raise refusal(study.claims, f"claims.{claim.id}.kind", claim.kind, OWN_KINDS)
    problems.report()
    return [claim.model_copy(update={"kind": OWN_CLAIM}) if claim.kind == "test" else claim for claim in found]


class Absent:
    """What a study takes over from a paper and cannot have, each a sentence."""

    def __init__(self, key: str, base: str) -> None:
        """Start with nothing."""
        self._key, self._base = key, base
        self.sentences: list[str] = []

    @contextlib.contextmanager
    def shown(self, what: str) -> Iterator[None]:
        """Note that a figure or table is left out where it cannot be made."""
        try:
            yield
        except ConfigError as error:
            why = str(error).splitlines()[0].split(": ", 2)[-1]
            self.sentences.append(f"{self._key}: {what} of {self._base} is left out: {why}")

    def claims(self, ids: Sequence[str]) -> None:
        """Note which claims are not asked."""
        if ids:
            whose = "it speaks" if len(ids) == 1 else "they speak"
            why = f"{whose} of what this study has not, or has with other settings"
            asked = "is not asked" if len(ids) == 1 else "are not asked"
            self.sentences.append(
                f"{self._key}: {counted(len(ids), 'claim')} of {self._base} {asked}, because {why}: {', '.join(ids)}"
            )


# What is taken over from a paper is shown as far as it still makes sense. ---------------------------------------------


@dataclass(frozen=True)
class Inherited:
    """What a study takes over from the paper that it extends."""

    study: StudyFile
    base: Paper

    def mentions(self, section: str, number: object) -> bool:
        """Whether the study itself says something of a figure or table."""
        own = self.study.tree.get(section) or {}
        return any(str(number) == str(key) for key in own)

    def pruned(self, paper: Paper) -> Paper:
        """The paper, in which what it takes over does without the synthesizers and printed values that are gone."""
        config = paper.config
        figures = {
            number: figure if isinstance(figure, Repeat) or self.mentions("figures", number) else self._figure(figure, paper)
            for number, figure in config.figures.items()
        }
        tables = {
            number: table if self.mentions("tables", number) else self._table(table, paper)
            for number, table in config.tables.items()
        }
        return replace(paper, config=config.model_copy(update={"figures": figures, "tables": tables}))

    def _figure(self, figure: Figure, paper: Paper) -> Figure:
        """A figure without the synthesizers that are gone."""
        known = {*paper.expanded.groups, *paper.expanded.looks}
        labels = {name: label for name, label in figure.labels.items() if name in known}
        return figure.model_copy(update={"synthesizers": _known(figure.synthesizers, known), "labels": labels})

    def _table(self, table: Table, paper: Paper) -> Table:
        """A table without the synthesizers that are gone, and without printed values of what is not what the paper had."""
        known = {*paper.expanded.groups, *paper.expanded.looks}
        same = all(self.agrees(scenario, paper) for scenario in self.base.of(table.scenario, table.size))
        printed = {
            id: values for id, values in table.printed.items() if same and id in known and self._same_synthesizer(id, paper)
        }
        return table.model_copy(update={"synthesizers": _known(table.synthesizers, known), "printed": printed})

    def claims(self, paper: Paper) -> tuple[list[Claim], list[str]]:
        """The claims of the base that speak of what the study has too, and the ids of the others."""
        asked = [claim.model_copy(update={"paper": paper.key}) for claim in self.base.claims if self._asked(claim, paper)]
        ids = {claim.id for claim in asked}
        return asked, [claim.id for claim in self.base.claims if claim.id not in ids]

    def agrees(self, scenario: Scenario, paper: Paper) -> bool:
        """Whether the study has a scenario of the base with the same data, model and settings."""
        own = paper.scenarios.get(scenario.id)
        return own is not None and _essence(own) == _essence(scenario)

    def _asked(self, claim: Claim, paper: Paper) -> bool:
        of, shows = claim.estimate, claim.shows.partition(" ")
        shown = {"figure": list(paper.figures), "table": [str(number) for number in paper.tables]}.get(shows[0], [shows[2]])
        if shows[2] not in shown or not claim.scenarios:
            return False
        scenarios = [self.base.scenarios[scenario.id] for scenario in claim.scenarios]
        if of.over == "synthesizer":
            ids = [str(id) for id in of.of]
        elif "synthesizer" in of.rows:
            ids = self.base.order([str(of.rows["synthesizer"])])
        else:
            ids = list(dict.fromkeys(id for scenario in scenarios for id in scenario.ids))
        return all(self.agrees(scenario, paper) for scenario in scenarios) and all(
            self._same_synthesizer(id, paper) for id in ids
        )

    def _same_synthesizer(self, id: str, paper: Paper) -> bool:
        """Whether a synthesizer or arm is what it was in the base, and so is all that it builds on."""
        ours, theirs = paper.expanded, self.base.expanded
        if id in theirs.arms:
            return ours.arms.get(id) == theirs.arms[id] and ours.studies.get(id) == theirs.studies[id]
        if id not in theirs.synthesizers:
            return id in ours.looks
        synthesizer: Synthesizer = theirs.synthesizers[id]
        below = [*synthesizer.parents, *({synthesizer.fit} - {id})]
        return ours.synthesizers.get(id) == synthesizer and all(self._same_synthesizer(each, paper) for each in below)


def _essence(scenario: Scenario) -> tuple[object, ...]:
    """What the numbers of a scenario follow from, but for its synthesizers and how many replicates there are."""
    return (
        scenario.name, scenario.n, scenario.size, scenario.family, scenario.priors, scenario.data, scenario.stand_in,
        scenario.study, scenario.unit, scenario.files, scenario.key.number,
    )  # fmt: skip


def _known(names: Sequence[str | list[str]], known: Iterable[str]) -> list[str | list[str]]:
    """Names without those that are not known, in nested lists too."""
    kept: list[str | list[str]] = []
    for name in names:
        if isinstance(name, str):
            kept += [name] if name in known else []
        else:
            inner = [each for each in name if each in known]
            kept += [inner] if inner else []
    return kept
