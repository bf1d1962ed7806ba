"""Whether what figures, tables and claims speak of will be there: tables, columns, synthesizers, parameters and sizes.

What a study adds to its tables is not known beforehand, so of its columns only the names that every table has are checked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.core.family import FAMILIES, draws_from_prior
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import AUDIT, AUDIT_COLUMNS, REPLICATE_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS
from formalsynth.core.utility import CENTRES
from formalsynth.ledger.claims import ClaimConfig, Estimate
from formalsynth.plan.messages import ConfigError, message
from formalsynth.plan.model import StudyScenario
from formalsynth.plan.paper import NameOrGroup, Paper, has_truth
from formalsynth.plan.scenario import Scenario
from formalsynth.plan.scenarios import AnyScenario
from formalsynth.show.figures.base import FRAMES, Figure, Repeat
from formalsynth.show.tables.base import Table

CELLS = ("synthesizer", "value", "scenario", "n")
"""What the cells of a claim can differ in beside a column of the table."""


@dataclass(frozen=True)
class _Reader:
    """A figure, table or claim: something that reads one collected table of some scenarios."""

    paper: Paper
    file: Path
    where: str
    """Path of keys to it."""
    scenarios: Sequence[str]
    """Names of config entries."""
    table: str
    size: int | None = None

    def refuse(self, key: str, given: object, allowed: Iterable[object]) -> ConfigError:
        return ConfigError(message(self.file, f"{self.where}.{key}", given, allowed))

    @property
    def configs(self) -> list[AnyScenario]:
        return [self.paper.config.scenarios[name] for name in self.scenarios]

    @property
    def run(self) -> list[Scenario]:
        """The scenarios that are not skipped, of the size that is asked for."""
        return self.paper.of(self.scenarios, self.size)

    def check_scenarios(self, table_key: str) -> None:
        """Check that the scenarios are there, with the size that is asked for and the table that is read."""
        known = self.paper.config.scenarios
        for name in self.scenarios:
            if name not in known:
                raise self.refuse("scenario", name, known)
        of = self.paper.of(self.scenarios)
        if of and not self.run:
            raise self.refuse("size", self.size, [scenario.size for scenario in of])
        for config in self.configs:
            if self.table not in _tables(config):
                raise self.refuse(table_key, self.table, _tables(config))

    def check_sizes(self, apart: bool, remedy: str) -> None:
        """Check that nothing is made from several sample sizes of a scenario without saying so.

        Args:
            apart: whether the sizes are told apart.
            remedy: what to give beside ``size`` that tells them apart.
        """
        sizes = {name: [scenario.size for scenario in self.run if scenario.name == name] for name in self.scenarios}
        for name, several in sizes.items():
            if len(several) > 1 and not apart:
                ways = [f"size: {' or '.join(map(str, several))}", *([remedy] if remedy else [])]
                allowed = f"one sample size at a time, because {name} has {len(several)}: give {', or '.join(ways)}"
                raise self.refuse("scenario", name, [allowed])

    def check_columns(self, key: str, columns: Iterable[str], numbers: bool = True) -> None:
        """Check that every table has these columns, and that they are numbers."""
        for config, column in itertools.product(self.configs, columns):
            known = _columns(config, self.table)
            allowed = [name for name in known or () if not (numbers and name in TEXT_COLUMNS)]
            if known is None:
                wrong = not column or (numbers and column in TEXT_COLUMNS)
            else:
                # the columns of a parameter that is a vector are numbered
                name = re.sub(r"_[1-9]\d*$", "", column) if self.table == "draws" else column
                wrong = not {column, name} & set(allowed)
            if wrong:
                raise self.refuse(key, column, allowed or ["a column of numbers"])

    def ids(self, key: str, names: Sequence[NameOrGroup], where: Mapping[str, float]) -> list[str]:
        """Ids of the synthesizers named; each is run, and has rows in the table.

        Raises:
            ConfigError: one is not, or none has the parameters of ``where``.
        """
        every = self._known(key, names)
        parameters = self.parameters(every)
        for name in where:
            if name not in parameters:
                raise self.refuse("where", name, parameters or ["no parameter"])
        ids = [id for id in every if self.paper.fits(id, where)]
        if not ids:
            raise self.refuse("where", where, ["what leaves at least one synthesizer"])
        return ids

    def _known(self, key: str, names: Sequence[NameOrGroup]) -> list[str]:
        """Ids of the synthesizers named, checked against those that have rows."""
        groups = self.paper.expanded.groups
        for name in _flat(names):
            if name not in self.paper.expanded.looks and name not in groups:
                raise self.refuse(key, name, [DATA, *groups])
        if not names:
            raise self.refuse(key, names, ["at least one synthesizer"])
        run = self.run
        allowed = dict.fromkeys(name for config in self.configs for name in _beside(config, self.table))
        allowed |= dict.fromkeys(name for scenario in run for name in scenario.ids if not self._rowless(name))
        every = self.paper.order(names)
        for id in every:
            if (run or id in (DATA, PRIOR)) and id not in allowed:
                given = next(name for name in _flat(names) if id in self.paper.order([name]))
                raise self.refuse(key, given, allowed)
        return every

    def check_rows(self, rows: Mapping[str, str | bool | float]) -> None:
        """Check the columns that rows are chosen by, and the synthesizer where that is one of them."""
        self.check_columns("rows", rows, numbers=False)
        id = rows.get("synthesizer")
        if id is not None and id not in (allowed := self.ids("rows.synthesizer", [str(id)], {})):
            raise self.refuse("rows.synthesizer", id, allowed)

    def _rowless(self, id: str) -> bool:
        """Whether a synthesizer has no bounds and no posterior draws, and the table holds such."""
        synthesizer = self.paper.expanded.synthesizers.get(id)
        return self.table in ("records", "draws") and synthesizer is not None and MECHANISMS[synthesizer.mechanism].releases

    def parameters(self, ids: Iterable[str]) -> list[str]:
        """Names of the parameters that any of the synthesizers has."""
        return list(dict.fromkeys(key for id in ids for key in self.paper.parameters(id)))

    def check_names(self, key: str, given: Iterable[object], allowed: Sequence[object]) -> None:
        """Check that every name is one of those allowed."""
        for name in given:
            if name not in allowed:
                raise self.refuse(key, name, allowed)

    def check_truth(self, key: str, columns: Iterable[str]) -> None:
        """Check that the population's own value of each column is known."""
        for scenario, column in itertools.product(self.run, columns):
            if not has_truth(scenario.data, column):
                raise self.refuse(key, "population", [f"anything else: the population's {column} is not known"])


