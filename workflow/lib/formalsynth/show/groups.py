"""Groups of the rows of a table, with keys of a single type."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import pandas as pd


def by_name(table: pd.DataFrame, column: str) -> list[tuple[str, pd.DataFrame]]:
    """Group rows by a text column, in the order of the table."""
    return [(str(name), rows) for name, rows in table.groupby(column, sort=False)]


def by_number(table: pd.DataFrame, column: str) -> list[tuple[float, pd.DataFrame]]:
    """Group rows by a numeric column, in ascending order."""
    return [(float(cast("float", number)), rows) for number, rows in table.groupby(column)]
