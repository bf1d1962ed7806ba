"""The negative binomial distribution by its mean ``mu`` and ``phi``: its variance is ``mu + mu^2 / phi``.

Its dispersion has the half-Cauchy prior on ``1 / phi`` of the reweight paper (Supplement 2, whose script leaves out the lower
bound 0).
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from formalsynth.core.arrays import Array, Integers
from formalsynth.families._counts import CountFamily


class NegativeBinomial(CountFamily):
    """The negative binomial distribution by its mean and phi."""

    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts."""
        mean, phi = arguments
        values: Array = -betaln(phi, x + 1) - np.log(x + phi) - phi * np.log1p(mean / phi) - x * np.log1p(phi / mean)
        return values

    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """Both tails."""
        from scipy.stats import nbinom

        mean, phi = arguments
        return nbinom.cdf(x, phi, phi / (phi + mean)), nbinom.sf(x, phi, phi / (phi + mean))

    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Integers:
        """Random counts."""
        mean, phi = arguments
        return generator.negative_binomial(phi, phi / (phi + mean), size)


def moments(y: Array, weight: Array) -> tuple[float, float]:
    """Mean and ``1 / phi`` from the weighted moments, kept away from 0 and infinity."""
    mean = max(float(np.average(y, weights=weight)), 1e-3)
    variance = float(np.average((y - mean) ** 2, weights=weight))
    return mean, float(np.clip((variance - mean) / mean**2, 1e-3, 1e3))