def _flat(names: Sequence[NameOrGroup]) -> list[str]:
    return [name for group in names for name in ([group] if isinstance(group, str) else group)]


def _list(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _tables(config: AnyScenario) -> tuple[str, ...]:
    """Collected tables that a scenario has."""
    if isinstance(config, StudyScenario):
        return ("replicates", "details")
    return ("replicates", *([AUDIT] if config.audit else []), *SAMPLE_COLUMNS)


def _columns(config: AnyScenario, table: str) -> tuple[str, ...] | None:
    """Columns of a collected table; None where they are not known: a study adds its own, and a family may be a wrong name."""
    if isinstance(config, StudyScenario):
        return None
    if table == "draws":
        family = FAMILIES.get(config.model)
        return (*SAMPLE_COLUMNS[table], *family.parameters) if family else None
    if table == AUDIT:
        return AUDIT_COLUMNS
    centres = CENTRES if config.centre_sets else ()
    return (*REPLICATE_COLUMNS, *centres) if table == "replicates" else SAMPLE_COLUMNS[table]


def _beside(config: AnyScenario, table: str) -> list[str]:
    """What has rows beside the synthesizers."""
    if isinstance(config, StudyScenario) or table in ("records", AUDIT):
        return []
    if table == "draws":
        return [PRIOR] if config.model not in FAMILIES or draws_from_prior(FAMILIES[config.model]) else []
    return [DATA]


def check_figure(number: str, figure: Figure | Repeat, paper: Paper, file: Path) -> bool:
    """Check what a figure names; False when its scenarios were skipped.

    Raises:
        ConfigError: something that it names will not be there.
    """
    if isinstance(figure, Repeat):
        figures = paper.config.figures
        original = figures.get(figure.same_as)
        if not isinstance(original, Figure):
            allowed = [key for key, other in figures.items() if isinstance(other, Figure)]
            raise ConfigError(message(file, f"figures.{number}.same_as", figure.same_as, allowed))
        return check_figure(figure.same_as, original, paper, file)
    if parts := figure.members():
        made = {letter: check_figure(f"{number}.parts.{letter}", part, paper, file) for letter, part in parts.items()}
        return all(made.values())
    reader = _Reader(paper, file, f"figures.{number}", _list(figure.scenario), figure.table, figure.size)
    reader.check_scenarios("table")
    framed = [name for name in ("synthesizer", "scenario") if name in figure.FRAMES]
    apart = figure.panels in framed or figure.across == "n" or "n" in figure.rows
    reader.check_sizes(apart, f"panels: {framed[0]}" if framed else "")
    reader.check_columns("value", figure.columns())
    reader.check_columns("x", [figure.across] if figure.across else [])
    reader.check_rows(figure.rows)
    ids = reader.ids("synthesizers", figure.synthesizers, figure.where)
    reader.check_names("labels", figure.labels, [*paper.expanded.groups, *ids])
    parameters = reader.parameters(ids)
    if figure.panels not in FRAMES:
        reader.check_names("panels", [figure.panels], [*FRAMES, *parameters])
    at = getattr(figure, "at", "")
    if at:
        reader.check_names("at", [at], parameters or ["no parameter"])
    if getattr(figure, "line", None) == "population":
        reader.check_truth("line", figure.columns())
    if "details" in figure.tables() and not all(isinstance(config, StudyScenario) for config in reader.configs):
        raise reader.refuse("exact", True, ["false: only a study has exact densities"])
    if AUDIT in figure.tables() and not all(AUDIT in _tables(config) for config in reader.configs):
        raise reader.refuse("scenario", figure.scenario, ["scenarios with audit: this kind of figure shows audited ε"])
    return bool(reader.run)


def check_table(number: int, table: Table, paper: Paper, file: Path) -> bool:
    """Check what a table names; False when its scenario was skipped.

    Raises:
        ConfigError: something that it names will not be there.
    """
    reader = _Reader(paper, file, f"tables.{number}", [table.scenario], table.table, table.size)
    config = paper.config.scenarios.get(table.scenario)
    if isinstance(config, StudyScenario) and table.table == "sets":
        raise reader.refuse("kind", table.kind, ["a kind that reads replicates: the scenario has a study"])
    reader.check_scenarios("kind")
    reader.check_sizes(table.OVER_SIZES, "")
    if table.summarized:
        reader.check_columns("value", [table.summarized])
    rows = table.rows_allowed()
    if rows is not None:
        reader.check_names("statistics", table.statistics, rows)
    elif not table.summarized:
        reader.check_columns("statistics", table.statistics)
    ids = reader.ids("synthesizers", table.synthesizers, table.where)
    reader.check_names("printed", table.printed, ids)
    for id, printed in table.printed.items():
        reader.check_names(f"printed.{id}", printed, table.statistics)
    return bool(reader.run)


@dataclass(frozen=True)
class Checked:
    """What a claim speaks of."""

    scenarios: list[Scenario]
    """None where one of them was skipped."""
    cells: list[str | float]
    """From left to right; none where the rows say which there are."""


def check_claim(claim: ClaimConfig, paper: Paper, file: Path) -> Checked:
    """What a claim speaks of.

    Raises:
        ConfigError: something that it names will not be there, or it asks for what makes no sense.
    """
    of = claim.estimate
    reader = _Reader(paper, file, f"claims.{claim.id}.estimate", _list(of.scenario), of.table, of.size)
    reader.check_scenarios("table")
    reader.check_sizes("n" in (of.over, of.by) or "n" in of.rows, "over: n")
    reader.check_columns("value", of.value)
    reader.check_rows(of.rows)
    reader.check_columns("by", [of.by], numbers=False)
    if of.by in (of.over, *of.value):
        raise reader.refuse("by", of.by, ["another column than over and value"])
    if of.distance == "population":
        reader.check_truth("distance", of.value)
    if of.distance == DATA and not all(DATA in _beside(config, of.table) for config in reader.configs):
        raise reader.refuse("distance", of.distance, ["a table with rows of the confidential data"])
    _check_shown(claim, paper, file)
    cells = _cells(reader, of)
    if of.differences and len(cells) % 2:
        raise reader.refuse("of", of.of, ["an even number of cells, for differences"])
    compared = cells[::2] if of.differences else cells
    wrong = claim.test.check_cells(compared) if cells or reader.run else None
    if wrong:
        key, given = f"claims.{claim.id}.{claim.test.blames}", _at(claim, claim.test.blames)
        raise ConfigError(message(file, key, given, [wrong]))
    absent = {scenario.name for scenario in reader.run} != set(reader.scenarios)
    return Checked([] if absent else reader.run, cells)


def _check_shown(claim: ClaimConfig, paper: Paper, file: Path) -> None:
    """Check that the figure or table that a claim belongs to is there."""
    section, _, number = claim.shows.partition(" ")
    shown = {"figure": list(paper.config.figures), "table": [str(k) for k in paper.config.tables], "": [""]}[section]
    if number not in shown:
        raise ConfigError(message(file, f"claims.{claim.id}.shows", claim.shows, [f"{section} {k}" for k in shown]))


def _at(section: object, path: str) -> object:
    """The entry at a dotted path."""
    for key in path.split("."):
        section = getattr(section, key)
    return section


def _cells(reader: _Reader, of: Estimate) -> list[str | float]:
    if of.over != "value" and len(of.value) > 1:
        raise reader.refuse("value", of.value, ["one column, unless over is value"])
    if of.over not in CELLS:
        reader.check_columns("over", [of.over], numbers=False)
    if of.over != "synthesizer" and of.where:
        raise reader.refuse("where", of.where, ["nothing, unless over is synthesizer"])
    if of.over == "synthesizer":
        return list(reader.ids("of", [str(name) for name in of.of], of.where))
    if of.over == "value":
        if of.of:
            raise reader.refuse("of", of.of, ["nothing where over is value: the cells are its columns"])
        return list(of.value)
    if of.over == "scenario":
        reader.check_names("of", of.of, list(reader.scenarios))
        return list(of.of) or list(dict.fromkeys(scenario.name for scenario in reader.run))
    return _sizes(reader, of) if of.over == "n" else list(of.of)


def _sizes(reader: _Reader, of: Estimate) -> list[str | float]:
    """Cells that differ in sample size: the sizes at this scale of those in config."""
    sizes: dict[str | float, int] = {scenario.size: scenario.n for scenario in reader.run}
    if not sizes:
        return []
    reader.check_names("of", of.of, list(sizes))
    return [float(sizes[size]) for size in of.of or sorted(sizes)]
