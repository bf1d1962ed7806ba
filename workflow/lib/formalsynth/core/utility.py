"""Utility of a synthetic data set against the confidential one."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import statistics_of_sets

UTILITY = ("mean", "median", "q15", "q90")
"""Statistics of each data set, by column name; quantiles are of type 7."""
COLUMNS = (*UTILITY, "ecdf_max", "ecdf_avg")
"""Utility columns of ``replicates.csv``."""
CENTRES = tuple(f"{name}_centre" for name in UTILITY)
"""Columns of means of the statistics over synthetic data sets, in tables of scenarios that request them."""


def statistics(x: Array) -> dict[str, float]:
    """Every statistic of one data set (n,)."""
    return {name: float(value) for name, value in statistics_of_sets(x, UTILITY).items()}


def statistics_by_set(sets: Array) -> Array:
    """Every statistic (m, statistics) of m data sets (m, n)."""
    return np.column_stack(list(statistics_of_sets(sets, UTILITY).values()))


def centres(synthetic: Array) -> dict[str, float]:
    """Mean of every statistic over synthetic data sets (m, n)."""
    values = statistics_of_sets(synthetic, UTILITY)
    return {column: float(values[name].mean()) for name, column in zip(UTILITY, CENTRES, strict=True)}


def utility(data: Array, synthetic: Array) -> dict[str, float]:
    """Statistics of the synthetic data and its distances to the confidential data; NaN throughout if not finite."""
    if not np.isfinite(synthetic).all():
        return dict.fromkeys(COLUMNS, float("nan"))
    largest, average = ecdf_distances(data, synthetic)
    return statistics(synthetic) | {"ecdf_max": largest, "ecdf_avg": average}


def ecdf_distances(data: Array, synthetic: Array) -> tuple[float, float]:
    """Largest absolute and mean squared difference of the two empirical distribution functions.

    Both are taken over the stacked data and synthetic values (censor paper, Section 4). The text of the range paper has
    "average difference", but the papers that it follows use the square.
    """
    at = np.concatenate([data, synthetic])
    order = at.argsort()
    ordered = at[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    # up to and with each distinct value
    stacked, drawn = last + 1, np.cumsum(order >= len(data))[last]
    steps = (stacked - drawn) / len(data) - drawn / len(synthetic)
    difference = np.empty(len(at))
    difference[order] = np.repeat(steps, np.diff(stacked, prepend=0))
    return float(np.abs(difference).max()), float(np.mean(difference**2))
