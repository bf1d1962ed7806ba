"""From collected tables to the values that a claim compares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth.ledger.claims import Claim


class ClaimError(ValueError):
    """A claim speaks of something that the tables do not have."""


def values_of(claim: Claim, tables: Sequence[pd.DataFrame]) -> tuple[Array, int]:
    """Values (units, cells) that a claim compares, units with a value in every cell only, and the number of replicates.

    Args:
        claim: the claim.
        tables: the collected table that it speaks of, for each of its scenarios.

    Raises:
        ClaimError: a column, a cell or every unit is missing.
    """
    estimate = claim.estimate
    table = _rows(claim, tables)
    replicates = int(table["replicate"].nunique()) if "replicate" in table else 0
    table, wanted = _long(claim, table)
    by = _column(claim, table, estimate.by)
    wide = table.assign(unit=by).pivot_table(index="unit", columns=estimate.over, values="it", aggfunc="mean", sort=False)
    needed = [*wanted, DATA] if estimate.distance == DATA and DATA not in wanted else wanted
    missing = [str(cell) for cell in needed if cell not in wide]
    if missing:
        there = ", ".join(map(str, wide))
        raise ClaimError(f"{claim.id}: no rows for {estimate.over} {', '.join(missing)}; there are {there}")
    wide = wide[needed].replace([np.inf, -np.inf], np.nan).dropna()
    if wide.empty:
        raise ClaimError(f"{claim.id}: no {estimate.by} has a value in every cell")
    values = _against(claim, wide)[wanted].to_numpy(float)
    return values, len(wide) if estimate.by == "replicate" or not replicates else replicates


def _rows(claim: Claim, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows that a claim speaks of, with names in the place of the scenarios' ids."""
    names = {scenario.id: scenario.name for scenario in claim.scenarios}
    table = pd.concat(tables, ignore_index=True)
    table = table.assign(scenario=table["scenario"].map(names)) if "scenario" in table else table
    for column, value in claim.estimate.rows.items():
        table = table[_column(claim, table, column) == value]
    return table


def _long(claim: Claim, table: pd.DataFrame) -> tuple[pd.DataFrame, list[object]]:
    """The table with the values in the column ``it``, and the cells from left to right."""
    estimate = claim.estimate
    if estimate.over == "value":
        table = table.melt([estimate.by], list(estimate.value), var_name="value_of", value_name="one")
        return table.rename(columns={"value_of": "value", "one": "it"}), list(estimate.value)
    table = table.assign(it=_column(claim, table, estimate.value[0]))
    return table, list(estimate.of) or sorted(_column(claim, table, estimate.over).unique())


def _column(claim: Claim, table: pd.DataFrame, column: str) -> pd.Series:
    if column not in table:
        raise ClaimError(f"{claim.id}: no column {column!r}; there are {', '.join(table)}")
    return table[column]


def _against(claim: Claim, wide: pd.DataFrame) -> pd.DataFrame:
    """Values as the claim wants them: as they are, as distances to a reference, or as shares of each cell's largest."""
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
