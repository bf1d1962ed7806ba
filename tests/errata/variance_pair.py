"""Pair of data sets for E3, E9 and E10, as in the zcdp paper; they differ in one record, and therefore in mean and variance."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array

N, D = 1000, 4.0
"""Number of records, and bound on their absolute values, as in Figure 1 of the paper."""
HIGH = 16
"""Number of records at the upper bound in the second data set, for a variance near 1."""


def neighbours() -> tuple[Array, Array]:
    """Two data sets (n,) with 15 and 16 values at d and all others at -d; their variances are 0.947 and 1.009."""
    larger = np.repeat([D, -D], [HIGH, N - HIGH])
    smaller = larger.copy()
    smaller[0] = -D
    return smaller, larger


def variances() -> tuple[float, float]:
    """Sample variances of both data sets, with denominator n - 1."""
    smaller, larger = (float(data.var(ddof=1)) for data in neighbours())
    return smaller, larger
