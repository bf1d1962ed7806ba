"""Pseudo posteriors that are known by a sampler's draws alone: for every family without exact ones, own Stan programs among them.

The posteriors of D and of the neighbours that are computed in full are sampled, and their loss comes from bridge sampling. For
the first look at many neighbours the draws of D are enough as long as they cover the neighbour's posterior: reweighted, they
stand for its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.bridge import Bridged, bridge, ratio_of_targets
from formalsynth.core.arrays import Array, Draws, Records, count, take
from formalsynth.core.family import Family, StanData, whole

Sampler = Callable[[StanData, int], tuple[Draws, float]]
"""From data of a Stan program and a seed to draws and their effective sample size; a ValueError says why there are none."""
LARGEST_SEED = 2**31 - 2
"""Less one, of a sampler."""
COVERED = 0.1
"""Share of the draws of D that has to be effective for a neighbour's posterior, for them to stand for its own."""


@dataclass(eq=False)
class SampledPosterior:
    """A pseudo posterior: what it is, and its draws once they are wanted."""

    weights: Array
    """(N,) over the universe."""
    threshold: float | None
    near: SampledPosterior | None = None
    """A sampled posterior whose draws may stand for its own at a first look."""
    draws: Draws | None = None
    effective: float = float("nan")
    """Effective sample size of the draws."""
    factors: tuple[Array, Array | None] | None = None
    """Log-likelihood of the universe under the draws, as factors or as a whole; kept of those that many are compared with."""


class SampledPosteriors:
    """The pseudo posteriors of one family over one universe of records, from a sampler."""

    dimension = 1

    def __init__(self, family: Family, universe: Records, priors: Mapping[str, float], sampler: Sampler, seed: int) -> None:
        """Take what all fits share.

        Args:
            family: the family.
            universe: the N records of D and all its neighbours.
            priors: of the family.
            sampler: what samples a posterior.
            seed: the sampler's, of posteriors that nothing builds on.
        """
        self._family, self._universe, self._priors = family, universe, priors
        self._sampler, self._seed = sampler, seed

    def posterior(self, weights: Array, threshold: float | None = None) -> SampledPosterior:
        """The pseudo posterior, not sampled yet."""
        return SampledPosterior(weights, threshold)

    def close_to(self, near: SampledPosterior, weights: Array, threshold: float | None) -> SampledPosterior:
        """The pseudo posterior for a first look: it is sampled only where the draws of a near one do not cover it."""
        return SampledPosterior(weights, threshold, near)

    def draws(self, posterior: SampledPosterior, uniforms: Array) -> dict[str, Array]:
        """The draws of a posterior; its seed, or which draws of the near one are taken, is made of the uniform numbers.

        Raises:
            ValueError: it cannot be sampled.
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

    def divergence(self, one: SampledPosterior, other: SampledPosterior) -> float:
        """The larger mean loss, by reweighted draws of the one where they cover the other.

        Raises:
            ValueError: the other has to be sampled and cannot be.
        """
        self._keep(one)
        if other.draws is None:
            ratio = self._ratio(one, one, other)
            shares = _shares(-ratio)
            if _covered(shares):
                least = float((-ratio).max())
                loss = ratio + least + np.log(np.exp(-ratio - least).mean())
                return max(float(loss.mean()), float(-shares @ loss))
        found = self._bridged(one, other)
        low, high = found.limits
        return max(high - found.log_ratio, found.log_ratio - low)

    def losses(self, one: Sequence[SampledPosterior], other: Sequence[SampledPosterior], seed: int = 0) -> Bridged:
        """The privacy loss between two posteriors.

        Raises:
            ValueError: one is a mixture of several, a log-likelihood is not finite, or one cannot be sampled.
        """
        if len(one) != 1 or len(other) != 1:
            raise ValueError("the loss between mixtures of posteriors needs exact ones")
        return self._bridged(one[0], other[0])

    def _bridged(self, one: SampledPosterior, other: SampledPosterior) -> Bridged:
        for each in (one, other):
            self._sampled(each, self._seed)
        self._keep(one)
        sizes = one.effective, other.effective
        return bridge(self._ratio(one, one, other), self._ratio(other, one, other), sizes)

    def _sampled(self, posterior: SampledPosterior, seed: int) -> Draws:
        """The draws of a posterior, which are made once."""
        if posterior.draws is None:
            kept = np.flatnonzero(posterior.weights > 0)
            records, weights = self._universe.take(kept), posterior.weights[kept]
            data = self._family.stan_data(records, weights, self._priors, posterior.threshold)
            posterior.draws, effective = self._sampler(data, seed)
            posterior.effective = min(effective, float(count(posterior.draws)))
        return posterior.draws

    def _ratio(self, at: SampledPosterior, one: SampledPosterior, other: SampledPosterior) -> Array:
        """Log ratio (S,) of the unnormalised densities of two posteriors at draws of one of them."""
        thresholds = one.threshold, other.threshold
        return ratio_of_targets(*self._factors(at), one.weights, other.weights, thresholds)

    def _keep(self, posterior: SampledPosterior) -> None:
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
    """Weights (S,) that sum to 1."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _covered(shares: Array) -> bool:
    """Whether weighted draws can stand for those of another posterior."""
    return bool(np.isfinite(shares).all() and 1 / (shares @ shares) >= COVERED * len(shares))
