"""Associations of pairs: rank correlations, and Cramer's V of categories without an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth_release.layout import Layout

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 5
"""Number of rank groups into which a column of numbers is divided for Cramer's V."""


def associations(layout: Layout, rows: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Array:
    """Compute the association (pairs,) of each pair: rank correlation of columns with an order, otherwise Cramer's V."""
    places: Mapping[str, tuple[Integers, bool]] = layout.variable_places(rows)
    return np.array([association(places[first], places[second]) for first, second in pairs])


def association(ours: tuple[Integers, bool], theirs: tuple[Integers, bool]) -> float:
    """Compute the association of two columns, given as levels and True if these have an order; 0 if one is constant."""
    from scipy import stats  # takes as long to load as a third of the package

    there = (ours[0] >= 0) & (theirs[0] >= 0)
    (first, first_ordered), (second, second_ordered) = ((levels[there], ordered) for levels, ordered in (ours, theirs))
    if min(len(np.unique(first)), len(np.unique(second))) < 2:
        return 0.0
    if first_ordered and second_ordered:
        return float(stats.spearmanr(first, second).statistic)
    groups = [_ranks(column) if ordered else column for column, ordered in ((first, first_ordered), (second, second_ordered))]
    return float(stats.contingency.association(stats.contingency.crosstab(*groups).count, method="cramer"))


def _ranks(levels: Integers) -> Integers:
    """Divide levels (n,) into groups of ranks."""
    from scipy.stats import rankdata

    return np.minimum(rankdata(levels) * GROUPS // len(levels), GROUPS - 1).astype(np.int64)
