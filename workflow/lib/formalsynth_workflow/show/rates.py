"""Rate at which a column contracts as samples grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import FEWEST, jackknife


def rate(groups: Mapping[float, Array]) -> tuple[float, float]:
    """Slope of the log standard deviation on log n, with its standard error.

    NaN with fewer than two sample sizes or fewer than ten values at one of them, or if the values at a sample size are constant.

    Args:
        groups: values (R,) by sample size.
    """
    values = list(groups.values())
    if len(values) < 2 or min(map(len, values)) < FEWEST or not all(map(np.ptp, values)):
        return float("nan"), float("nan")
    x = np.log(np.array(list(groups), dtype=float))
    x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    spreads, errors = np.transpose([spread(group) for group in values])
    return float(np.log(spreads) @ x), float(np.sqrt(errors**2 @ x**2))


def spread(values: Array) -> tuple[float, float]:
    """Compute the standard deviation of values (R,), and the standard error of its logarithm; NaN for few values."""
    error = float(jackknife(values[:, None], "sd").error(np.log)[0]) if len(values) >= FEWEST else float("nan")
    return float(np.std(values, ddof=1)), error
