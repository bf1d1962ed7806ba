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
    from scipy.stats.contingency import association as scipy_association  # takes as long to load as a third of the package

    (first, first_ordered), (second, second_ordered) = ours, theirs
    counts = _counts(first, second)
    if not (first_ordered and second_ordered):
        counts = _grouped(counts) if first_ordered else counts
        counts = _grouped(counts.T) if second_ordered else counts
    if min(counts.shape) < 2:
        return 0.0
    return _rank_correlation(counts) if first_ordered and second_ordered else float(scipy_association(counts, method="cramer"))


def _counts(first: Integers, second: Integers) -> Integers:
    """Count the rows with each pair of levels; levels that no row has are left out."""
    there = (first >= 0) & (second >= 0)
    shape = int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1
    counts = np.bincount(first[there] * shape[1] + second[there], minlength=shape[0] * shape[1]).reshape(shape)
    return counts[np.ix_(counts.any(axis=1), counts.any(axis=0))]


def _grouped(counts: Integers) -> Integers:
    """Sum the rows of a table by groups of ranks."""
    group = np.minimum(_ranks(counts.sum(axis=1)) * GROUPS // counts.sum(), GROUPS - 1)
    return np.add.reduceat(counts, np.flatnonzero(np.diff(group, prepend=-1)))


def _ranks(counts: Integers) -> Array:
    """Return the mean rank (levels,) of the rows of each level."""
    return np.asarray(np.cumsum(counts) - (counts - 1) / 2)


def _rank_correlation(counts: Integers) -> float:
    ours, theirs = counts.sum(axis=1), counts.sum(axis=0)
    middle = (counts.sum() + 1) / 2
    first, second = _ranks(ours) - middle, _ranks(theirs) - middle
    return float(first @ counts @ second / np.sqrt((ours @ first**2) * (theirs @ second**2)))
