"""Distance between two samples from one population: no synthetic data set needs to be closer."""

from __future__ import annotations

import math

KOLMOGOROV = 0.8275735551899059
"""Median of Kolmogorov's distribution."""


def two_samples(n: int) -> dict[str, float]:
    """Distances between the empirical distribution functions of two samples of n values from one continuous population.

    Returns:
        ``ecdf_max``, the median of the largest distance for large n (Kolmogorov 1933), and ``ecdf_avg``, the mean of the mean
        squared distance over the stacked values: ``(2 / n) E[F (1 - F)]`` = 1 / (3 n), up to terms of order 1 / n^2.
    """
    return {"ecdf_max": KOLMOGOROV * math.sqrt(2 / n), "ecdf_avg": 1 / (3 * n)}
