"""Base of both Beta families: their data terms, and all methods that need only the two shapes."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.clipped import clipped_in_ranges_of_groups
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, array_in, number_in

SMALLEST = np.finfo(float).tiny
LARGEST = 1 - np.finfo(float).epsneg
"""Ends of (0, 1) in floating point; values at 0 and 1 are moved to them to keep every log-likelihood finite."""
NO_RANGES: StanData = {"m": 0, **{name: np.empty(0) for name in ("low", "high", "at", "times", "base", "range_group")}}
"""Data of a fit without ranges."""


def beta_terms(x: Array) -> Array:
    """Three data terms (n, 3) of the Beta log density: ``log x``, ``log(1 - x)`` and 1."""
    x = inside(x)
    return np.column_stack([np.log(x), np.log1p(-x), np.ones_like(x)])


def inside(x: Array) -> Array:
    """Values clipped to the open interval (0, 1)."""
    return np.clip(x, SMALLEST, LARGEST)


def beta_coefficients(shape1: Array, shape2: Array) -> Array:
    """Coefficients of these terms: ``shape1 - 1``, ``shape2 - 1`` and ``-log B(shape1, shape2)``, along a new last axis."""
    return np.stack([shape1 - 1, shape2 - 1, -betaln(shape1, shape2)], axis=-1)


class BetaShapes:
    """Base of both Beta families: all methods that need only the two shapes of each draw (and record)."""

    censors = True
    outcomes = Allowed("numbers from 0 to 1", lambda x: bool(((x >= 0) & (x <= 1)).all()))

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes, (S, n), or (S, 1) if all records share them."""
        raise NotImplementedError

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the distinct ranges of the records with equal shapes, and a group and an offset of each record."""
        n = int(number_in(data, "n"))
        groups = {"terms": np.zeros((n, 1)), "group": data.get("group", np.ones(n, dtype=int))}
        ranged = clipped_in_ranges_of_groups(groups, weights, np.maximum(low, 0), np.minimum(high, 1), base)
        of_records = {"base": array_in(ranged, "terms")[:, 0], "range_group": ranged["group"]}
        return {**data, **of_records, **{name: ranged[name] for name in NO_RANGES if name in ranged}}

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability of the intervals, from the side with the smaller tail."""
        from scipy.stats import beta

        distribution = beta(*self.shapes(records, draws))
        low, high = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
        probability = np.where(
            distribution.cdf(low) > 0.5,
            distribution.sf(low) - distribution.sf(high),
            distribution.cdf(high) - distribution.cdf(low),
        )
        with np.errstate(divide="ignore"):
            result: Array = np.log(probability)
        return result

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n)."""
        shape1, shape2 = self.shapes(records, draws)
        size = (len(shape1), len(records.x))
        return generator.beta(np.broadcast_to(shape1, size), np.broadcast_to(shape2, size))
