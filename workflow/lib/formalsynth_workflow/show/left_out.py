"""Values that a figure leaves out, with reasons: failed replicates, infinite values, and values off a logarithmic axis."""

from __future__ import annotations

import numpy as np

from formalsynth_workflow.show.figure import Figure
from formalsynth_workflow.show.types import DataFrame, Series

ABSENT = "absent"
"""Column with the reason for leaving out a row; empty for rows that are drawn."""
PLACES = ("value", "x", "claimed")
"""Columns of a tidy table that place a mark."""
FAILED, INFINITE, NOT_POSITIVE = "failed", "infinite", "no value above 0"
"""Reasons for leaving out values."""
NOTHING = "no values"
"""Text of a drawing without values or reasons."""


def with_reasons(figure: Figure, table: DataFrame) -> DataFrame:
    """Add the column ``absent`` to a tidy table, and make the values missing that are left out.

    Rows that lack a value, but have no reason, are dropped.
    """
    import pandas as pd

    failed = _failures(table) if "reason" in table else np.full(len(table), "")
    infinite = np.isinf(table[[name for name in PLACES if name in table]].to_numpy(float)).any(axis=1)
    if figure.COUNTS_INFINITE:
        finite = pd.Series(table["value"].notna() & ~infinite).groupby(table["label"])
        infinite &= ~finite.transform("any").to_numpy(bool)
    reasons = np.where(table["value"].isna(), failed, np.where(infinite, INFINITE, ""))
    table = table.assign(value=table["value"].astype(float).where(reasons == ""), **{ABSENT: reasons})
    marks = figure.logarithmic(table)
    if marks is not None:
        below = (marks <= 0) & table["value"].notna()
        table = table.assign(value=table["value"].mask(below), **{ABSENT: table[ABSENT].mask(below, NOT_POSITIVE)})
    density = table["density"].notna() if "density" in table else False
    return table[table["value"].notna() | (table[ABSENT] != "") | density]


def _failures(table: DataFrame) -> Series:
    """Return the reason of the first failure of each label, in the rows that failed."""
    reasons = f"{FAILED} (" + table.groupby("label")["reason"].transform("first").astype(str) + ")"
    return reasons.where(table["reason"].notna(), "")


def drawn_rows(table: DataFrame) -> DataFrame:
    """Return the rows that are drawn, as they were before :func:`with_reasons` added its column."""
    return table[table[ABSENT] == ""].drop(columns=ABSENT)


def is_empty(table: DataFrame) -> bool:
    """Return True if a table has neither values nor points of exact densities."""
    return bool(table["value"].isna().all() and ("density" not in table or table["density"].isna().all()))


def counted(table: DataFrame) -> list[str]:
    """Return each reason in a table, with the number of rows left out for it; without the number if no row is left."""
    counts = table.loc[table[ABSENT] != "", ABSENT].value_counts(sort=False)
    if len(counts) == 1 and table["value"].isna().all():
        return [str(counts.index[0])]
    return [f"{count} of {len(table)}: {reason}" for reason, count in counts.items()]


def by_label(table: DataFrame) -> list[str]:
    """Return a sentence for each label with values that are left out; ``table`` is made by :func:`with_reasons`."""
    if table[ABSENT].eq("").all():
        return []
    groups = table.groupby("label", sort=False)
    return [f"{label}: {'; '.join(words)}" for label, rows in groups if (words := counted(rows))]


def empty_words(table: DataFrame) -> str:
    """Return the text of a drawing without values."""
    return "; ".join(table.loc[table[ABSENT] != "", ABSENT].unique()) or NOTHING
