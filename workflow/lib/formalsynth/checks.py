"""Whether what figures, tables and claims speak of will be there: tables, columns, synthesizers, parameters and sizes.

What a study adds to its tables is not known beforehand, so of its columns only the names that every table has are checked.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formalsynth.claims import STATISTICS as CELL_STATISTICS
from formalsynth.config import ClaimConfig, ConfigError, FigureConfig, ScenarioConfig, TableConfig, message
from formalsynth.families import FAMILIES
from formalsynth.mechanisms import MECHANISMS
from formalsynth.populations import has_truth
from formalsynth.scenario import DATA, PRIOR, Scenario
from formalsynth.steps.rows import REPLICATE_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS
from formalsynth.steps.show import SPREAD
from formalsynth.utility import STATISTICS

if TYPE_CHECKING:
    from formalsynth.design import Paper

FRAMES = ("none", "synthesizer", "scenario")
"""What the frames of a figure can differ in beside a parameter."""


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

    def refuse(self, key: str, given: Any, allowed: Iterable[Any]) -> ConfigError:
        return ConfigError(message(self.file, f"{self.where}.{key}", given, allowed))

    @property
    def configs(self) -> list[ScenarioConfig]:
        return [self.paper.config.scenarios[name] for name in self.scenarios]

    @property
    def run(self) -> list[Scenario]:
        """The scenarios that are not skipped, of the size that is asked for."""
        return [one for one in self.paper.of(self.scenarios) if self.size in (None, one.size)]

    def check_scenarios(self, table_key: str) -> None:
        known = self.paper.config.scenarios
        for name in self.scenarios:
            if name not in known:
                raise self.refuse("scenario", name, known)
        of = self.paper.of(self.scenarios)
        if of and not self.run:
            raise self.refuse("size", self.size, [one.size for one in of])
        for one in self.configs:
            if self.table not in _tables(one):
                raise self.refuse(table_key, self.table, _tables(one))

    def check_columns(self, key: str, columns: Iterable[str], numbers: bool = True) -> None:
        """Check that every table has these columns, and that they are numbers."""
        for one, column in itertools.product(self.configs, columns):
            known = _columns(one, self.table)
            allowed = [name for name in known or () if not (numbers and name in TEXT_COLUMNS)]
            if known is None:
                wrong = not column or (numbers and column in TEXT_COLUMNS)
            else:
                # the columns of a parameter that is a vector are numbered
                name = re.sub(r"_[1-9]\d*$", "", column) if self.table == "draws" else column
                wrong = not {column, name} & set(allowed)
            if wrong:
                raise self.refuse(key, column, allowed or ["a column of numbers"])

    def ids(self, key: str, names: Sequence[str | Sequence[str]], where: Mapping[str, float]) -> list[str]:
        """Ids of the synthesizers named; each is run, and has rows in the table.

        Raises:
            ConfigError: one is not, or none has the parameters of ``where``.
        """
        paper = self.paper
        known = (DATA, PRIOR, *paper.groups, *paper.synthesizers)
        for name in _flat(names):
            if name not in known:
                raise self.refuse(key, name, [DATA, *paper.groups])
        if not names:
            raise self.refuse(key, names, ["at least one synthesizer"])
        every = paper.order(names)
        for id in every:
            allowed = [name for one in self.configs for name in _beside(one, self.table)]
            allowed += [name for one in self.run for name in one.synthesizers if not self._rowless(name)]
            if (self.run or id in (DATA, PRIOR)) and id not in allowed:
                given = next(name for name in _flat(names) if id in paper.order([name]))
                raise self.refuse(key, given, dict.fromkeys(allowed))
        parameters = self.parameters(every)
        for name in where:
            if name not in parameters:
                raise self.refuse("where", name, parameters or ["no parameter"])
        ids = [id for id in every if paper.fits(id, where)]
        if not ids:
            raise self.refuse("where", where, ["what leaves at least one synthesizer"])
        return ids

    def check_rows(self, rows: Mapping[str, Any]) -> None:
        """Check the columns that rows are chosen by, and the synthesizer where that is one of them."""
        self.check_columns("rows", rows, numbers=False)
        id = rows.get("synthesizer")
        if id is not None and id not in (allowed := self.ids("rows.synthesizer", [str(id)], {})):
            raise self.refuse("rows.synthesizer", id, allowed)

    def _rowless(self, id: str) -> bool:
        """Whether a synthesizer has no bounds and no posterior draws, and the table holds such."""
        return self.table in ("records", "draws") and MECHANISMS[self.paper.synthesizers[id].mechanism].releases

    def parameters(self, ids: Iterable[str]) -> list[str]:
        """Names of the parameters that any of the synthesizers has."""
        return list(dict.fromkeys(key for id in ids for key in self.paper.parameters(id)))

    def check_truth(self, key: str, columns: Iterable[str]) -> None:
        """Check that the population's own value of each column is known."""
        for one, column in itertools.product(self.configs, columns):
            if one.population is None or not has_truth(one.population, column):
                raise self.refuse(key, "population", [f"anything else: the population's {column} is not known"])


