"""Groups of the rows of a table, with keys of a single type."""

from __future__ import annotations

from typing import cast

from formalsynth_workflow.show.types import DataFrame


def by_name(table: DataFrame, column: str) -> list[tuple[str, DataFrame]]:
    """Group rows by a text column, in the order of the table."""
    return [(str(name), rows) for name, rows in table.groupby(column, sort=False)]


def by_number(table: DataFrame, column: str) -> list[tuple[float, DataFrame]]:
    """Group rows by a numeric column, in ascending order."""
    return [(float(cast("float", number)), rows) for number, rows in table.groupby(column)]
