"""95 % intervals from noisy tables alone: they assume no family, only that the records are a random sample.

A table shows how many records are in each bin, and nothing about where they are within it. So a share has an interval if its
threshold is an edge of a bin, a quantile has one that consists of whole bins, and a mean has one if all values have limits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array
from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth.core.normal import NORMAL_95
from formalsynth.core.private import PublicTables
from formalsynth.inference.intervals import CONTRADICTED

MISSED = 0.1
"""Probability that the test of fit does not detect a misfit of the size that is stated."""


class Limits(NamedTuple):
    """Lower and upper end of a 95 % interval; an end is infinite if the table does not bound it."""

    low: float
    high: float


NO_LIMITS = Limits(-math.inf, math.inf)
"""Limits of values that can be any number."""


@dataclass(frozen=True)
class OutcomeTable:
    """Noisy counts of the outcome's bins."""

    edges: Array
    """(bins + 1,) edges in the unit of the outcome; values beyond the first and the last one are in the end bins."""
    counts: Array
    """(bins,) noisy counts."""
    variance: float
    """Variance of the noise of each."""
    limits: Limits = NO_LIMITS
    """Smallest and largest possible value."""
    whole: bool = False
    """True if values are whole numbers."""

    @classmethod
    def of(cls, public: PublicTables, limits: Limits = NO_LIMITS, whole: bool = False) -> OutcomeTable:
        """Add up the tables over the bins of the predictors; with several tables, take their mean.

        Args:
            public: noisy tables.
            limits: smallest and largest possible value, if they are known without the records.
            whole: True if values are whole numbers.
        """
        tables, rows, _ = public.noisy.outcome.shape
        edges = np.exp(public.outcome.edges) if public.outcome.log else public.outcome.edges
        counts = public.noisy.outcome.sum(axis=1).mean(axis=0)
        return cls(edges, counts, discrete_laplace_variance(public.scale) * rows / tables, limits, whole)

    def share_below(self, edge: float) -> Limits | None:
        """Compute the interval of the share of values below an edge; None if it is not an edge between two bins.

        It has to be equal to an edge: many values can be at a number next to it. For whole numbers, edges are rounded up.
        Source: score interval of Wilson (1927), with the variance of the noise.
        """
        inner = np.ceil(self.edges[1:-1]) if self.whole else self.edges[1:-1]
        equal = np.flatnonzero(inner == (math.ceil(edge) if self.whole else edge))
        return self._share(int(equal[-1]) + 1) if len(equal) else None

    def _share(self, bins: int) -> Limits:
        """Interval of the share of the values in the first bins."""
        below, total, noise = float(self.counts[:bins].sum()), float(self.counts.sum()), self.variance * bins
        number = max(total, 0.0)
        return _inverted(below, total, (self.variance * len(self.counts) - number, noise - number / 2, noise), Limits(0, 1))

    def quantile(self, level: float) -> Limits:
        """Compute the interval of a quantile, from the edges at which the share of values below is not that of the level.

        Both ends are searched for from outside. So an end is wrong only if the edge next to the quantile is rejected, and the
        level of the interval holds without a correction for the number of edges.
        """
        shares = [self._share(bins) for bins in range(1, len(self.counts))]
        above = next((k for k, share in enumerate(shares) if share.high >= level), len(shares))
        below = next((k for k, share in enumerate(reversed(shares)) if share.low <= level), len(shares))
        low = self.edges[above] if above else self.limits.low
        high = self.edges[-1 - below] if below else self.limits.high
        return Limits(max(float(low), self.limits.low), min(float(high), self.limits.high))

    def mean(self) -> Limits | None:
        """Compute the interval of the mean; None if values have no limits, since a few far ones can have any mean.

        The ends are those for values that are all at the lower, and all at the upper ends of their bins.
        """
        if not all(map(math.isfinite, self.limits)):
            return None
        ends = np.clip(np.concatenate([[self.limits.low], self.edges[1:-1], [self.limits.high]]), *self.limits)
        lower, upper = (np.ceil(ends[:-1]), np.append(np.ceil(ends[1:-1]) - 1, ends[-1])) if self.whole else (ends[:-1], ends[1:])
        return Limits(self._mean_of(lower).low, self._mean_of(np.maximum(lower, upper)).high)

    def undetected(self, values: Array, left: int) -> float:
        """Compute how far a misfit can move the mean of values (bins,) and still pass the test of fit in a tenth of releases.

        Args:
            values: a value for each bin: 1 and 0 for a share, the middles of bins for the mean.
            left: number of noisy counts minus number of free values of the family.
        """
        needed = float(special.chndtrinc(special.chdtri(left, CONTRADICTED), left, MISSED))
        variances = np.maximum(self.counts, 0) + self.variance
        centred = values - variances @ values / variances.sum()
        return math.sqrt(needed * float(variances @ centred**2)) / max(float(self.counts.sum()), 1.0)

    @property
    def middles(self) -> Array:
        """Middles (bins,) of the bins."""
        middles: Array = (self.edges[1:] + self.edges[:-1]) / 2
        return middles

    def _mean_of(self, values: Array) -> Limits:
        """Interval of the mean of values (bins,) that are the same within a bin."""
        spread = np.maximum(self.counts, 0) + self.variance
        squares = float(spread.sum()), float(spread @ values), float(spread @ values**2)
        return _inverted(float(self.counts @ values), float(self.counts.sum()), squares, Limits(values.min(), values.max()))


def _inverted(sum_of: float, total: float, squares: tuple[float, float, float], limits: Limits) -> Limits:
    """Return the means m that a test does not reject: ``(sum - m total)**2 <= z**2 (s0 m**2 - 2 s1 m + s2)``.

    Args:
        sum_of: noisy sum of the values.
        total: noisy number of records.
        squares: s0, s1, s2 of the variance of ``sum - m total``.
        limits: smallest and largest possible mean.

    Source: Fieller (1954).
    """
    if total <= 0:
        return limits
    at, z = float(np.clip(sum_of / total, *limits)), NORMAL_95**2
    a = total**2 - z * squares[0]
    if a <= 0:
        return limits
    b, c = at * total**2 - z * squares[1], (at * total) ** 2 - z * squares[2]
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return Limits(max((b - root) / a, limits.low), min((b + root) / a, limits.high))
