"""Utility of a synthetic data set compared with the confidential one.

Source: censor paper (arXiv:2205.05003), Section 4.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array, read_only
from formalsynth.core.registry import Registry
from formalsynth.core.statistics import statistics_of_sets

UTILITY = ("mean", "median", "q15", "q90")
"""Statistics of each data set, by column name; quantiles are of type 7."""
COLUMNS = (*UTILITY, "ecdf_max", "ecdf_avg")
"""Utility columns of ``replicates.csv``."""
CENTRES = tuple(f"{name}_centre" for name in UTILITY)
"""Columns with means of the statistics over synthetic data sets, in tables of scenarios that request them."""
NAME = r"[a-z][a-z0-9_]*"
"""Pattern of the names of own statistics, which become columns."""
Statistic = Callable[[Array], float]
"""Function of one data set (n,) that returns a finite number."""


@dataclass(frozen=True)
class OwnUtility:
    """A user's own utility statistic."""

    name: str
    statistic: Statistic
    label: str
    meaning: str


OWN_UTILITY: Registry[OwnUtility] = Registry("utility statistic")
"""Utility statistics that scenarios select by name: ``sd``, ``q99``, and those of users' code files."""


def utility(name: str, label: str = "", meaning: str = "") -> Callable[[Statistic], Statistic]:
    """Register a user's own utility statistic: a column of ``replicates.csv`` in scenarios that name it.

    Args:
        name: name of the column.
        label: name in figures, tables and the report; by default, the name of the column.
        meaning: one or two sentences for the report.

    Raises:
        DuplicateError: another statistic has this name.
        ValueError: it cannot be the name of a new column.
    """
    if not re.fullmatch(NAME, name) or name in (*COLUMNS, *CENTRES):
        raise ValueError(
            f"utility statistic {name!r}: allowed: lower-case letters, digits and _, and not the name of an existing column"
        )

    def register(statistic: Statistic) -> Statistic:
        entry = OwnUtility(name, statistic, label or name, meaning or f"A utility statistic of this study: {name}.")
        OWN_UTILITY.add(name, entry, statistic.__module__)
        return statistic

    return register


@utility("sd", "Standard deviation", "The standard deviation of a data set; it shows whether the spread is preserved.")
def _standard_deviation(x: Array) -> float:
    return float(np.std(x, ddof=1))


@utility("q99", "99 % quantile", "The 99 % quantile of a data set; it shows whether the upper tail is preserved.")
def _upper_tail(x: Array) -> float:
    return float(np.quantile(x, 0.99))


def own_utility(x: Array, names: Sequence[str]) -> dict[str, float]:
    """Compute own statistics of one data set (n,), by name; all are NaN if the data are not finite."""
    if not np.isfinite(x).all():
        return dict.fromkeys(names, float("nan"))
    return {name: float(OWN_UTILITY[name].statistic(read_only(x))) for name in names}


def statistics(x: Array) -> dict[str, float]:
    """Compute every statistic of one data set (n,)."""
    return {name: float(value) for name, value in statistics_of_sets(x, UTILITY).items()}


def statistics_by_set(sets: Array) -> Array:
    """Compute every statistic (m, statistics) of m data sets (m, n)."""
    return np.column_stack(list(statistics_of_sets(sets, UTILITY).values()))


def centres(synthetic: Array) -> dict[str, float]:
    """Compute the mean of every statistic over synthetic data sets (m, n)."""
    values = statistics_of_sets(synthetic, UTILITY)
    return {column: float(values[name].mean()) for name, column in zip(UTILITY, CENTRES, strict=True)}


def utility_columns(data: Array, synthetic: Array) -> dict[str, float]:
    """Compute statistics of the synthetic data and its distances from the confidential data; all are NaN if not finite."""
    if not np.isfinite(synthetic).all():
        return dict.fromkeys(COLUMNS, float("nan"))
    largest, average = ecdf_distances(data, synthetic)
    return statistics(synthetic) | {"ecdf_max": largest, "ecdf_avg": average}


def ecdf_distances(data: Array, synthetic: Array) -> tuple[float, float]:
    """Compute the largest absolute and the mean squared difference of the two empirical distribution functions.

    Both are taken over the stacked data and synthetic values (censor paper, Section 4). The text of the range paper has
    "average difference", but the papers that it follows use the square.
    """
    at = np.concatenate([data, synthetic])
    order = at.argsort()
    ordered = at[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    # up to and including each distinct value
    stacked, drawn = last + 1, np.cumsum(order >= len(data))[last]
    steps = (stacked - drawn) / len(data) - drawn / len(synthetic)
    difference = np.empty(len(at))
    difference[order] = np.repeat(steps, np.diff(stacked, prepend=0))
    return float(np.abs(difference).max()), float(np.mean(difference**2))
