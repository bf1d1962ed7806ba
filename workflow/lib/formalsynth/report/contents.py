"""What the page of a paper shows: its figures, tables and claims, read from the files of the run."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from formalsynth.ledger.claims import kind_name
from formalsynth.ledger.judge import LedgerRow
from formalsynth.report.copies import Copies, withheld
from formalsynth.report.seen import seen_in
from formalsynth.report.told import ToldFigure, ToldPaper, ToldShown, ToldTable
from formalsynth.runtime.files import unbroken

About = Mapping[str, Sequence[LedgerRow]]
"""Claims by the figure or table that they belong to."""
TRUTH = {"True": 1.0, "False": 0.0}
"""Numbers that stand for truth in tables."""
SHARP = 300_000
"""Bytes up to which a page shows a figure's SVG, which is sharp at any size; a larger one would keep a reader waiting."""
CELL_COLUMNS = ("estimate", "mcse", "printed", "difference")
"""Columns of a table's CSV that are the numbers of a cell."""
TABLE_COLUMNS = frozenset({"statistic", "synthesizer", "label", "guarantee", "from", "data", *CELL_COLUMNS})
"""Columns that every table's CSV may have; others are parameters."""


@dataclass(frozen=True)
class Files:
    """Where the run left what the report shows."""

    shown: Mapping[str, Path]
    """Figures, tables and captions as ``<paper>/fig02.png`` and so on."""
    ledger: Path | None
    """The ledger of claims, where any paper has claims."""
    sources: Mapping[str, Path]
    """Config and scripts, by the name they are shown under."""
    steadiness: Path | None = None
    """How steady the verdicts of the reference run are, where the repository has it."""
    makers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the sources that made ``figures``, ``tables`` and ``claims``, the script first."""


@dataclass(frozen=True)
class Cell:
    """A number of a table; NaN stands for what is not there."""

    estimate: float
    mcse: float
    printed: float
    difference: float
    """Ours less the printed one."""


@dataclass(frozen=True)
class GridRow:
    """A synthesizer's row of a table."""

    id: str
    """Its id where nothing else tells it from another one, else empty."""
    label: str
    guarantee: str
    parameters: Mapping[str, str]
    """What tells it from those of the same label, by name; empty text where it has no such parameter."""
    cells: Mapping[str, Cell]
    """By statistic."""


@dataclass(frozen=True)
class Grid:
    """A table: a row for each synthesizer, a column for each statistic."""

    statistics: Sequence[str]
    rows: Sequence[GridRow]
    parameters: Sequence[str] = ()
    """Names of the parameters that have a column."""


@dataclass(frozen=True)
class Item:
    """What a figure and a table have in common on the page of their paper."""

    what: str
    """Its name in the ledger, as in ``figure 2``."""
    caption: str
    claims: Sequence[LedgerRow]
    """The claims that belong to it."""
    line: int
    """Where the config of its paper has its entry."""
    withheld: str
    """Why it is not shown; empty where it is."""
    copies: Mapping[str, str]
    """Its files in the report, by the ending of the original."""


@dataclass(frozen=True)
class ShownFigure(Item):
    """A figure on the page of its paper."""

    told: ToldFigure
    picture: str
    """Which of its files the page shows."""
    alt: str
    """What is to be seen, with medians from the largest to the smallest."""
    width: int
    """In pixels."""
    height: int


@dataclass(frozen=True)
class ShownTable(Item):
    """A table on the page of its paper."""

    told: ToldTable
    grid: Grid


@dataclass(frozen=True)
class ShownPaper:
    """The page of a paper."""

    told: ToldPaper
    figures: Sequence[ShownFigure]
    tables: Sequence[ShownTable]
    other: Sequence[LedgerRow]
    """Claims that belong to none of its figures and tables."""
    claims: int
    """How many claims it has in all."""
    tests: int
    """How many of them are of kind test."""

    @property
    def own(self) -> bool:
        """Whether it is a study of ours: it has claims, and none of them tests what a paper says."""
        return self.claims > 0 and not self.tests

    @property
    def key(self) -> str:
        """Its key."""
        return self.told.key

    @property
    def items(self) -> list[Item]:
        """Its figures and tables."""
        return [*self.figures, *self.tables]


@dataclass(frozen=True)
class Source:
    """Where the page of a paper takes from what it shows."""

    files: Files
    """What the run made."""
    copies: Copies
    """What of it goes into the report."""
    lines: Mapping[str, int]
    """Where the paper's config has which key."""
    sent: bool
    """Whether the report is to be sent to others."""


