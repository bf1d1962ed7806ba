"""Values that a claim compares, extracted from collected tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth.core.words import equation
from formalsynth_workflow.ledger.claims import Claim


class ClaimError(ValueError):
    """Error for a claim that refers to a column or cell that the tables do not contain."""


class NoRowsError(ValueError):
    """Error for a cell without a result because all its fits or replicates failed; its message becomes the note in the ledger."""


PLANNED = ("synthesizer", "n", "scenario", "replicate")
"""Columns whose values the plan has checked, so a cell without rows in the table does not mean an error in config."""


class Compared(NamedTuple):
    """Values that a claim compares."""

    values: Array
    """(units, cells) values, for the units that have a value in every cell."""
    replicates: int
    names: tuple[str, ...]
    """Names of the cells."""
    lost: tuple[int, ...]
    """Replicates that have rows in every cell but lack a finite value in at least one."""


def values_of(claim: Claim, tables: Sequence[pd.DataFrame]) -> Compared:
    """Extract the values that a claim compares from the tables.

    Args:
        claim: the claim.
        tables: the collected table for each of its scenarios.

    Raises:
        ClaimError: a column or a cell is missing.
        NoRowsError: a cell has no result.
    """
    estimate = claim.estimate
    table = _rows(claim, tables)
    replicates = int(table["replicate"].nunique()) if "replicate" in table else 0
    table, wanted = _long(claim, table)
    finite = table["result"].replace([np.inf, -np.inf], np.nan)
    by = _column(claim, table, estimate.by)
    wide = table.assign(unit=by, result=finite).pivot_table(
        index="unit", columns=estimate.over, values="result", aggfunc="mean", sort=False
    )
    needed = [*wanted, DATA] if estimate.distance == DATA and DATA not in wanted else wanted
    missing = [cell for cell in needed if cell not in wide]
    unknown = [cell for cell in missing if cell not in set(table[estimate.over])]
    if unknown and estimate.over not in PLANNED and not _failed(table):
        available = ", ".join(map(str, wide))
        raise ClaimError(f"{claim.id}: no rows for {estimate.over} {', '.join(map(str, unknown))}; allowed: {available}")
    wide = wide[[cell for cell in needed if cell in wide]].dropna()
    if missing or wide.empty:
        raise NoRowsError(_without_result(claim, missing))
    lost = _complete(table, by, estimate.over, needed).difference(wide.index) if estimate.by == "replicate" else ()
    values = _against(claim, wide)[wanted].to_numpy(float)
    if estimate.differences:
        values = values[:, ::2] - values[:, 1::2]
    return Compared(
        values, len(wide) if estimate.by == "replicate" or not replicates else replicates, _names(claim, wanted), tuple(lost)
    )


def _complete(table: pd.DataFrame, by: pd.Series, over: str, cells: Sequence[object]) -> pd.Index:
    """Units that have rows in every cell, with or without finite values."""
    counts = table.groupby([by, over]).size().unstack()
    return counts.index[counts[list(cells)].notna().all(axis=1)]


def _names(claim: Claim, cells: Sequence[object]) -> tuple[str, ...]:
    """Names of cells: the label if there is one; otherwise, a number is preceded by the name of its column."""
    names = []
    for cell in cells:
        number = float(cell) if isinstance(cell, int | float | np.number) else None
        text = str(cell) if number is None else f"{number:g}"
        name = text if isinstance(cell, str) else equation(claim.estimate.over, _plain(number) or text)
        names.append(claim.labels.get(text, name))
    if claim.estimate.differences:
        return tuple(f"{first} less {second}" for first, second in zip(names[::2], names[1::2], strict=True))
    return tuple(names)


def _plain(number: float | None) -> str:
    """Write an integer below 10 million without an exponent; empty text for other numbers."""
    return f"{number:.0f}" if number is not None and abs(number) < 1e7 and number.is_integer() else ""


def _rows(claim: Claim, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Select the rows of a claim, and replace the ids of scenarios by their names."""
    names = {scenario.id: scenario.name for scenario in claim.scenarios}
    table = pd.concat(tables, ignore_index=True)
    table = table.assign(scenario=table["scenario"].map(names)) if "scenario" in table else table
    for column, value in claim.estimate.rows.items():
        chosen = table[_column(claim, table, column) == value]
        if chosen.empty and column not in PLANNED and not table.empty and not _failed(table):
            available = ", ".join(map(str, table[column].unique()))
            raise ClaimError(f"{claim.id}: no rows with {column} {value}; allowed: {available}")
        table = chosen
    return table


def _failed(table: pd.DataFrame) -> bool:
    """Check whether any replicate failed; rows of failed replicates may have no value in the column that defines the cells."""
    return "status" in table and bool((table["status"] != "ok").any())


def _without_result(claim: Claim, cells: Sequence[object]) -> str:
    """Describe the cells without a result."""
    estimate = claim.estimate
    rows = [f"{column} {value}" for column, value in estimate.rows.items()]
    named = [f"{estimate.over} {' and '.join(map(str, cells))}"] if cells else [f"no {estimate.by} has a result in every cell"]
    return f"without a finite result: {', '.join([*rows, *named])}"


def _long(claim: Claim, table: pd.DataFrame) -> tuple[pd.DataFrame, list[object]]:
    """Return the table with the values in the column ``result``, and the cells from left to right."""
    estimate = claim.estimate
    if estimate.over == "value":
        table = table.melt([estimate.by], list(estimate.value), var_name="value_of", value_name="melted")
        return table.rename(columns={"value_of": "value", "melted": "result"}), list(estimate.value)
    table = table.assign(result=_column(claim, table, estimate.value[0]))
    return table, list(estimate.of) or sorted(_column(claim, table, estimate.over).unique())


def _column(claim: Claim, table: pd.DataFrame, column: str) -> pd.Series:
    if column not in table:
        raise ClaimError(f"{claim.id}: no column {column!r}; allowed: {', '.join(map(str, table))}")
    return table[column]


def _against(claim: Claim, wide: pd.DataFrame) -> pd.DataFrame:
    """Convert values to those that a claim compares: distances, shares of the cell's largest, 1 above a limit, or unchanged."""
    estimate = claim.estimate
    reference = estimate.distance
    if reference == DATA:
        data = wide[DATA] if estimate.by == "replicate" else wide[DATA].median()
        return wide.sub(data, axis=0).abs() if estimate.by == "replicate" else (wide - data).abs()
    if reference == "population":
        return (wide - claim.truth).abs()
    if reference is not None:
        return (wide - reference).abs()
    if estimate.of_largest:
        return wide / wide.max()
    if estimate.above is not None:
        return (wide > estimate.above).astype(float)
    return wide
