"""Negative binomial distribution with mean ``mu`` and variance ``mu + mu^2 / phi``.

The prior on the dispersion ``1 / phi`` is the half-Cauchy prior of the reweight paper (Supplement 2, whose script omits the lower
bound 0).
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import gammaln

from formalsynth.core.arrays import Array, Index, Integers, blocks
from formalsynth.core.clipped import clipped_records
from formalsynth.core.family import StanData
from formalsynth.families._counts import CountFamily

DENSE = 16
"""Largest ratio of the maximum to the number of counts at which one table of sums is fastest."""
NARROW = 64
"""Number of columns below which cumulative sums along them are faster than adding row by row."""
NEAR = 16
"""Count up to which logarithms are summed; above it, Stirling's series has full precision."""


class NegativeBinomial(CountFamily):
    """Negative binomial distribution, parametrised by its mean and phi."""

    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts; as phi grows, it converges to the Poisson one in full precision."""
        mean, phi = arguments
        excess = np.log1p(mean / phi)
        values = log_rising(x, 1 / phi)
        values += np.multiply(x, np.log(mean) - excess, out=np.empty_like(values))
        values -= phi * excess
        values -= gammaln(x + 1)
        return values

    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """Both tails."""
        from scipy.stats import nbinom

        mean, phi = arguments
        probability = phi / (phi + mean)
        return np.asarray(nbinom.cdf(x, phi, probability)), np.asarray(nbinom.sf(x, phi, probability))

    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Integers:
        """Random counts: Poisson counts whose means have a gamma distribution."""
        mean, phi = arguments
        rates = np.empty(size)
        for row, shape in zip(rates, phi[:, 0], strict=True):
            generator.standard_gamma(shape, out=row)
        rates *= mean / phi
        return generator.poisson(rates)


def clipped_counts(x: Array, weights: Array, threshold: float | None, group: Index) -> StanData:
    """Build the data of the censored counts (n,), of which those with positive weight have a group (m,) each."""
    return clipped_records(lambda kept: np.column_stack([np.ones(len(kept)), -gammaln(x[kept] + 1)]), weights, threshold, group)


def moments(y: Array, weight: Array) -> tuple[float, float]:
    """Mean and ``1 / phi`` from the weighted moments, bounded away from 0 and infinity."""
    mean = max(float(np.average(y, weights=weight)), 1e-3)
    variance = float(np.average((y - mean) ** 2, weights=weight))
    return mean, float(np.clip((variance - mean) / mean**2, 1e-3, 1e3))


def log_rising(x: Array, r: Array) -> Array:
    """``sum over j < x of log1p(j r)``: ``log Gamma(x + 1 / r) - log Gamma(1 / r) + x log r``, whose terms cancel for a small r.

    Args:
        x: counts; those that are not finite have no defined value.
        r: positive numbers, broadcast against the counts.
    """
    x = np.asarray(x, dtype=float)
    known = np.isfinite(x)
    least, most = x.min(initial=np.inf, where=known), x.max(initial=0, where=known)
    if x.ndim == 1 and r.ndim == 2 and r.shape[1] == 1 and known.all() and most <= DENSE * len(x):
        return _cumulated(x.astype(np.intp), r[:, 0])
    values: Array = np.zeros(np.broadcast_shapes(x.shape, r.shape))
    for j in range(1, min(NEAR, int(most))):
        term = np.log1p(j * r)
        values += term if j < least else np.where(x > j, term, 0.0)
    if most > NEAR:
        beyond = _stirling(x, r)
        beyond -= _stirling(np.float64(NEAR), r)
        values += beyond if least >= NEAR else np.where(x > NEAR, beyond, 0.0)
    return values


def _cumulated(x: Index, r: Array) -> Array:
    """Compute :func:`log_rising` (S, n) of counts (n,) for each r (S,), from sums over all smaller counts, a few at a time."""
    values, total = np.empty((len(x), len(r))), np.zeros(len(r))
    for block in blocks(int(x.max(initial=0)) + 1, len(r)):
        table = np.multiply.outer(np.arange(block.start, block.stop) - 1.0, r)
        table += 1
        table[: max(0, 2 - block.start)] = 1
        np.log(table, out=table)
        table[0] += total
        if len(r) < NARROW:
            np.cumsum(table, axis=0, out=table)
        else:
            for before, row in itertools.pairwise(table):
                row += before
        total = table[-1]
        here = np.flatnonzero((x >= block.start) & (x < block.stop))
        values[here] = table[x[here] - block.start]
    return values.T


def _stirling(x: Array | np.float64, r: Array) -> Array:
    """Compute :func:`log_rising` for counts from :data:`NEAR` on, up to a constant that is the same for all counts."""
    z = x * r
    s = r / (1 + z)
    s2 = s * s
    values: Array = s2 / 1188
    for divisor in (-1680, 1260, -360):
        values += 1 / divisor
        values *= s2
    values += 1 / 12
    values *= s
    values += (x - 0.5 + 1 / r) * np.log1p(z)
    values -= x
    return values
