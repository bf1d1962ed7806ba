"""Base of the count families.

Records enter the Stan programs as unique values with their summed weights; the cost of a fit does not grow with n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from scipy.special import gammaln, xlogy

from formalsynth.core.arrays import Array, Draws, Index, Integers, Records, distinct_rows, in_groups
from formalsynth.core.clipped import clipped_in_ranges_of_groups
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, array_in, number_in

TINY = 1e-280
"""Probability below which sums are computed on the log scale."""
NEGLIGIBLE = 40.0
"""Distance below a sum, on the log scale, at which a term no longer changes it in double precision."""
MEAN_PRIOR = {"shape": 1.0, "rate": 0.001}
"""Gamma prior on the mean: our choice, weak, and conjugate to the Poisson likelihood."""


class CountFamily(ABC):
    """Base of the count families: all methods that need only mean and dispersion."""

    outcomes = Allowed("whole numbers, 0 or more", lambda x: bool(((x >= 0) & (x == np.floor(x))).all()))

    @abstractmethod
    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean, and phi if the family has it, each (S, 1) or (S, n)."""

    @abstractmethod
    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts ``x``, broadcast against the arguments."""

    @abstractmethod
    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """``P(X <= x)`` and ``P(X > x)``, each with full relative accuracy."""

    @abstractmethod
    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Integers:
        """Random counts."""

    @staticmethod
    def largest_log_likelihood(x: Array) -> Array:
        """Log-likelihood (n,) of counts at the parameters that make each most probable.

        It is that of a Poisson distribution with the count as its mean: other count families here are mixtures of these.
        """
        return np.asarray(xlogy(x, x) - x - gammaln(x + 1))

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Log-likelihood of the u distinct records (S, u), and rows (n, u) of zeros and a single 1 that selects one of them."""
        first, inverse, _ = grouped(np.column_stack([records.x, records.design]))
        distinct = records.take(first)
        selects = in_groups(np.ones((len(inverse), 1)), inverse, len(first))
        return self.log_likelihood_of(distinct, draws), selects

    def log_likelihood_of(self, records: Records, draws: Draws) -> Array:
        """Log-likelihood (S, n)."""
        return self.log_probability(records.x, *self.arguments(records, draws))

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the distinct ranges of the clipped records as their first and last counts; the last of an open range is -1."""
        last = np.where(np.isfinite(high), np.floor(high), -1)
        ranged = clipped_in_ranges_of_groups(data, weights, np.maximum(np.ceil(low), 0), last, base)
        return {**ranged, **{end: array_in(ranged, end).astype(int) for end in ("low", "high")}}

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability (S, n) of the counts in the closed interval [lower, upper], accurate in both tails."""
        arguments = self.arguments(records, draws)
        shape = (len(arguments[0]), len(records.x))
        arguments = tuple(np.broadcast_to(argument, shape) for argument in arguments)
        first, last = (np.broadcast_to(end, shape) for end in (np.ceil(lower), np.floor(upper)))
        below, above = self.tails(first - 1, *arguments), self.tails(last, *arguments)
        # Above the mean the upper tail is smaller: use the difference of complements there.
        flip = first > arguments[0]
        probability = np.where(flip, below[1] - above[1], above[0] - below[0])
        with np.errstate(divide="ignore"):
            result = np.log(probability)
        tiny = (probability < TINY) & (first <= last)
        if tiny.any():
            start, step = np.where(flip, first, last)[tiny], np.where(flip, 1, -1)[tiny]
            result[tiny] = self._tail_sum(start, step, (last - first)[tiny], [argument[tiny] for argument in arguments])
        return result

    def _tail_sum(self, start: Array, step: Array, width: Array, arguments: list[Array]) -> Array:
        """Log of the sum of the probabilities from ``start``, at which they are largest, outwards."""
        total = self.log_probability(start, *arguments)
        active, k = np.flatnonzero((width > 0) & np.isfinite(total)), 0
        while len(active):
            k += 1
            at = start[active] + k * step[active]
            at_active = (argument[active] for argument in arguments)
            term = np.where(at >= 0, self.log_probability(np.maximum(at, 0), *at_active), -np.inf)
            total[active] = np.logaddexp(total[active], term)
            active = active[(k < width[active]) & (term > total[active] - NEGLIGIBLE)]
        return total

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive counts (S, n)."""
        arguments = self.arguments(records, draws)
        return self.simulate(generator, (len(arguments[0]), len(records.x)), *arguments).astype(float)


def grouped(rows: Array, weights: Array | None = None) -> tuple[Index, Index, Array]:
    """Group equal rows.

    Args:
        rows: (n, k) values.
        weights: (n,) weights of the rows; rows of weight 0 are dropped. None for equal weights.

    Returns:
        first: (u,) index of the first row of each group.
        inverse: (m,) group of each remaining row.
        summed: (u,) summed weights.
    """
    weights = np.ones(len(rows)) if weights is None else weights
    kept = np.flatnonzero(weights > 0)
    first, inverse = distinct_rows(rows[kept])
    summed: Array = np.bincount(inverse, weights[kept], minlength=len(first)).astype(float, copy=False)
    return kept[first], inverse, summed


def checked(x: Array, weights: Array) -> Array:
    """Check counts (n,) and return them.

    Raises:
        ValueError: they are not counts, or no record has weight.
    """
    if not (np.isfinite(x).all() and (x >= 0).all() and (x == np.floor(x)).all()):
        raise ValueError("a count family needs nonnegative whole numbers")
    if not weights.sum() > 0:
        raise ValueError("no record has a positive weight")
    return x


def mean_prior(priors: Mapping[str, float]) -> dict[str, float]:
    """Prior on the mean, under the names used by the Stan programs."""
    return {f"prior_{name}": priors[name] for name in MEAN_PRIOR}


def posterior_mean(stan_data: StanData, weighted_sum: float, weight_total: float) -> float:
    """Mean of the conjugate Poisson posterior: positive even when all counts are 0."""
    return (weighted_sum + number_in(stan_data, "prior_shape")) / (weight_total + number_in(stan_data, "prior_rate"))
