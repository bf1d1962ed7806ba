"""Rate of contraction of a column as samples grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import FEWEST, jackknife


def rate(groups: Mapping[float, Array]) -> tuple[float, float]:
    """Slope of the log standard deviation on log n with its standard error.

    NaN below two sample sizes or ten values at one of them, or where nothing varies.

    Args:
        groups: the values (R,) by sample size.
    """
    values = list(groups.values())
    if len(values) < 2 or min(map(len, values)) < FEWEST or not all(map(np.ptp, values)):
        return float("nan"), float("nan")
    x = np.log(np.array(list(groups), dtype=float))
    x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    spread = np.log([float(np.std(group, ddof=1)) for group in values])
    errors = np.array([float(jackknife(group[:, None], "sd").error(np.log)[0]) for group in values])
    return float(spread @ x), float(np.sqrt(errors**2 @ x**2))
