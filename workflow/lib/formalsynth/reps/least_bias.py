"""Weights of least bias under caps on influence and a bound on its inequality (REPS paper, Section 4.2, problem 1).

A record of weight w whose influence is r at weight 1 has the influence ``w r``. Among all weights that satisfy the constraints,
those with the smallest bound of the bias, ``sum (1 - w_i) r_i / n``, give the influence ``min(r_i, cap_i, t)``: every record
keeps what its own cap allows, up to a level t that is common to all.

On raw data, this analyses one fixed data set: a cap or a level computed from other records' influences makes weights depend on
other records. In a release, they are declared or computed from noisy tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy  # imports its submodules on first use

from formalsynth.core.arrays import Array

Measure = Literal["max_over_median", "gini"]


def gini(values: Array) -> float:
    """Gini coefficient of nonnegative values (n,): 0 if all are equal, and if all are 0."""
    ordered, n = np.sort(values), len(values)
    total = float(ordered.sum())
    return max(0.0, float((2 * np.arange(1, n + 1) - n - 1) @ ordered) / (n * total)) if total > 0 else 0.0


def max_over_median(values: Array) -> float:
    """Ratio of the maximum to the median of nonnegative values (n,): 1 if all are 0, infinite if only the median is 0."""
    largest, median = float(np.max(values)), float(np.median(values))
    return largest / median if median > 0 else 1.0 if largest == 0 else np.inf


def quantile_gap(values: Array, low: float = 0.5, high: float = 0.9) -> float:
    """Difference of two quantiles of values (n,): not a measure to constrain.

    A bound on it costs least if the values between the lower quantile and the upper one are cut and those above the upper one are
    left alone. The records that are most at risk keep their influence.
    """
    return float(np.quantile(values, high) - np.quantile(values, low))


MEASURES: dict[Measure, Callable[[Array], float]] = {"max_over_median": max_over_median, "gini": gini}
"""Measures of inequality that :func:`least_biased_weights` can bound."""


def least_biased_weights(
    influence: Array,
    cap: float | Array = np.inf,
    *,
    measure: Measure | None = None,
    bound: float = np.inf,
    cost: Callable[[float], float] = float,
    inverse: Callable[[float], float] = float,
) -> Array:
    """Weights (n,) in [0, 1] with the smallest bias among those that satisfy the caps and the bound on inequality.

    Args:
        influence: (n,) influence of each record at weight 1, nonnegative.
        cap: largest influence, common or for each record (n,): for example smaller for records at high risk.
        measure: measure of inequality to bound; None for none.
        bound: largest value of the measure: at least 1 for ``max_over_median``, at least 0 for ``gini``.
        cost: increasing function from influence to the compared quantity, such as epsilon; for ``max_over_median`` only.
        inverse: inverse of ``cost``.

    Raises:
        ValueError: the bound excludes equal influences, or an influence is negative.

    Source: ours; the problem is (1) in the REPS paper. With caps alone, ``w_i <= c / r_i`` is the equalization of Section 5.2.
    """
    least = {"max_over_median": 1.0, "gini": 0.0}.get(measure or "", -np.inf)
    if bound < least or np.min(influence, initial=0.0) < 0:
        raise ValueError(f"bound: given {bound:g}; allowed: at least {least:g}; influences must not be negative")
    allowed = np.minimum(influence, cap)
    level = np.inf
    if measure == "max_over_median":
        level = inverse(bound * cost(float(np.median(allowed))))
    elif measure == "gini" and gini(allowed) > bound:
        level = _level_of_gini(allowed, bound)
    return np.divide(np.minimum(allowed, level), influence, out=np.ones_like(influence), where=influence > 0)


def _level_of_gini(allowed: Array, bound: float) -> float:
    """Level t at which ``min(allowed, t)`` has the Gini coefficient ``bound``; 0 if zeros alone exceed the bound."""
    low = float(allowed[allowed > 0].min())  # up to here, all positive influences are equal
    if gini(np.minimum(allowed, low)) > bound:
        return 0.0
    return float(scipy.optimize.brentq(lambda t: gini(np.minimum(allowed, t)) - bound, low, float(allowed.max()), xtol=1e-14))
