"""Numbers of ``docs/COST.md``: the claim of each mechanism and the cost of a record, from the tables of the study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.runtime.files import read_table

from dev.markdown import markdown_rows

if TYPE_CHECKING:
    import pandas as pd

TABLES = {"Lognormal regression, n = 2000": (1, 10, 4), "Beta(0.5, 3), n = 2000": (2, 11, 5), "Counts, n = 1000": (3, 12, 6)}
"""Numbers of the tables with medians, smallest and largest values over data sets, for each population."""
RATES = {"lognormal regression": 7, "Beta(0.5, 3)": 8, "Poisson(100)": 9}
"""Number of the table with the slopes of contraction, for each population."""
SLOPES = {"slope": "over all n", "last_slope": "between the two largest n"}
"""Statistics in the tables of slopes, with the titles of their columns on the page."""
COLUMNS = {
    "claimed": "claimed ε", "claimed_larger": "larger claim", "remove": "leaves", "add": "joins",
    "strict_remove": "leaves, δ = 10⁻⁵", "strict_add": "joins, δ = 10⁻⁵", "pure": "largest, δ = 0", "attacked": "attacked",
    "weight": "mean weight", "ecdf_max": "max-ECDF",
}  # fmt: skip
"""Statistics in the tables, with the titles of their columns on the page."""


def cost_part(folder: Path) -> str | None:
    """Write the part of the page that contains the numbers, as Markdown; return None if a table is missing.

    Args:
        folder: folder with the tables of the study.
    """
    numbers = [*(number for three in TABLES.values() for number in three), *RATES.values()]
    if not all((folder / f"table{number}.csv").exists() for number in numbers):
        return None
    tables = {number: _by_name(read_table(folder / f"table{number}.csv")) for number in numbers}
    parts = [
        "Medians over data sets, with the smallest and largest values. All ε, including claims, are for adding or removing one "
        "record. Audits use δ = 0.001 unless another δ is named. PH is named by its ε for replacing a record, twice its claim."
    ]
    for title, (middle, low, high) in TABLES.items():
        parts += [f"**{title}**", _costs(tables[middle], tables[low], tables[high])]
    parts += [
        "Decrease of the standard deviation of Δ over data sets as n grows: slope of its logarithm on log n, ± its error.",
        _slopes(tables),
    ]
    return "\n\n".join(parts)


def _by_name(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index(["synthesizer", "statistic"])


def _costs(middle: pd.DataFrame, low: pd.DataFrame, high: pd.DataFrame) -> str:
    """Write a row for each synthesizer."""
    shown = [name for name in COLUMNS if name in middle.index.get_level_values(1)]
    rows = [["mechanism", *(COLUMNS[name] for name in shown)], ["---", *["---:"] * len(shown)]]
    for id in dict.fromkeys(middle.index.get_level_values(0)):
        label = str(middle.loc[id, "label"].iloc[0])
        rows.append(
            [label, *(_cell(*(float(table.loc[(id, name), "estimate"]) for table in (middle, low, high))) for name in shown)]
        )
    return markdown_rows(rows)


def _slopes(tables: Mapping[int, pd.DataFrame]) -> str:
    """Write a row for each synthesizer and population, with a column for each kind of slope."""
    kinds = [name for name in SLOPES if name in tables[next(iter(RATES.values()))].index.get_level_values(1)]
    rows = [["population", "mechanism", *(SLOPES[name] for name in kinds)], ["---", "---", *["---:"] * len(kinds)]]
    for title, number in RATES.items():
        table = tables[number]
        for id in dict.fromkeys(table.index.get_level_values(0)):
            slopes = [table.loc[(id, name)] for name in kinds]
            shown = [f"{row['estimate']:.2f} ± {row['mcse']:.2f}".replace("-", "−") for row in slopes]
            rows.append([title, str(table.loc[id, "label"].iloc[0]), *shown])
    return markdown_rows(rows)


def _cell(middle: float, low: float, high: float) -> str:
    if math.isnan(middle):
        return ""
    shown = [_number(value) for value in (middle, low, high)]
    return shown[0] if len(set(shown)) == 1 else f"{shown[0]} ({shown[1]} to {shown[2]})"


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"
