"""Checks that the tables, columns, synthesizers, parameters and sizes named by figures, tables and claims will exist.

The columns that a study adds to its tables are not known in advance: only the columns that every table has are checked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from formalsynth.core.family import FAMILIES, draws_from_prior
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import AUDIT, AUDIT_COLUMNS, REPLICATE_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS, requested_columns
from formalsynth.settings.messages import Section, refusal
from formalsynth_workflow.ledger.claims import ClaimConfig, Estimate
from formalsynth_workflow.plan.model import StudyScenario
from formalsynth_workflow.plan.paper import NameOrGroup, Paper, truth_of
from formalsynth_workflow.plan.scenario import Scenario
from formalsynth_workflow.plan.scenarios import AnyScenario
from formalsynth_workflow.show.figure import FRAMES, Figure, Repeat
from formalsynth_workflow.show.table import Table

CELLS = ("synthesizer", "value", "scenario", "n")
"""Ways in which the cells of a claim can differ, other than by a column of the table."""


@dataclass(frozen=True)
class _Reader(Section):
    """A figure, table or claim, which reads one collected table of some scenarios."""

    paper: Paper
    scenarios: Sequence[str]
    """Names of config entries."""
    table: str
    size: int | None = None

    @property
    def configs(self) -> list[AnyScenario]:
        return [self.paper.config.scenarios[name] for name in self.scenarios]

    @property
    def run(self) -> list[Scenario]:
        """Scenarios of the requested size that are not skipped."""
        return self.paper.of(self.scenarios, self.size)

    def check_scenarios(self, table_key: str) -> None:
        """Check that the scenarios exist, with the requested size and the table to read."""
        self.check_names("scenario", self.scenarios, self.paper.config.scenarios)
        of = self.paper.of(self.scenarios)
        if of and not self.run:
            raise self.refuse("size", self.size, [scenario.size for scenario in of])
        for config in self.configs:
            self.check_names(table_key, [self.table], _tables(config))

    def check_sizes(self, apart: bool, remedy: str) -> None:
        """Check that several sample sizes of a scenario are not mixed.

        Args:
            apart: True if the sizes are distinguished.
            remedy: the key, other than ``size``, that distinguishes them.
        """
        sizes = {name: [scenario.size for scenario in self.run if scenario.name == name] for name in self.scenarios}
        for name, several in sizes.items():
            if len(several) > 1 and not apart:
                ways = [f"size: {' or '.join(map(str, several))}", *([remedy] if remedy else [])]
                allowed = f"one sample size at a time, because {name} has {len(several)}: give {', or '.join(ways)}"
                raise self.refuse("scenario", name, [allowed])

    def check_columns(self, key: str, columns: Iterable[str], numbers: bool = True) -> None:
        """Check that every table has these columns, and that they contain numbers."""
        for config, column in itertools.product(self.configs, columns):
            known = _columns(config, self.table)
            allowed = [name for name in known or () if not (numbers and name in TEXT_COLUMNS)]
            if not (self._has(column, allowed) if known is not None else column and not (numbers and column in TEXT_COLUMNS)):
                raise self.refuse(key, column, allowed or ["a column of numbers"])

    def _has(self, column: str, columns: Sequence[str]) -> bool:
        """Return True if a column is known; the columns of a vector parameter are numbered."""
        return column in columns or (self.table == "draws" and re.sub(r"_[1-9]\d*$", "", column) in columns)

    def ids(self, key: str, names: Sequence[NameOrGroup], where: Mapping[str, float]) -> list[str]:
        """Return the ids of the named synthesizers.

        Raises:
            ConfigError: one is not run or has no rows in the table, or none matches the parameters in ``where``.
        """
        every = self._known(key, names)
        self.check_names("where", where, self.parameters(every), "no parameter")
        ids = [id for id in every if self.paper.fits(id, where)]
        if not ids:
            raise self.refuse("where", where, ["values that leave at least one synthesizer"])
        return ids

    def _known(self, key: str, names: Sequence[NameOrGroup]) -> list[str]:
        """Return the ids of the named synthesizers, after checking that they have rows."""
        groups = self.paper.expanded.groups
        unknown = [name for name in _flat(names) if name not in {**self.paper.expanded.looks, **groups}]
        self.check_names(key, unknown, [DATA, *groups])
        if not names:
            raise self.refuse(key, names, ["at least one synthesizer"])
        allowed, every = self._with_rows(), self.paper.order(names)
        for id in every:
            if (self.run or id in (DATA, PRIOR)) and id not in allowed:
                given = next(name for name in _flat(names) if id in self.paper.order([name]))
                raise self.refuse(key, given, allowed)
        return every

    def _with_rows(self) -> dict[str, None]:
        """Return the ids that have rows in the table."""
        others = dict.fromkeys(name for config in self.configs for name in _not_synthetic(config, self.table))
        return others | dict.fromkeys(name for scenario in self.run for name in scenario.ids if not self._rowless(name))

    def check_rows(self, rows: Mapping[str, str | bool | float]) -> None:
        """Check the columns that select rows, and the synthesizer if it is one of them."""
        self.check_columns("rows", rows, numbers=False)
        id = rows.get("synthesizer")
        if id is not None and id not in (allowed := self.ids("rows.synthesizer", [str(id)], {})):
            raise self.refuse("rows.synthesizer", id, allowed)

    def _rowless(self, id: str) -> bool:
        """Return True if the table contains bounds or posterior draws and the synthesizer has none."""
        synthesizer = self.paper.expanded.synthesizers.get(id)
        return self.table in ("records", "draws") and synthesizer is not None and MECHANISMS[synthesizer.mechanism].releases

    def parameters(self, ids: Iterable[str]) -> list[str]:
        """Return the names of the parameters that any of the synthesizers has."""
        return list(dict.fromkeys(key for id in ids for key in self.paper.parameters(id)))

    def check_truth(self, key: str, columns: Iterable[str]) -> None:
        """Check that the population's own value of each column is known."""
        for scenario, column in itertools.product(self.run, columns):
            if truth_of(scenario.data, column) is None:
                raise self.refuse(key, "population", [f"anything else: the population's {column} is not known"])