def _flat(names: Sequence[str | Sequence[str]]) -> list[str]:
    return [name for one in names for name in ([one] if isinstance(one, str) else one)]


def _tables(one: ScenarioConfig) -> tuple[str, ...]:
    """Collected tables that a scenario has."""
    return ("replicates", "details") if one.study is not None else ("replicates", *SAMPLE_COLUMNS)


def _columns(one: ScenarioConfig, table: str) -> tuple[str, ...] | None:
    """Columns of a collected table; None where a study adds its own."""
    if one.study is not None:
        return None
    if table == "draws":
        return (*SAMPLE_COLUMNS[table], *FAMILIES[one.family].parameters)
    return REPLICATE_COLUMNS if table == "replicates" else SAMPLE_COLUMNS[table]


def _beside(one: ScenarioConfig, table: str) -> list[str]:
    """What has rows beside the synthesizers."""
    if one.study is not None or table == "records":
        return []
    if table == "draws":
        return [PRIOR] if hasattr(FAMILIES[one.family], "prior_draws") else []
    return [DATA]


def _list(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def check_figure(number: str, entry: FigureConfig, paper: Paper, file: Path) -> bool:
    """Check what a figure names; False when its scenarios were skipped.

    Raises:
        ConfigError: something that it names will not be there.
    """
    if entry.same_as:
        figures = paper.config.figures
        original = figures.get(entry.same_as)
        if original is None or original.same_as:
            allowed = [key for key, one in figures.items() if not one.same_as]
            raise ConfigError(message(file, f"figures.{number}.same_as", entry.same_as, allowed))
        return check_figure(entry.same_as, original, paper, file)
    reader = _Reader(paper, file, f"figures.{number}", _list(entry.scenario), entry.source, entry.size)
    reader.check_scenarios("source")
    reader.check_columns("value", _list(entry.value))
    reader.check_columns("x", [entry.x] if entry.x or entry.kind in ("line", "scatter") else [])
    reader.check_rows(entry.rows)
    ids = reader.ids("synthesizers", entry.synthesizers, entry.where)
    _check_names(reader, "labels", entry.labels, [*paper.groups, *ids])
    parameters = reader.parameters(ids)
    if entry.panels not in (*FRAMES, *parameters):
        raise reader.refuse("panels", entry.panels, [*FRAMES, *parameters])
    if entry.at and entry.at not in parameters:
        raise reader.refuse("at", entry.at, parameters or ["no parameter"])
    if entry.line == "half_epsilon" and entry.panels != "epsilon" and "epsilon" not in entry.where:
        raise reader.refuse("line", entry.line, ["anything else, unless panels is epsilon or where gives it"])
    if entry.line == "population":
        reader.check_truth("line", _list(entry.value))
    if entry.exact and not all(one.study for one in reader.configs):
        raise reader.refuse("exact", True, ["false: only a study has exact densities"])
    return bool(reader.run)


def check_table(number: int, entry: TableConfig, paper: Paper, file: Path) -> bool:
    """Check what a table names; False when its scenario was skipped.

    Raises:
        ConfigError: something that it names will not be there.
    """
    reader = _Reader(paper, file, f"tables.{number}", [entry.scenario], entry.source)
    if entry.scenario in paper.config.scenarios and paper.config.scenarios[entry.scenario].study and entry.source == "sets":
        raise reader.refuse("kind", entry.kind, ["a kind that reads replicates: the scenario has a study"])
    reader.check_scenarios("kind")
    if entry.kind in ("spread", "rate"):
        reader.check_columns("value", [entry.value])
    ends = [f"{name}_{end}" for name in STATISTICS for end in ("low", "high")]
    rows = {"sample": list(STATISTICS), "interval": ends, "spread": list(SPREAD)}.get(entry.kind)
    if rows:
        _check_names(reader, "statistics", entry.statistics, rows)
    elif entry.kind != "rate":
        reader.check_columns("statistics", entry.statistics)
    ids = reader.ids("synthesizers", entry.synthesizers, entry.where)
    _check_names(reader, "printed", entry.printed, ids)
    for id, printed in entry.printed.items():
        _check_names(reader, f"printed.{id}", printed, entry.statistics)
    return bool(reader.run)


def _check_names(reader: _Reader, key: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            raise reader.refuse(key, name, allowed)


def check_claim(one: ClaimConfig, paper: Paper, file: Path) -> tuple[list[Scenario], list[Any]]:
    """The scenarios that a claim speaks of, none where one of them was skipped, and its cells from left to right.

    There are no cells where the rows say which there are.

    Raises:
        ConfigError: something that it names will not be there, or it asks for what makes no sense.
    """
    of = one.estimate
    reader = _Reader(paper, file, f"claims.{one.id}.estimate", _list(of.scenario), of.table, of.size)
    reader.check_scenarios("table")
    reader.check_columns("value", of.value)
    reader.check_rows(of.rows)
    reader.check_columns("by", [of.by], numbers=False)
    if of.by in (of.over, *of.value):
        raise reader.refuse("by", of.by, ["another column than over and value"])
    if of.statistic not in CELL_STATISTICS:
        raise reader.refuse("statistic", of.statistic, CELL_STATISTICS)
    given = [key for key, is_given in (("distance", of.distance is not None), ("of_largest", of.of_largest),
                                       ("above", of.above is not None)) if is_given]  # fmt: skip
    if len(given) > 1:
        raise reader.refuse(given[1], getattr(of, given[1]), [f"nothing beside {given[0]}"])
    if of.distance == "population":
        reader.check_truth("distance", of.value)
    if of.distance == DATA and not all(DATA in _beside(config, of.table) for config in reader.configs):
        raise reader.refuse("distance", of.distance, ["a table with rows of the confidential data"])
    section, _, number = one.shows.partition(" ")
    shown: Any = {"figure": paper.config.figures, "table": [str(k) for k in paper.config.tables], "": [""]}[section]
    if number not in shown:
        raise ConfigError(message(file, f"claims.{one.id}.shows", one.shows, [f"{section} {k}" for k in shown]))
    cells = _cells(reader, one)
    _check_test(one, cells, bool(reader.run), file)
    absent = {one.name for one in reader.run} != set(reader.scenarios)
    return [] if absent else reader.run, cells


def _cells(reader: _Reader, one: ClaimConfig) -> list[Any]:
    of = one.estimate
    if of.over != "value" and len(of.value) > 1:
        raise reader.refuse("value", of.value, ["one column, unless over is value"])
    if of.over not in ("synthesizer", "value", "scenario", "n"):
        reader.check_columns("over", [of.over], numbers=False)
    if of.over != "synthesizer" and of.where:
        raise reader.refuse("where", of.where, ["nothing, unless over is synthesizer"])
    if of.over == "synthesizer":
        return reader.ids("of", [str(name) for name in of.of], of.where)
    if of.over == "value":
        if of.of:
            raise reader.refuse("of", of.of, ["nothing where over is value: the cells are its columns"])
        return list(of.value)
    if of.over == "scenario":
        _check_names(reader, "of", of.of, reader.scenarios)
        return list(of.of) or list(dict.fromkeys(one.name for one in reader.run))
    if of.over == "n":
        sizes = {one.size: one.n for one in reader.run}
        if sizes:
            _check_names(reader, "of", of.of, list(sizes))
        return [float(sizes[size]) for size in of.of or sorted(sizes)] if sizes else []
    return list(of.of)


def _check_test(one: ClaimConfig, cells: Sequence[Any], there: bool, file: Path) -> None:
    """Check that a claim's test has what its kind needs, and nothing of another kind."""
    where, test = f"claims.{one.id}.test", one.test
    takes = {
        "value": {"printed", "tolerance"},
        "within": {"low", "high", "share"},
        "order": {"direction", "pairs", "share", "margin"},
        "equal": {"tolerance"},
        "trend": {"low", "high"},
    }[test.kind]
    for key in test.model_fields_set - {"kind"} - takes:
        raise ConfigError(message(file, where, key, sorted(takes)))
    for key in {"value": ("printed",), "trend": ("low", "high")}.get(test.kind, ()):
        if getattr(test, key) in (None, []):
            raise ConfigError(f"{file}: {where}: {key} is missing; {test.kind} needs it")
    if test.kind == "within" and test.low is None and test.high is None:
        raise ConfigError(f"{file}: {where}: low and high are missing; within needs one of them")
    if test.kind == "value" and cells and len(test.printed) != len(cells):
        raise ConfigError(message(file, f"{where}.printed", test.printed, [f"a number for each of {len(cells)} cells"]))
    if test.kind in ("order", "equal", "trend") and there and len(cells) < 2 and (cells or test.kind == "trend"):
        raise ConfigError(message(file, f"claims.{one.id}.estimate.of", one.estimate.of, [f"two cells or more, for {test.kind}"]))
    if test.kind == "trend" and not all(isinstance(cell, float) and cell > 0 for cell in cells):
        raise ConfigError(message(file, f"claims.{one.id}.estimate.of", one.estimate.of, ["numbers > 0, for trend"]))
