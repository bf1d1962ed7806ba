"""Warnings about what noisy tables change in a file, for the command ``check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.analyses import estimates
from formalsynth_release.levels import levels_of
from formalsynth_release.margins import inside_levels
from formalsynth_release.schema import Analyses, Column, PublicSchema

if TYPE_CHECKING:
    import pandas as pd

SHIFTED = 1.0
"""Standard errors by which drawing inside bins may change an estimate."""
MORE_BINS = "Declare more bins, or a bin for each value if frequent values are at one end of their bins."


def warnings(schema: PublicSchema, analyses: Analyses, table: pd.DataFrame) -> Iterator[str]:
    """Warn about means and declared analyses that would change if numbers were drawn again in their bins, without noise."""
    varying = [name for name in schema.released if table[name].nunique() > 1]
    numbers = {name: column for name, column in schema.released.items() if column.type != "category" and name in varying}
    analyses = (analyses if schema.outcome in varying else Analyses(quantiles=[])).model_copy(update={"means": list(numbers)})
    before, shifts = estimates(schema, analyses, table), dict[str, float]()
    for smooth in (False, True):  # the second one needs SciPy, which takes as long to import as a check
        drawn = table.assign(**{name: drawn_again(column, table[name], smooth) for name, column in numbers.items()})
        shifts = {name: value - before[name][0] for name, (value, _) in estimates(schema, analyses, drawn).items()}
        shifts = {name: shift for name, shift in shifts.items() if abs(shift) > SHIFTED * before[name][1]}
        if not shifts:
            return
    for name, shift in shifts.items():
        yield (
            f"{name}: noisy tables draw values anywhere in their bins, which would change it by {float(f'{shift:.2g}'):+g} "
            f"(standard error: {float(f'{before[name][1]:.2g}'):g}). {MORE_BINS}"
        )


def drawn_again(column: Column, values: pd.Series, smooth: bool = True) -> pd.Series:
    """Draw numbers again in their bins, whose counts stay the same; each part of a bin gets its share of the values.

    Args:
        column: the column.
        values: its values.
        smooth: whether the density follows adjacent bins, as in a release; otherwise it is the same in all of a bin.
    """
    levels = levels_of(column)
    places = levels.of(values)
    amounts = (places >= 0) & (places < len(levels))
    there = np.flatnonzero(amounts)
    order = there[np.lexsort((np.random.default_rng(0).random(len(there)), places[there]))]
    place, counts = places[order], np.bincount(places[there], minlength=len(levels))
    within = (np.arange(len(order)) - (np.cumsum(counts) - counts)[place] + 0.5) / counts[place]
    if smooth:
        within = inside_levels(levels, counts / max(counts.sum(), 1), place, within)
    drawn = np.full(len(values), np.nan)
    drawn[order] = levels.values(place, within)
    return values.astype(float).where(~amounts, drawn)
