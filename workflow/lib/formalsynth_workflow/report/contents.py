"""Content of a paper's page: its figures, tables and claims, read from the files of the run."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from formalsynth.core.model import DATA
from formalsynth.core.utility import COLUMNS
from formalsynth.runtime.files import read_table, unbroken
from formalsynth_workflow.ledger.claims import kind_name
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.alt_text import alt_text
from formalsynth_workflow.report.copies import Copies, picture, withheld
from formalsynth_workflow.report.formats import number
from formalsynth_workflow.report.info import DisplayInfo, PaperInfo
from formalsynth_workflow.report.listings import excerpt

if TYPE_CHECKING:
    import pandas as pd

CELL_COLUMNS = ("estimate", "mcse", "printed", "difference")
"""Columns of a table's CSV with the numbers of a cell."""
BEST = {1.0: "strong", 2.0: "u"}
"""Elements of the best and the second best number of a statistic."""
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


class Picture(NamedTuple):
    """Drawing of a figure on a page."""

    file: str
    alt: str
    """Alternative text, with medians from the largest to the smallest."""
    width: int
    """Width in pixels."""
    height: int


class Grid(NamedTuple):
    """A table: a row for each synthesizer, a column for each statistic."""

    statistics: Sequence[str]
    parameters: Sequence[str]
    """Names of the parameters that have a column."""
    rows: Sequence[Mapping[str, Any]]
    """Label, guarantee and parameters of a synthesizer, its ``id`` if nothing else distinguishes it from another one, and its
    ``cells`` by statistic, each with the numbers of :data:`CELL_COLUMNS`, and the element in which it is shown or empty text."""

    @property
    def ranked(self) -> bool:
        """True if the best numbers are marked."""
        return any(cell["element"] for row in self.rows for cell in row["cells"].values())

    @property
    def printed(self) -> bool:
        """True if a cell has a printed number."""
        return any(not math.isnan(cell["printed"]) for row in self.rows for cell in row["cells"].values())


@dataclass(frozen=True)
class Item:
    """A figure or table on its paper's page."""

    info: DisplayInfo
    caption: str
    details: str
    """Sentences on how the values were made; empty if the caption has them."""
    claims: Sequence[LedgerRow]
    """The claims that belong to it, to the figure that it repeats, or that its config names."""
    line: int
    """Line of its entry in the paper's config."""
    entry: Sequence[str]
    """Lines of this entry."""
    withheld: str
    """Reason why it is not shown; empty if it is shown."""
    copies: Mapping[str, str]
    """Names of the copies of its files in the report, keyed by the extension of the original."""
    content: Picture | Grid | None
    """Drawing or numbers on the page; None for a withheld figure or table."""

    @property
    def ledger_name(self) -> str:
        """Name in the ledger, such as ``figure 2``."""
        return self.info.ledger_name


@dataclass(frozen=True)
class ShownPaper:
    """The page of a paper."""

    info: PaperInfo
    figures: Sequence[Item]
    tables: Sequence[Item]
    answer: Sequence[LedgerRow]
    """Claims that answer the paper's question."""
    other: Sequence[LedgerRow]
    """Claims that belong to none of its figures or tables."""
    claims: int
    """Number of its claims."""
    tests: int
    """Number of its claims of kind test."""
    quantities: Mapping[str, int]
    """Number of its claims about each quantity, the most frequent first."""

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


