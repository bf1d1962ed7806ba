"""Gaussian noise: its cost in (epsilon, delta)-DP, and the noise required for a budget.

The formulas are short, so no accounting library is needed. The tests compare them with numerical integration, simulated
privacy losses and values from such a library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # imports its submodules on first use
from scipy import special

from formalsynth.core.arrays import Array


def gaussian_delta(sigma: float | Array, sensitivity: float | Array, epsilon: float | Array) -> Any:
    """Smallest delta at which Gaussian noise gives (epsilon, delta)-DP: exact, for every epsilon >= 0.

    Args:
        sigma: standard deviation of the noise.
        sensitivity: largest Euclidean distance of the statistic between neighbours, in the units of ``sigma``.
        epsilon: privacy budget.

    Source: Balle and Wang 2018 (arXiv:1805.06530), Theorem 8.
    """
    check_positive(sigma=sigma, sensitivity=sensitivity)
    ratio = np.asarray(sensitivity) / sigma
    with np.errstate(over="ignore"):  # negligible sensitivity: delta 0
        upper, lower = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return np.maximum(special.ndtr(upper) - np.exp(epsilon + special.log_ndtr(lower)), 0.0)[()]


def gaussian_epsilon(sigma: float, sensitivity: float, delta: float) -> float:
    """Smallest epsilon at which Gaussian noise gives (epsilon, delta)-DP; arguments as in :func:`gaussian_delta`."""
    check_positive(sigma=sigma, sensitivity=sensitivity)
    return smallest_epsilon(lambda epsilon: gaussian_delta(sigma, sensitivity, epsilon), delta)


def analytic_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """Smallest standard deviation of Gaussian noise that gives (epsilon, delta)-DP, for every epsilon > 0.

    The result always meets the curve: ``gaussian_delta(analytic_sigma(s, e, d), s, e) <= d``.

    Args:
        sensitivity: largest Euclidean distance of the statistic between neighbours.
        epsilon: privacy budget.
        delta: in (0, 1).

    Raises:
        ValueError: an argument is outside its range.

    Source: Balle and Wang 2018 (arXiv:1805.06530), Algorithm 1, solved as a root of the exact curve.
    """
    check_positive(sensitivity=sensitivity, epsilon=epsilon)
    check_delta(delta)

    def excess(log_sigma: float) -> float:
        return float(gaussian_delta(math.exp(log_sigma), 1.0, epsilon)) - delta

    low = high = 0.0
    while excess(high) > 0:
        high += 1
    while excess(low) < 0:
        low -= 1
    sigma = sensitivity * math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-13) if high > low else low)
    while gaussian_delta(sigma, sensitivity, epsilon) > delta:  # the last bits of the root may be on the wrong side
        sigma *= 1 + 1e-12
    return sigma


def classical_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """Classical calibration ``sensitivity sqrt(2 log(1.25 / delta)) / epsilon``.

    It is proved only for epsilon < 1. For larger epsilon, check the result with :func:`gaussian_delta`: up to a crossing that
    depends on delta it wastes noise, and beyond it gives less privacy than stated. Arguments as in :func:`analytic_sigma`.

    Source: Dwork and Roth 2014 (doi:10.1561/0400000042), Theorem A.1.
    """
    check_positive(sensitivity=sensitivity, epsilon=epsilon)
    check_delta(delta)
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def smallest_epsilon(curve: Callable[[float], float], delta: float) -> float:
    """Smallest epsilon >= 0 with ``curve(epsilon) <= delta`` for a decreasing privacy curve."""
    check_delta(delta)
    if curve(0.0) <= delta:
        return 0.0
    high = 1.0
    while curve(high) > delta:
        high *= 2
    return float(scipy.optimize.brentq(lambda epsilon: curve(epsilon) - delta, 0.0, high, xtol=1e-12))


def check_positive(**values: float | Array) -> None:
    """Check that numbers are positive and finite; keywords are their names in the message.

    Raises:
        ValueError: a number is not positive and finite.
    """
    for name, value in values.items():
        if not (np.all(np.asarray(value) > 0) and np.all(np.isfinite(value))):
            raise ValueError(f"{name} must be positive and finite, got {value}")


def check_delta(delta: float) -> None:
    """Check a failure probability.

    Raises:
        ValueError: the probability is outside (0, 1).
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be in (0, 1), got {delta}")
