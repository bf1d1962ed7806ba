"""A pair of data sets of the zcdp paper's kind that differ in one record, in mean and in variance: E3, E9 and E10 share it."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array

N, D = 1000, 4.0
"""Records, and the bound of their values: those of Figure 1 of the paper."""
HIGH = 16
"""Records at the upper bound in the larger of the two, so that its variance is near 1."""


def neighbours() -> tuple[Array, Array]:
    """Two data sets (n,): all values at -d but 16, or 15, at d. Their variances are 0.947 and 1.009, the smaller first."""
    larger = np.repeat([D, -D], [HIGH, N - HIGH])
    smaller = larger.copy()
    smaller[0] = -D
    return smaller, larger


def variances() -> tuple[float, float]:
    """Their sample variances, denominator n - 1."""
    smaller, larger = (float(data.var(ddof=1)) for data in neighbours())
    return smaller, larger