def shown_paper(
    info: PaperInfo, ledger: Sequence[LedgerRow], files: Files, copies: Copies, lines: Mapping[str, int], sent: bool
) -> ShownPaper:
    """Read the content of a paper's page.

    Args:
        info: description of the paper in the plan.
        ledger: the ledger of all papers.
        files: files of the run.
        copies: copies of these files in the report.
        lines: lines of the keys in the paper's config.
        sent: True if the report is to be sent to others.

    Raises:
        OSError: a table is damaged.
    """
    own = {claim.id: claim for claim in ledger if claim.paper == info.key}
    about: dict[str, list[LedgerRow]] = {}
    for claim in own.values():
        about.setdefault(claim.shows, []).append(claim)

    named = {f"figure {number}": [own[id] for id in ids if id in own] for number, ids in info.seen.items()} | about

    config = files.sources.get(f"papers/{info.key}.yaml")
    text_of_config = config.read_text(encoding="utf-8").splitlines() if config else []

    def item(display: DisplayInfo) -> Item:
        why = withheld(display, sent)
        texts = [""] if why and sent else files.shown[f"{display.file}.txt"].read_text(encoding="utf-8").splitlines()
        details = texts[1] if len(texts) > 2 else ""  # the last line is the origin
        claims = named.get(display.ledger_name) or named.get(f"figure {display.same_as}", [])
        line = lines.get(display.ledger_name.replace(" ", "s."), 1)
        content = None if why else _content(display, files.shown)
        entry = excerpt(text_of_config, line)
        return Item(display, texts[0], details, claims, line, entry, why, copies.of(display.file), content)

    shown = {display.ledger_name for display in info.shown}
    return ShownPaper(
        info,
        figures=[item(figure) for figure in info.figures],
        tables=[item(table) for table in info.tables],
        answer=[own[id] for id in info.answer if id in own],
        other=[claim for what, claims in about.items() if what not in shown for claim in claims],
        claims=len(own),
        quantities=dict(Counter(claim.quantity for claim in own.values() if claim.quantity).most_common()),
        tests=sum(kind_name(claim.kind) == "test" for claim in own.values()),
    )


def _content(display: DisplayInfo, files: Mapping[str, Path]) -> Picture | Grid:
    """Return the picture of a figure, or the numbers of a table."""
    if not display.alt:
        return read_grid(files[f"{display.file}.csv"])
    alt = f"{display.alt} {alt_text(files[f'{display.file}.csv'])}".strip()
    return Picture(picture(files, display.file), alt, *Image.open(files[f"{display.file}.png"]).size)


def read_ledger(path: Path | None) -> list[LedgerRow]:
    """Read the rows of the ledger, with empty text for missing values; no rows without a ledger.

    Raises:
        OSError: the ledger is damaged.
    """
    if path is None:
        return []
    with open(unbroken(path), encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    return [LedgerRow(**row | {"replicates": int(float(row["replicates"])) if row["replicates"] else None}) for row in rows]


def read_grid(path: Path) -> Grid:
    """Read the tidy CSV of a table as a grid.

    Raises:
        OSError: the table is damaged.
    """
    table = read_table(path)
    parameters = [str(name) for name in table if name not in TABLE_COLUMNS]
    table[parameters] = table[parameters].map(_short)
    table["element"] = _places(table).map(BEST).fillna("")
    heads = table.drop_duplicates("synthesizer").rename(columns={"synthesizer": "id"})
    heads["id"] = heads["id"].where(heads.duplicated(["label", *parameters], keep=False), "")
    cells = {id: own.set_index("statistic")[[*CELL_COLUMNS, "element"]] for id, own in table.groupby("synthesizer", sort=False)}
    columns = {column: heads[column].to_list() for column in ("id", "label", "guarantee", *parameters)}
    columns["cells"] = [own.astype(dict.fromkeys(CELL_COLUMNS, float)).to_dict("index") for own in cells.values()]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return Grid(list(table["statistic"].unique()), parameters, rows)


def _places(table: pd.DataFrame) -> pd.Series:
    """Rank the synthesizers by the utility of each statistic; missing without a row of the data, and for other statistics.

    Numbers are best if they are nearest to that of the data, differences between distribution functions if they are smallest.
    """
    data = table[table["synthesizer"] == DATA].set_index("statistic")["estimate"]
    nearest = table["statistic"].map(data).mask(table["statistic"].str.startswith("ecdf_"), 0.0 if len(data) else math.nan)
    ranked = (table["synthesizer"] != DATA) & table["statistic"].isin(COLUMNS)
    distance = (table["estimate"] - nearest).abs().where(ranked)
    return distance.groupby(table["statistic"]).rank("dense")


def _short(value: float | str) -> str:
    """Shorten a number to a few digits, and write empty text for a missing one; text is returned unchanged."""
    return value if isinstance(value, str) else "" if math.isnan(value) else number(value)
