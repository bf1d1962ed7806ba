"""Discrete Laplace distribution."""

from __future__ import annotations

import math


def discrete_laplace_variance(scale: float) -> float:
    """Variance of discrete Laplace noise."""
    ratio = math.exp(-1 / scale)
    return 2 * ratio / math.expm1(-1 / scale) ** 2
