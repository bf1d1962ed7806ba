"""Sampled pseudo posteriors, for families without exact ones, including families that use a user's own Stan program.

The posteriors of D and of the refined neighbours are sampled, and their loss comes from bridge sampling. To rank many
neighbours, the draws of D are reweighted to the posterior of each neighbour, as long as they cover it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.bridge import Bridged, bridge, ratio_of_targets
from formalsynth.core.arrays import Array, Draws, Records, count, take
from formalsynth.core.centring import Reference, centred
from formalsynth.core.family import Family, whole
from formalsynth.engine.chain import Sampler

LARGEST_SEED = 2**31 - 2
"""Stan's largest seed minus 1."""
COVERED = 0.1
"""Smallest effective share of the draws of D at which they are reweighted to the posterior of a neighbour."""


@dataclass(eq=False)
class SampledPosterior:
    """Pseudo posterior with draws that are made on demand."""

    weights: Array
    """(N,) likelihood weights over the universe."""
    threshold: float | None
    near: SampledPosterior | None = None
    """Sampled posterior whose draws may be reweighted to this one for ranking."""
    draws: Draws | None = None
    effective: float = float("nan")
    """Effective sample size of the draws."""
    factors: tuple[Array, Array | None] | None = None
    """Log-likelihood of the universe under the draws, as two factors or complete; cached for posteriors with many comparisons."""


class SampledPosteriors:
    """Pseudo posteriors of one family over one universe of records, from a sampler."""

    dimension = 1

    def __init__(self, family: Family, universe: Records, priors: Mapping[str, float], sampler: Sampler, seed: int) -> None:
        """Set the inputs that all fits share.

        Args:
            family: the family.
            universe: the N records of D and all its neighbours.
            priors: parameters of the family's prior.
            sampler: function that samples a posterior.
            seed: sampler seed of posteriors without children.
        """
        self._family, self._universe, self._priors = family, universe, priors
        self._sampler, self._seed = sampler, seed

    def posterior(self, weights: Array, threshold: float | None = None) -> SampledPosterior:
        """Pseudo posterior, not yet sampled."""
        return SampledPosterior(weights, threshold)

    def close_to(self, near: SampledPosterior, weights: Array, threshold: float | None) -> SampledPosterior:
        """Pseudo posterior for ranking; it is sampled only if the draws of a near posterior do not cover it."""
        return SampledPosterior(weights, threshold, near)

    def relative_to(self, reference: Reference) -> SampledPosteriors:
        """Pseudo posteriors of differences from the log-likelihood at a reference."""
        return SampledPosteriors(centred(self._family, reference), self._universe, self._priors, self._sampler, self._seed)

    def draws(self, posterior: SampledPosterior, uniforms: Array) -> dict[str, Array]:
        """Draws of a posterior; the uniform numbers determine its seed, or the selection from the draws of the near posterior.

        Raises:
            ValueError: sampling failed.
        """
        if posterior.draws is None and posterior.near is not None:
            ratio = self._ratio(posterior.near, posterior, posterior.near)
            shares = _shares(ratio)
            if _covered(shares):
                steps = (uniforms.ravel()[0] + np.arange(len(shares))) / len(shares)
                assert posterior.near.draws is not None
                chosen = np.minimum(np.searchsorted(np.cumsum(shares), steps), len(shares) - 1)
                return dict(take(posterior.near.draws, chosen))
        return dict(self._sampled(posterior, 1 + int(uniforms.ravel()[0] * LARGEST_SEED)))

    def divergence(self, base: SampledPosterior, other: SampledPosterior) -> float:
        """Larger of the two mean losses, from reweighted draws of ``base`` if they cover ``other``.

        Raises:
            ValueError: sampling of ``other`` failed.
        """
        self._cache_factors(base)
        if other.draws is None:
            ratio = self._ratio(base, base, other)
            shares = _shares(-ratio)
            if _covered(shares):
                least = float((-ratio).max())
                loss = ratio + least + np.log(np.exp(-ratio - least).mean())
                return max(float(loss.mean()), float(-shares @ loss))
        bridged = self._bridged(base, other)
        low, high = bridged.limits
        return max(high - bridged.log_ratio, bridged.log_ratio - low)

    def losses(self, base: Sequence[SampledPosterior], other: Sequence[SampledPosterior], seed: int = 0) -> Bridged:
        """Privacy loss between two posteriors.

        Raises:
            ValueError: a side is a mixture of several posteriors, a log-likelihood is infinite, or sampling failed.
        """
        if len(base) != 1 or len(other) != 1:
            raise ValueError("the loss between mixtures of posteriors needs exact posteriors")
        return self._bridged(base[0], other[0])

    def _bridged(self, base: SampledPosterior, other: SampledPosterior) -> Bridged:
        for posterior in (base, other):
            self._sampled(posterior, self._seed)
        self._cache_factors(base)
        sizes = base.effective, other.effective
        return bridge(self._ratio(base, base, other), self._ratio(other, base, other), sizes)

    def _sampled(self, posterior: SampledPosterior, seed: int) -> Draws:
        """Make the draws of a posterior, once."""
        if posterior.draws is None:
            positive = np.flatnonzero(posterior.weights > 0)
            records, weights = self._universe.take(positive), posterior.weights[positive]
            data = self._family.stan_data(records, weights, self._priors, posterior.threshold)
            posterior.draws, effective = self._sampler(data, seed)
            posterior.effective = min(effective, float(count(posterior.draws)))
        return posterior.draws

    def _ratio(self, at: SampledPosterior, base: SampledPosterior, other: SampledPosterior) -> Array:
        """Log ratio (S,) of the unnormalised densities of two posteriors at draws of ``at``."""
        thresholds = base.threshold, other.threshold
        return ratio_of_targets(*self._factors(at), base.weights, other.weights, thresholds)

    def _cache_factors(self, posterior: SampledPosterior) -> None:
        self._sampled(posterior, self._seed)
        posterior.factors = self._factors(posterior)

    def _factors(self, posterior: SampledPosterior) -> tuple[Array, Array | None]:
        if posterior.factors is not None:
            return posterior.factors
        assert posterior.draws is not None
        if evaluated := whole(self._family):
            return evaluated.log_likelihood(self._universe, posterior.draws), None
        return self._family.factors(self._universe, posterior.draws)


def _shares(log_weights: Array) -> Array:
    """Normalised weights (S,)."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _covered(shares: Array) -> bool:
    """Check whether the effective share of weighted draws is sufficient."""
    return bool(np.isfinite(shares).all() and 1 / (shares @ shares) >= COVERED * len(shares))
