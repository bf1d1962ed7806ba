"""Distributions of single columns from noisy counts."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from formalsynth.core.arrays import Array
from formalsynth.core.private import discrete_laplace_variance
from formalsynth.custodian.levels import Levels

STIFFNESSES = np.geomspace(0.1, 1000, 5)
"""Penalties on second differences of log counts that are tried."""
LEAST = 0.05
"""Smallest fitted count."""
STEPS, CLOSE = 60, 1e-6
"""Largest number of steps of a fit, and the change of log counts at which it ends."""


def shares_of(levels: Levels, numbers: Array, scale: float) -> Array:
    """Shares (levels,) from noisy counts: runs of bins are smoothed as far as the noise asks for, other levels are cut at 0.

    Args:
        levels: levels of the column.
        numbers: (levels,) noisy counts.
        scale: scale of their noise.
    """
    counts = np.maximum(numbers, 0.0)
    for run in levels.smooth:
        if run.stop - run.start > 3:
            counts[run] = smoothed(numbers[run], discrete_laplace_variance(scale))
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(levels), 1 / len(levels))


def smoothed(noisy: Array, variance: float) -> Array:
    """Smooth noisy counts (k,) of adjacent bins.

    Log counts have a penalty on their second differences, which the marginal likelihood chooses (Laplace's approximation);
    the likelihood is normal with the variance of the noise and of the count.
    """
    second = np.diff(np.eye(len(noisy)), 2, axis=0)
    penalty = second.T @ second
    best = max((_fit(noisy, variance, stiffness * penalty, stiffness) for stiffness in STIFFNESSES), key=lambda pair: pair[0])
    return best[1]


def _fit(noisy: Array, noise: float, penalty: Array, stiffness: float) -> tuple[float, Array]:
    """Log marginal likelihood of a stiffness, and the fitted counts (k,), by iterated least squares of the log counts."""
    point = np.log(np.maximum(noisy, max(noisy.mean(), 1.0) / 10))
    for _ in range(STEPS):
        rate = np.exp(point)
        weight = rate**2 / (rate + noise)
        newer = linalg.solve(np.diag(weight) + penalty, weight * (point + (noisy - rate) / rate), assume_a="pos")
        step = np.clip(newer - point, -1.0, 1.0)
        point = np.maximum(point + step, np.log(LEAST))
        if np.abs(step).max() < CLOSE:
            break
    rate = np.exp(point)
    variance = rate + noise
    curvature = np.diag(rate**2 / variance) + penalty
    loss = ((noisy - rate) ** 2 / variance).sum() + np.log(variance).sum() + point @ penalty @ point
    size = np.log(np.maximum(linalg.eigvalsh(curvature), 1e-12)).sum()
    return float((len(noisy) - 2) * np.log(stiffness) - loss - size) / 2, rate
