"""Content of a paper's page: its figures, tables and claims, read from the files of the run."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from formalsynth.runtime.files import unbroken
from formalsynth_workflow.ledger.claims import kind_name
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.alt_text import alt_text
from formalsynth_workflow.report.captions import with_finding
from formalsynth_workflow.report.copies import Copies, picture, withheld
from formalsynth_workflow.report.info import DisplayInfo, FigureInfo, PaperInfo, TableInfo

About = Mapping[str, Sequence[LedgerRow]]
"""Claims, keyed by the figure or table to which they belong."""
TRUTH = {"True": 1.0, "False": 0.0}
"""Numbers that replace the truth values in tables."""
CELL_COLUMNS = ("estimate", "mcse", "printed", "difference")
"""Columns of a table's CSV with the numbers of a cell."""
TABLE_COLUMNS = frozenset({"statistic", "synthesizer", "label", "guarantee", "from", "data", *CELL_COLUMNS})
"""Columns that any table's CSV may have; all other columns are parameters."""


@dataclass(frozen=True)
class Files:
    """Files of the run that are shown in the report."""

    shown: Mapping[str, Path]
    """Files of figures, tables and captions, by names such as ``<paper>/fig02.png``."""
    ledger: Path | None
    """The ledger of claims; None if no paper has claims."""
    sources: Mapping[str, Path]
    """Config files and scripts, by the names under which they are shown."""
    steadiness: Path | None = None
    """Steadiness of the verdicts of the reference run; None if the repository does not have it."""
    makers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the source files that made the ``figures``, ``tables`` and ``claims``, the script first."""


@dataclass(frozen=True)
class Cell:
    """Numbers of a table cell; NaN for missing ones."""

    estimate: float
    mcse: float
    printed: float
    difference: float
    """Our number minus the printed one."""


@dataclass(frozen=True)
class GridRow:
    """A synthesizer's row of a table."""

    id: str
    """Id of the synthesizer if nothing else distinguishes it from another one; otherwise empty."""
    label: str
    guarantee: str
    parameters: Mapping[str, str]
    """Parameters that distinguish it from rows with the same label, by name; empty text for a parameter that it lacks."""
    cells: Mapping[str, Cell]
    """Cells by statistic."""


@dataclass(frozen=True)
class Grid:
    """A table: a row for each synthesizer, a column for each statistic."""

    statistics: Sequence[str]
    rows: Sequence[GridRow]
    parameters: Sequence[str] = ()
    """Names of the parameters that have a column."""


@dataclass(frozen=True)
class Item:
    """Common content of figures and tables on their paper's page."""

    what: str
    """Name in the ledger, such as ``figure 2``."""
    caption: str
    """Caption, with the finding before the description."""
    claims: Sequence[LedgerRow]
    """The claims that belong to it."""
    line: int
    """Line of its entry in the paper's config."""
    withheld: str
    """Reason why it is not shown; empty if it is shown."""
    copies: Mapping[str, str]
    """Names of the copies of its files in the report, keyed by the extension of the original."""


@dataclass(frozen=True)
class ShownFigure(Item):
    """A figure on its paper's page."""

    info: FigureInfo
    picture: str
    """File that the page shows."""
    alt: str
    """Alternative text, with medians from the largest to the smallest."""
    width: int
    """Width in pixels."""
    height: int


@dataclass(frozen=True)
class ShownTable(Item):
    """A table on its paper's page."""

    info: TableInfo
    grid: Grid


@dataclass(frozen=True)
class ShownPaper:
    """The page of a paper."""

    info: PaperInfo
    figures: Sequence[ShownFigure]
    tables: Sequence[ShownTable]
    answer: Sequence[LedgerRow]
    """Claims that answer the paper's question."""
    other: Sequence[LedgerRow]
    """Claims that belong to none of its figures or tables."""
    claims: int
    """Number of its claims."""
    tests: int
    """Number of its claims of kind test."""

    @property
    def own(self) -> bool:
        """True for a study of our own: it has claims, and none of them tests a statement of a paper."""
        return self.claims > 0 and not self.tests

    @property
    def key(self) -> str:
        """Key of the paper."""
        return self.info.key

    @property
    def items(self) -> list[Item]:
        """Figures and tables of the paper."""
        return [*self.figures, *self.tables]


