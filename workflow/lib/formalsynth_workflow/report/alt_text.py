"""Alternative text of a figure, for readers who cannot see it: medians in their order, from its tidy table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.words import counted
from formalsynth_workflow.report.formats import number

if TYPE_CHECKING:
    import pandas as pd

MOST = 3
"""Number of frames whose medians are listed; the caption and the table cover the others."""


def alt_text(path: Path) -> str:
    """List the medians of the groups of a figure from the largest to the smallest, frame by frame; for lines, those at both ends.

    Args:
        path: the tidy table of the figure.

    Returns:
        The medians; empty text for a table without groups of values.
    """
    import pandas as pd

    table = pd.read_csv(path)
    if not {"label", "value"} <= set(table) or table["value"].isna().all():
        return ""
    by = [name for name in ("part", "panel", "scenario") if name in table and table[name].nunique() > 1]
    frames = list(table.fillna(dict.fromkeys(by, "")).groupby(by, sort=False)) if by else [((), table)]
    texts = [": ".join([*filter(None, [", ".join(map(str, name))]), _medians(part)]) for name, part in frames[:MOST]]
    rest = len(frames) - MOST
    more = f"; {counted(rest, 'more frame')}" if rest > 0 else ""
    return f"Medians, the largest first: {'; '.join(texts)}{more}."


def _medians(table: pd.DataFrame) -> str:
    """List the median of each label; for a line, its medians at the smallest and the largest x."""
    lines = "x" in table and "at" not in table and not {"record", "density"} & set(table) and table["x"].nunique() > 1
    medians = table.groupby("label", sort=False)["value"].median().dropna().sort_values(ascending=False, kind="stable")
    if not lines:
        return ", ".join(f"{label} {number(value)}" for label, value in medians.items())
    ends = table[table["x"].isin([table["x"].min(), table["x"].max()])].groupby(["label", "x"])["value"].median()
    return ", ".join(
        f"{label} {' to '.join(number(value) for value in ends.loc[label])}" for label in medians.index if label in ends
    )