def _flat(names: Sequence[NameOrGroup]) -> list[str]:
    return [name for group in names for name in ([group] if isinstance(group, str) else group)]


def _list(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _tables(config: AnyScenario) -> tuple[str, ...]:
    """Return the names of a scenario's collected tables."""
    if isinstance(config, StudyScenario):
        return ("replicates", "details")
    return ("replicates", *([AUDIT] if config.audit else []), *SAMPLE_COLUMNS)


def _columns(config: AnyScenario, table: str) -> tuple[str, ...] | None:
    """Columns of a collected table; None if unknown: a study adds its own, and the family's name may be wrong."""
    if isinstance(config, StudyScenario):
        return None
    if table == "draws":
        family = FAMILIES.get(config.model)
        return (*SAMPLE_COLUMNS[table], *family.parameters) if family else None
    if table == AUDIT:
        return AUDIT_COLUMNS
    return (*REPLICATE_COLUMNS, *requested_columns(config)) if table == "replicates" else SAMPLE_COLUMNS[table]


def _not_synthetic(config: AnyScenario, table: str) -> list[str]:
    """Return ids that have rows and are not synthesizers."""
    if isinstance(config, StudyScenario) or table in ("records", AUDIT):
        return []
    if table == "draws":
        return [PRIOR] if config.model not in FAMILIES or draws_from_prior(FAMILIES[config.model]) else []
    return [DATA]


def check_readings(paper: Paper, file: Path) -> None:
    """Check that only later readings replace synthesizers, each by an entry with equally many.

    Raises:
        ConfigError: one does not.
    """
    groups = paper.expanded.groups
    for k, (name, reading) in enumerate(paper.config.readings.items()):
        section = Section(file, f"readings.{name}")
        if bool(reading.replaces) == (k == 0):
            raise section.refuse(
                "replaces", reading.replaces, ["nothing in the first reading"] if k == 0 else ["at least one entry"]
            )
        section.check_names("replaces", reading.replaces, groups)
        for old, new in reading.replaces.items():
            section.check_names(f"replaces.{old}", [new], groups)
            if len(groups[old]) != len(groups[new]):
                alike = [other for other in groups if other != old and len(groups[other]) == len(groups[old])]
                raise section.refuse(f"replaces.{old}", new, alike)


def check_figure(number: str, figure: Figure | Repeat, paper: Paper, file: Path) -> bool:
    """Check the names in a figure; return False if its scenarios were skipped.

    Raises:
        ConfigError: a named item will not exist.
    """
    if isinstance(figure, Repeat):
        return _check_repeat(number, figure, paper, file)
    if parts := figure.members():
        made = [check_figure(f"{number}.parts.{letter}", part, paper, file) for letter, part in parts.items()]
        return all(made)
    reader = _Reader(file, f"figures.{number}", paper, _list(figure.scenario), figure.table, figure.size)
    _check_figure_rows(reader, figure)
    _check_figure_synthesizers(reader, figure)
    if getattr(figure, "line", None) == "population":
        reader.check_truth("line", figure.columns())
    if "details" in figure.tables() and not all(isinstance(config, StudyScenario) for config in reader.configs):
        raise reader.refuse("exact", True, ["false: only a study has exact densities"])
    if AUDIT in figure.tables() and not all(AUDIT in _tables(config) for config in reader.configs):
        raise reader.refuse("scenario", figure.scenario, ["scenarios with audit: this kind of figure shows audited ε"])
    return bool(reader.run)


def _check_repeat(number: str, figure: Repeat, paper: Paper, file: Path) -> bool:
    originals = {key: other for key, other in paper.config.figures.items() if isinstance(other, Figure)}
    Section(file, f"figures.{number}").check_names("same_as", [figure.same_as], list(originals))
    return check_figure(figure.same_as, originals[figure.same_as], paper, file)


def _check_figure_rows(reader: _Reader, figure: Figure) -> None:
    """Check the scenarios, sizes and columns of a figure."""
    reader.check_scenarios("table")
    framed = [name for name in ("synthesizer", "scenario") if name in figure.FRAMES]
    apart = figure.panels in framed or figure.x_column == "n" or "n" in figure.rows
    reader.check_sizes(apart, f"panels: {framed[0]}" if framed else "")
    reader.check_columns("value", figure.columns())
    reader.check_columns("x", [figure.x_column] if figure.x_column else [])
    reader.check_rows(figure.rows)


def _check_figure_synthesizers(reader: _Reader, figure: Figure) -> None:
    """Check a figure's synthesizers, and the parameters that it shows."""
    ids = reader.ids("synthesizers", figure.synthesizers, figure.where)
    reader.check_names("labels", figure.labels, [*reader.paper.expanded.groups, *ids])
    parameters, at = reader.parameters(ids), getattr(figure, "at", "")
    reader.check_names("panels", [figure.panels], [*FRAMES, *parameters])
    reader.check_names("at", [at] if at else [], parameters, "no parameter")


def check_table(number: int, table: Table, paper: Paper, file: Path) -> bool:
    """Check the names in a table; return False if its scenario was skipped.

    Raises:
        ConfigError: a named item will not exist.
    """
    reader = _Reader(file, f"tables.{number}", paper, [table.scenario], table.table, table.size)
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


def check_claim(claim: ClaimConfig, paper: Paper, file: Path) -> tuple[list[Scenario], list[str | float]]:
    """Check the names in a claim.

    Returns:
        Its scenarios, none if one of them was skipped, and its cells from left to right, none if the rows define them.

    Raises:
        ConfigError: a named item will not exist, or the estimate makes no sense.
    """
    of = claim.estimate
    reader = _Reader(file, f"claims.{claim.id}.estimate", paper, _list(of.scenario), of.table, of.size)
    _check_estimate(reader, of)
    _check_shown(claim, paper, file)
    cells = _cells(reader, of)
    if of.differences and len(cells) % 2:
        raise reader.refuse("of", of.of, ["an even number of cells, for differences"])
    wrong = claim.test.check_cells(cells[::2] if of.differences else cells) if cells or reader.run else None
    if wrong:
        key, given = f"claims.{claim.id}.{claim.test.blames}", attrgetter(claim.test.blames)(claim)
        raise refusal(file, key, given, [wrong])
    absent = {scenario.name for scenario in reader.run} != set(reader.scenarios)
    return [] if absent else reader.run, cells


def _check_estimate(reader: _Reader, of: Estimate) -> None:
    """Check the scenarios, sizes and columns of an estimate."""
    reader.check_scenarios("table")
    reader.check_sizes("n" in (of.over, of.by) or "n" in of.rows, "over: n")
    reader.check_columns("value", of.value)
    reader.check_rows(of.rows)
    reader.check_columns("by", [of.by], numbers=False)
    if of.by in (of.over, *of.value):
        raise reader.refuse("by", of.by, ["a column other than over and value"])
    if of.distance == "population":
        reader.check_truth("distance", of.value)
    if of.distance == DATA and not all(DATA in _not_synthetic(config, of.table) for config in reader.configs):
        raise reader.refuse("distance", of.distance, ["a table with rows of the confidential data"])


def _check_shown(claim: ClaimConfig, paper: Paper, file: Path) -> None:
    """Check that the figure or table of a claim exists."""
    section, _, number = claim.shows.partition(" ")
    shown = {"figure": list(paper.config.figures), "table": [str(k) for k in paper.config.tables], "": [""]}[section]
    if number not in shown:
        raise refusal(file, f"claims.{claim.id}.shows", claim.shows, [f"{section} {k}" for k in shown])


def _cells(reader: _Reader, of: Estimate) -> list[str | float]:
    _check_over(reader, of)
    match of.over:
        case "synthesizer":
            return list(reader.ids("of", [str(name) for name in of.of], of.where))
        case "value":
            if of.of:
                raise reader.refuse("of", of.of, ["nothing if over is value: the cells are then its columns"])
            return list(of.value)
        case "scenario":
            reader.check_names("of", of.of, list(reader.scenarios))
            return list(of.of) or list(dict.fromkeys(scenario.name for scenario in reader.run))
        case "n":
            return _sizes(reader, of)
    return list(of.of)


def _check_over(reader: _Reader, of: Estimate) -> None:
    if of.over != "value" and len(of.value) > 1:
        raise reader.refuse("value", of.value, ["one column, unless over is value"])
    if of.over not in CELLS:
        reader.check_columns("over", [of.over], numbers=False)
    if of.over != "synthesizer" and of.where:
        raise reader.refuse("where", of.where, ["nothing, unless over is synthesizer"])


def _sizes(reader: _Reader, of: Estimate) -> list[str | float]:
    """Return cells that differ in sample size: the sizes in config, as shrunk by this scale."""
    sizes: dict[str | float, int] = {scenario.size: scenario.n for scenario in reader.run}
    if not sizes:
        return []
    reader.check_names("of", of.of, list(sizes))
    return [float(sizes[size]) for size in of.of or sorted(sizes)]
