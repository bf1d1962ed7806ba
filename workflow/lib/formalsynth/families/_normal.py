"""Intervals and predictive values of normal and lognormal distributions whose means are linear in the predictors."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from formalsynth.core.arrays import Array, Draws
from formalsynth.core.constraints import Allowed

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
POSITIVE = Allowed("numbers > 0", lambda x: bool((x > 0).all()))


def log_interval_probability(design: Array, draws: Draws, lower: Array, upper: Array, log: bool) -> Array:
    """Log probability (S, n) of the intervals, with full relative accuracy in both tails; ``log`` if lognormal."""
    ends = log_ends(lower, upper) if log else (lower, upper)
    mean = draws["beta"] @ design.T
    low, high = ((end - mean) / draws["sigma"][:, None] for end in ends)
    # Above the mean, the upper tail is the smaller one: mirror both ends there.
    sign = np.where(low > 0, -1.0, 1.0)
    low *= sign
    high *= sign
    probability: Array = ndtr(high)
    probability -= ndtr(low)
    probability *= sign
    tiny = probability < 1e-290
    with np.errstate(divide="ignore"):
        result = np.log(probability, out=probability)
    if tiny.any():
        a, b = log_ndtr(np.maximum(low[tiny], high[tiny])), log_ndtr(np.minimum(low[tiny], high[tiny]))
        with np.errstate(divide="ignore", invalid="ignore"):
            result[tiny] = a + np.log1p(-np.exp(b - a))
    return result


def log_ends(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Logarithms of the ends of intervals, of which only the positive part counts."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(lower, 0)), np.log(np.maximum(upper, 0))


def predict(generator: np.random.Generator, design: Array, draws: Draws, log: bool) -> Array:
    """Predictive values (S, n); ``log`` if lognormal."""
    mean = draws["beta"] @ design.T
    values: Array = generator.standard_normal(mean.shape)
    values *= draws["sigma"][:, None]
    values += mean
    if log:
        np.exp(values, out=values)
    return values
