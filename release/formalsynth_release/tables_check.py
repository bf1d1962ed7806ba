"""Warnings about what noisy tables change in a file, for the command ``check``."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from formalsynth_release.levels import levels_of
from formalsynth_release.margins import inside_levels
from formalsynth_release.schema import Column, PublicSchema


def warnings(schema: PublicSchema, table: pd.DataFrame) -> Iterator[str]:
    """Warn about means that drawing numbers again in their bins, without noise, changes by more than their standard error."""
    for name, column in schema.released.items():
        if column.type == "category" or (values := column.amounts(table[name])).nunique() < 2:
            continue
        error, drawn = float(values.std() / values.count() ** 0.5), functools.partial(drawn_again, column, table[name])
        # the second one needs SciPy, which takes as long to import as a check
        shifts = ((shift := column.amounts(drawn(smooth)).mean() - values.mean()) for smooth in (False, True))
        if all(abs(found) > error for found in shifts):
            change, of = (float(f"{number:.2g}") for number in (shift, error))
            moved = f"draw values anywhere in their bins, which would change it by {change:+g} (standard error: {of:g})"
            more = "Declare more bins, or a bin for each value if frequent values are at one end of their bins"
            yield f"mean of {name}: noisy tables {moved}. {more}."


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