def shown_paper(told: ToldPaper, claims: Sequence[LedgerRow], source: Source) -> ShownPaper:
    """The page of a paper.

    Args:
        told: what the plan says of it.
        claims: the ledger of every paper.
        source: where it takes from what it shows.

    Raises:
        OSError: a table is damaged.
    """
    about: dict[str, list[LedgerRow]] = {}
    for claim in claims:
        if claim.paper == told.key:
            about.setdefault(claim.shows, []).append(claim)
    figures = [_figure(figure, about, source) for figure in told.figures]
    tables = [_table(table, about, source) for table in told.tables]
    items: list[Item] = [*figures, *tables]
    shown = {item.what for item in items}
    other = [claim for what, group in about.items() if what not in shown for claim in group]
    own = [claim for group in about.values() for claim in group]
    tests = sum(kind_name(claim.kind) == "test" for claim in own)
    return ShownPaper(told, figures, tables, other, len(own), tests)


def _figure(told: ToldFigure, about: About, source: Source) -> ShownFigure:
    size = png_size(source.files.shown[f"{told.file}.png"])
    item = _item(told, "figure", about, source)
    drawn = source.files.shown.get(f"{told.file}.svg")
    sharp = "svg" in item[-1] and drawn is not None and drawn.stat().st_size <= SHARP
    seen = "" if item[4] else seen_in(source.files.shown[f"{told.file}.csv"])
    return ShownFigure(*item, told, f"{told.file}.{'svg' if sharp else 'png'}", f"{told.alt} {seen}".strip(), *size)


def _table(told: ToldTable, about: About, source: Source) -> ShownTable:
    item = _item(told, "table", about, source)
    return ShownTable(*item, told, Grid([], []) if item[4] else read_grid(source.files.shown[f"{told.file}.csv"]))


def _item(
    told: ToldShown, kind: str, about: About, source: Source
) -> tuple[str, str, Sequence[LedgerRow], int, str, Mapping[str, str]]:
    """The fields of :class:`Item`."""
    what, why = f"{kind} {told.number}", withheld(told, source.sent)
    caption = "" if why and source.sent else source.files.shown[f"{told.file}.txt"].read_text(encoding="utf-8").strip()
    line = source.lines.get(f"{kind}s.{told.number}", 1)
    return what, caption, about.get(what, []), line, why, source.copies.of(told.file)


def read_ledger(path: Path | None) -> list[LedgerRow]:
    """The rows of the ledger, with empty text for what there are no data for; none where there is no ledger.

    Raises:
        OSError: the ledger is damaged.
    """
    return [] if path is None else [_ledger_row(row) for row in _rows(path)]


def _ledger_row(row: Mapping[str, str]) -> LedgerRow:
    texts = {column: text for column, text in row.items() if column != "replicates"}
    return LedgerRow(**texts, replicates=int(float(row["replicates"])) if row["replicates"] else None)


def read_grid(path: Path) -> Grid:
    """The tidy CSV of a table as a grid.

    Raises:
        OSError: the table is damaged.
    """
    rows = _rows(path)
    by_synthesizer: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_synthesizer.setdefault(row["synthesizer"], []).append(row)
    parameters = [name for name in rows[0] if name not in TABLE_COLUMNS] if rows else []
    heads = {id: {name: _short(group[0][name]) for name in parameters} for id, group in by_synthesizer.items()}
    alike = Counter((group[0]["label"], *heads[id].values()) for id, group in by_synthesizer.items())
    return Grid(
        list(dict.fromkeys(row["statistic"] for row in rows)),
        [
            GridRow(
                id if alike[(group[0]["label"], *heads[id].values())] > 1 else "",
                group[0]["label"],
                group[0]["guarantee"],
                heads[id],
                {row["statistic"]: Cell(*(_value(row.get(key, "")) for key in CELL_COLUMNS)) for row in group},
            )
            for id, group in by_synthesizer.items()
        ],
        parameters,
    )


def _short(text: str) -> str:
    """A number in few digits; other text as it is."""
    try:
        return f"{float(text):g}" if text else ""
    except ValueError:
        return text


def _value(text: str) -> float:
    return TRUTH[text] if text in TRUTH else float(text or math.nan)


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file as they are written."""
    with open(unbroken(path), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def png_size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    with open(path, "rb") as file:
        header = file.read(24)
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
