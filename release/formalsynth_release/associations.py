"""Associations of pairs: rank correlations, and Cramer's V of categories without an order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array, Integers
from formalsynth_release.layout import Layout

GROUPS = 5  # number of rank groups into which a column of numbers is divided for Cramer's V


def associations(layout: Layout, rows: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Array:
    """Compute the association (pairs,) of each pair: rank correlation of columns with an order, otherwise Cramer's V."""
    places = variable_places(layout, rows)
    return np.array([association(places[first], places[second]) for first, second in pairs])


def variable_places(layout: Layout, rows: pd.DataFrame) -> dict[str, tuple[Integers, bool]]:
    """Return the levels (n,) of each variable, below 0 where it has none, and True if they have an order."""
    places = layout.places(rows)
    return {name: (variable.places[places[variable.column]], variable.ordered) for name, variable in layout.variables().items()}


def association(ours: tuple[Integers, bool], theirs: tuple[Integers, bool]) -> float:
    """Compute the association of two columns, given as levels and True if these have an order; 0 if one is constant."""
    from scipy import stats  # takes as long to load as a third of the package

    there = (ours[0] >= 0) & (theirs[0] >= 0)
    (first, first_ordered), (second, second_ordered) = ((levels[there], ordered) for levels, ordered in (ours, theirs))
    if min(len(np.unique(first)), len(np.unique(second))) < 2:
        return 0.0
    if first_ordered and second_ordered:
        return float(stats.spearmanr(first, second).statistic)
    ranks = [np.minimum(stats.rankdata(of) * GROUPS // len(of), GROUPS - 1).astype(np.int64) for of in (first, second)]
    groups = [ranks[0] if first_ordered else first, ranks[1] if second_ordered else second]
    return float(stats.contingency.association(stats.contingency.crosstab(*groups).count, method="cramer"))
