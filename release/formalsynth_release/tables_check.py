"""Warnings about what noisy tables change in a file, for the command ``check``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.text import DataError
from formalsynth.settings.messages import ConfigError
from formalsynth_release.analyses import estimates
from formalsynth_release.declarations import check_analyses
from formalsynth_release.levels import levels_of
from formalsynth_release.margins import inside_levels
from formalsynth_release.schema import Analyses, Column
from formalsynth_release.study import Declared, Schema, read_analyses

if TYPE_CHECKING:
    import pandas as pd

SHIFTED = 1.0
"""Standard errors by which drawing inside bins may change an estimate."""
MORE_BINS = "Declare more bins, or a bin for each value if frequent values are at one end of their bins."
NONE = Analyses(quantiles=[])
"""Analyses that replace invalid ones."""


def warnings(declared: Declared, table: pd.DataFrame) -> Iterator[str]:
    """Warn about estimates that bins change."""
    try:
        analyses = read_analyses(declared.folder)
    except ConfigError:
        analyses = NONE
    yield from _binned(declared.schema, analyses, table)


def _binned(schema: Schema, analyses: Analyses, table: pd.DataFrame) -> Iterator[str]:
    """Warn about means and declared analyses that would change if numbers were drawn again in their bins, without noise."""
    numbers = {name: column for name, column in schema.released.items() if column.type != "category"}
    try:
        check_analyses(schema.public, analyses)
    except DataError:
        analyses = NONE
    analyses = analyses.model_copy(update={"means": list(numbers)})
    drawn = table.assign(**{name: drawn_again(column, table[name]) for name, column in numbers.items()})
    after = estimates(schema, analyses, drawn)
    for name, (value, error) in estimates(schema, analyses, table).items():
        shift = after[name][0] - value
        if abs(shift) > SHIFTED * error:
            change, spread = (float(f"{number:.2g}") for number in (shift, error))
            yield (
                f"{name}: noisy tables draw values anywhere in their bins, which would change it by {change:+g} "
                f"(standard error: {spread:g}). {MORE_BINS}"
            )


def drawn_again(column: Column, values: pd.Series) -> pd.Series:
    """Draw numbers again in their bins, whose counts stay the same; each part of a bin gets its share of the values."""
    levels = levels_of(column)
    places = levels.of(values)
    amounts = (places >= 0) & (places < len(levels))
    there = np.flatnonzero(amounts)
    order = there[np.lexsort((np.random.default_rng(0).random(len(there)), places[there]))]
    place, counts = places[order], np.bincount(places[there], minlength=len(levels))
    within = (np.arange(len(order)) - (np.cumsum(counts) - counts)[place] + 0.5) / counts[place]
    drawn = np.full(len(values), np.nan)
    drawn[order] = levels.values(place, inside_levels(levels, counts / max(counts.sum(), 1), place, within))
    return values.astype(float).where(~amounts, drawn)