@dataclass(frozen=True)
class Source:
    """Input of a paper's page."""

    files: Files
    """Files of the run."""
    copies: Copies
    """Copies of these files in the report."""
    lines: Mapping[str, int]
    """Lines of the keys in the paper's config."""
    sent: bool
    """True if the report is to be sent to others."""


def shown_paper(info: PaperInfo, claims: Sequence[LedgerRow], source: Source) -> ShownPaper:
    """Read the content of a paper's page.

    Args:
        info: description of the paper in the plan.
        claims: the ledger of all papers.
        source: files of the run.

    Raises:
        OSError: a table is damaged.
    """
    about: dict[str, list[LedgerRow]] = {}
    for claim in claims:
        if claim.paper == info.key:
            about.setdefault(claim.shows, []).append(claim)
    by_id = {claim.id: claim for group in about.values() for claim in group}
    named = {f"figure {number}": [by_id[id] for id in ids if id in by_id] for number, ids in info.seen.items()}
    figures = [_figure(figure, about, named, source) for figure in info.figures]
    tables = [_table(table, about, source) for table in info.tables]
    items: list[Item] = [*figures, *tables]
    shown = {item.what for item in items}
    other = [claim for what, group in about.items() if what not in shown for claim in group]
    own = [claim for group in about.values() for claim in group]
    tests = sum(kind_name(claim.kind) == "test" for claim in own)
    answer = [by_id[id] for id in info.answer if id in by_id]
    return ShownPaper(info, figures, tables, answer, other, len(own), tests)


def _figure(info: FigureInfo, about: About, named: About, source: Source) -> ShownFigure:
    size = png_size(source.files.shown[f"{info.file}.png"])
    item = _item(info, "figure", {**named, **about}, source)
    item = (*item[:2], about.get(item[0], []), *item[3:])  # claims of other figures are only used in the caption
    seen = "" if item[4] else alt_text(source.files.shown[f"{info.file}.csv"])
    return ShownFigure(*item, info, picture(source.files.shown, info.file), f"{info.alt} {seen}".strip(), *size)


def _table(info: TableInfo, about: About, source: Source) -> ShownTable:
    item = _item(info, "table", about, source)
    return ShownTable(*item, info, Grid([], []) if item[4] else read_grid(source.files.shown[f"{info.file}.csv"]))


def _item(
    info: DisplayInfo, kind: str, about: About, source: Source
) -> tuple[str, str, Sequence[LedgerRow], int, str, Mapping[str, str]]:
    """Return the fields of :class:`Item`."""
    what, why = f"{kind} {info.number}", withheld(info, source.sent)
    caption = "" if why and source.sent else source.files.shown[f"{info.file}.txt"].read_text(encoding="utf-8").partition("\n")[0]
    line = source.lines.get(f"{kind}s.{info.number}", 1)
    claims = about.get(what, [])
    repeated = f"{kind} {info.same_as}" if isinstance(info, FigureInfo) and info.same_as else what
    return what, with_finding(caption, claims or about.get(repeated, [])), claims, line, why, source.copies.of(info.file)


def read_ledger(path: Path | None) -> list[LedgerRow]:
    """Read the rows of the ledger, with empty text for missing values; no rows without a ledger.

    Raises:
        OSError: the ledger is damaged.
    """
    return [] if path is None else [_ledger_row(row) for row in _rows(path)]


def _ledger_row(row: Mapping[str, str]) -> LedgerRow:
    texts = {column: text for column, text in row.items() if column != "replicates"}
    return LedgerRow(**texts, replicates=int(float(row["replicates"])) if row["replicates"] else None)


def read_grid(path: Path) -> Grid:
    """Read the tidy CSV of a table as a grid.

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
    """Shorten a number to a few digits; other text is returned unchanged."""
    try:
        return f"{float(text):g}" if text else ""
    except ValueError:
        return text


def _value(text: str) -> float:
    return TRUTH[text] if text in TRUTH else float(text or math.nan)


def _rows(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file as text."""
    with open(unbroken(path), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def png_size(path: Path) -> tuple[int, int]:
    """Read the width and height of a PNG in pixels."""
    with open(path, "rb") as file:
        header = file.read(24)
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")
