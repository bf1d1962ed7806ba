"""Privacy weights: from record risks to likelihood weights in [0, 1].

Source: range paper (arXiv:2602.04124).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from formalsynth.core.arrays import Array


def lipschitz_weights(risk: Array, c: float = 1.0, g: float = 0.0) -> Array:
    """Compute LW weights ``clip(c (1 - risk~) + g, 0, 1)``, with the risk min-max scaled over the records.

    Args:
        risk: (n,) the largest absolute log-likelihood of each record over the draws of the unweighted posterior.
        c: scale.
        g: shift.

    Returns:
        (n,) weights. A record whose risk is not finite has weight 0. If all risks are equal, weights are ``clip(c + g)``.

    Source: range paper, Section 1.1; the min-max form is the one that reproduces the printed bounds.
    """
    finite = np.isfinite(risk)
    if not finite.any():
        return np.zeros_like(risk)
    low, high = risk[finite].min(), risk[finite].max()
    scaled = np.zeros_like(risk)
    if high > low:
        scaled[finite] = (risk[finite] - low) / (high - low)
    return np.where(finite, np.clip(c * (1 - scaled) + g, 0, 1), 0.0)


def scaled_weights(risk: Array, scale: float) -> Array:
    """Weights ``clip(1 - risk / scale, 0, 1)``.

    Args:
        risk: (n,) the largest absolute log-likelihood of each record over the draws of the unweighted posterior.
        scale: the risk, in log-likelihood units, at and above which a record has weight 0.

    Returns:
        (n,) weights in [0, 1]: 1 for a record without risk, 0 for one whose risk is at least the scale.

    Raises:
        ValueError: the scale is not positive, or a risk is negative or not a number.
    """
    if not (scale > 0 and (risk >= 0).all()):
        raise ValueError("weights on a declared scale need a positive scale and nonnegative risks")
    weights: Array = np.maximum(1 - np.minimum(risk, scale) / scale, 0)
    return weights


def outside_share(predictive: Iterable[Array], low: Array, high: Array) -> Array:
    """Share of predictive values outside the sensitive range of each record, ``lambda_i``.

    Args:
        predictive: blocks (s, n) of the S predictive values at each record's predictors.
        low: (n,) lower ends.
        high: (n,) upper ends.

    Returns:
        (n,) shares.

    Source: range paper, Equation 2.
    """
    inside, n_draws = np.zeros(len(low)), 0
    for block in predictive:
        within = block >= low
        within &= block <= high
        inside += within.sum(axis=0, dtype=np.min_scalar_type(len(block)))
        n_draws += len(block)
    return np.asarray(1 - inside / n_draws)


def sensitive_range(x: Array, a: Array | float, b: Array | float) -> tuple[Array, Array]:
    """Compute ends ``a x`` and ``b x`` in increasing order, also for negative values; an infinite end stays infinite at x = 0.

    Raises:
        ValueError: a record is outside its own range.
    """
    if not (np.less_equal(a, 1).all() and np.greater_equal(b, 1).all()):
        raise ValueError("a sensitive range [a x, b x] that contains its record x needs a <= 1 <= b")
    first, second = (end * np.where(np.isinf(end) & (x == 0), 1.0, x) for end in (a, b))
    return np.minimum(first, second), np.maximum(first, second)
