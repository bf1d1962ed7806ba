"""Privacy loss from draws of two posteriors and their log-likelihoods alone: for any family, and any sampler.

With ``l = log q(theta) - log q'(theta)``, the log ratio of the densities without their normalisers, the loss is
``l - log(Z / Z')``. The ratio of the normalisers comes from bridge sampling between the two sets of draws; it is the one at which
all draws together, each weighted by its density under D over the density of the two sets, sum to a distribution.

Source: Meng and Wong (1996), Equation 4.1, the optimal bridge; its error is that of Bennett's acceptance ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from formalsynth.audit.losses import Direction, Losses
from formalsynth.core.arrays import Array, Draws, Records, blocks
from formalsynth.core.family import Family

ENOUGH = 50
"""Effective sample size of the bridge from which its losses are taken as they are."""


@dataclass(frozen=True)
class Bridged:
    """Privacy loss from draws, with what says how far it can be trusted."""

    losses: Losses
    log_ratio: float
    """``log(Z / Z')``."""
    error_of_ratio: float
    """Its standard error."""
    overlap: float
    """From 0, where no draw of one set could be of the other, to 1 for the same posterior."""
    effective: float
    """Effective sample size of the bridge: the effective draws of both sets times their overlap."""
    limits: tuple[float, float]
    """Between which ``log(Z / Z')`` lies, whatever the overlap: the means of l under D' and under D."""
    _draws: tuple[Array, Array]

    @property
    def enough(self) -> bool:
        """Whether the two sets overlap so much that the losses can be taken as they are."""
        return self.effective >= ENOUGH

    @property
    def note(self) -> str:
        """What to say of the losses; empty where they can be taken as they are."""
        return "" if self.enough else "; a bound only, since the draws of both posteriors hardly overlap"

    def epsilon(self, delta: float, releases: int = 1) -> float:
        """The audited epsilon; where the overlap is too small, the bound that can still be stated."""
        return max(self.epsilons(delta, releases))

    def epsilons(self, delta: float, releases: int = 1) -> tuple[float, float]:
        """The audited epsilon under D and under D'; where the overlap is too small, the bound for the larger of them."""
        return self.losses.epsilons(delta, releases) if self.enough else (self.at_least(delta, releases),) * 2

    def error(self, delta: float) -> float:
        """Standard error of ``epsilon(delta)``; NaN for a bound."""
        return math.hypot(self.losses.error(delta), self.error_of_ratio) if self.enough else math.nan

    def at_least(self, delta: float, releases: int = 1) -> float:
        """A lower bound of the audited epsilon that does not need ``log(Z / Z')``.

        What the ratio adds to the loss in one direction it takes from the other. So the mean of both epsilons is free of it, and
        the larger of them is no smaller.
        """
        one, other = self._draws
        far = float(max(np.abs(one).max(), np.abs(other).max())) + 1
        sides = (Direction(side + far, np.full(len(side), 1 / len(side))) for side in (one, -other))
        return max(0.0, sum(side.epsilon(delta, releases) - releases * far for side in sides) / 2)


def bridge(one: Array, other: Array, effective: tuple[float, float] | None = None) -> Bridged:
    """The privacy loss between two posteriors from draws of both.

    Args:
        one: (S,) the log ratio of the unnormalised densities, D over D', at draws of the posterior of D.
        other: (S',) the same at draws of the posterior of D'.
        effective: effective sample sizes of the two sets; as many as there are draws where they are independent.

    Raises:
        ValueError: a log ratio is not finite, or a set is empty.
    """
    if not (len(one) and len(other) and np.isfinite(one).all() and np.isfinite(other).all()):
        raise ValueError("bridge sampling needs draws of both posteriors, with finite log-likelihoods")
    pooled = np.concatenate([one, other])
    share = len(one) / len(pooled)
    offset = math.log(share / (1 - share))
    ratio = _log_ratio(pooled, share, offset)
    loss = pooled - ratio
    # p / (s p + s' p') and p' / (s p + s' p'), which are bounded
    first, second = expit(offset + loss) / share, expit(-offset - loss) / (1 - share)
    overlap = min(1.0, float((first * second).mean()))
    sizes = effective or (float(len(one)), float(len(other)))
    error = math.sqrt(max(0.0, 1 / max(overlap, 1e-300) - 1) * (1 / sizes[0] + 1 / sizes[1]))
    drawn = np.log(share) + np.logaddexp(0, -offset - loss)
    return Bridged(
        losses=Losses.weighted(loss, -drawn),
        log_ratio=ratio,
        error_of_ratio=error,
        overlap=overlap,
        effective=overlap * (sizes[0] + sizes[1]),
        limits=(float(other.mean()), float(one.mean())),
        _draws=(one, other),
    )


def log_ratio(family: Family, universe: Records, draws: Draws, one: Array, other: Array, threshold: float | None = None) -> Array:
    """The log ratio (S,) of the unnormalised pseudo posteriors of D and D' at draws of either: the prior cancels.

    Args:
        family: the family.
        universe: the N records of D and D' together.
        draws: S draws.
        one: (N,) likelihood weights of D, 0 for a record that it lacks.
        other: (N,) likelihood weights of D'.
        threshold: at which both clip each weighted log-likelihood, if they do.
    """
    return ratio_of_targets(*family.factors(universe, draws), one, other, (threshold, threshold))


def ratio_of_targets(
    left: Array, right: Array | None, one: Array, other: Array, thresholds: tuple[float | None, float | None]
) -> Array:
    """What :func:`log_ratio` gives, from the log-likelihood of the universe under the draws.

    Args:
        left: (S, k) factor of the log-likelihood, or all of it (S, N).
        right: (N, k) factor; None where the left is all of it.
        one: (N,) likelihood weights of D.
        other: (N,) likelihood weights of D'.
        thresholds: at which each clips a weighted log-likelihood, if it does.
    """
    # a record that counts alike on both sides may have a log-likelihood that is not finite
    touched = np.flatnonzero((one != other) | (thresholds[0] != thresholds[1]))
    one, other = one[touched], other[touched]
    right = None if right is None else right[touched]
    if thresholds == (None, None):
        plain: Array = left[:, touched] @ (one - other) if right is None else left @ (right.T @ (one - other))
        return plain
    limits = [np.inf if threshold is None else threshold for threshold in thresholds]
    found = np.zeros(len(left))
    for block in blocks(len(left), len(touched)):
        values = left[block][:, touched] if right is None else left[block] @ right.T
        ours, theirs = (np.clip(w * values, -limit, limit) for w, limit in zip((one, other), limits, strict=True))
        found[block] = (ours - theirs).sum(axis=1)
    return found


def _log_ratio(pooled: Array, share: float, offset: float) -> float:
    """The root of ``mean p / (s p + s' p') = 1`` in log(Z / Z')."""

    def excess(log_ratio: float) -> float:
        return float(expit(offset + pooled - log_ratio).mean()) - share

    low, high = float(pooled.min()) - 1, float(pooled.max()) + 1
    while excess(low) < 0:
        low -= 10
    while excess(high) > 0:
        high += 10
    return float(brentq(excess, low, high, xtol=1e-10))
