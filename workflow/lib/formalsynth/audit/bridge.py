"""Privacy loss from draws of two posteriors and their log-likelihoods, for any family and sampler.

With ``l = log q(theta) - log q'(theta)``, the log ratio of the densities without their normalisers, the loss is
``l - log(Z / Z')``. Bridge sampling estimates the ratio of the normalisers from the two sets of draws: at the estimate, the
pooled draws, each weighted by its density under D over the density of the pooled draws, have total weight 1.

Source: Meng and Wong (1996), Equation 4.1, the optimal bridge; its error is that of Bennett's acceptance ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from formalsynth.audit.losses import Direction, Losses
from formalsynth.core.arrays import Array, blocks

ENOUGH = 50
"""Smallest effective sample size of the bridge at which its losses are used without a correction."""


@dataclass(frozen=True)
class Bridged:
    """Privacy loss from draws, with diagnostics of its accuracy."""

    losses: Losses
    log_ratio: float
    """``log(Z / Z')``."""
    error_of_ratio: float
    """Standard error of ``log_ratio``."""
    overlap: float
    """Overlap of the posteriors, from 0 for disjoint posteriors to 1 for the same posterior."""
    effective: float
    """Effective sample size of the bridge: the effective draws of both sets times their overlap."""
    limits: tuple[float, float]
    """Lower and upper limit of ``log(Z / Z')`` that hold for any overlap: the means of the log ratio under D' and under D."""
    _draws: tuple[Array, Array]

    @property
    def enough(self) -> bool:
        """True if the overlap of the two sets is sufficient to use the losses."""
        return self.effective >= ENOUGH

    @property
    def note(self) -> str:
        """Note on the losses; empty if the overlap is sufficient."""
        return "" if self.enough else "; only a bound, because the draws of the two posteriors hardly overlap"

    def epsilon(self, delta: float, releases: int = 1) -> float:
        """Audited epsilon; if the overlap is too small, a lower bound of it."""
        return max(self.epsilons(delta, releases))

    def epsilons(self, delta: float, releases: int = 1) -> tuple[float, float]:
        """Audited epsilon under D and under D'; if the overlap is too small, a lower bound of the larger one."""
        return self.losses.epsilons(delta, releases) if self.enough else (self.at_least(delta, releases),) * 2

    def after(self, first: Direction) -> Bridged:
        """Loss combined with that of a first stage; if the overlap is too small, the bound omits the first stage."""
        return replace(self, losses=self.losses.after(first))

    def error(self, delta: float) -> float:
        """Compute the standard error of ``epsilon(delta)``; NaN for a bound."""
        return math.hypot(self.losses.error(delta), self.error_of_ratio) if self.enough else math.nan

    def at_least(self, delta: float, releases: int = 1) -> float:
        """Lower bound of the audited epsilon that does not need ``log(Z / Z')``.

        The ratio adds as much to the loss in one direction as it subtracts in the other. The mean of both epsilons is therefore
        independent of it, and the larger epsilon is at least that mean.
        """
        base, other = self._draws
        far = float(max(np.abs(base).max(), np.abs(other).max())) + 1
        sides = (Direction(side + far, np.full(len(side), 1 / len(side))) for side in (base, -other))
        return max(0.0, sum(side.epsilon(delta, releases) - releases * far for side in sides) / 2)


def bridge(base: Array, other: Array, effective: tuple[float, float] | None = None) -> Bridged:
    """Privacy loss between two posteriors from draws of both.

    Args:
        base: (S,) the log ratio of the unnormalised densities, D over D', at draws of the posterior of D.
        other: (S',) the same at draws of the posterior of D'.
        effective: effective sample sizes of the two sets; by default the numbers of draws, as for independent draws.

    Raises:
        ValueError: a log ratio is not finite, or a set is empty.
    """
    if not (len(base) and len(other) and np.isfinite(base).all() and np.isfinite(other).all()):
        raise ValueError("bridge sampling needs draws of both posteriors, with finite log-likelihoods")
    pooled = np.concatenate([base, other])
    share = len(base) / len(pooled)
    offset = math.log(share / (1 - share))
    ratio = _log_ratio(pooled, share, offset)
    loss = pooled - ratio
    # p / (s p + s' p') and p' / (s p + s' p'), which are bounded
    first, second = expit(offset + loss) / share, expit(-offset - loss) / (1 - share)
    overlap = min(1.0, float((first * second).mean()))
    sizes = effective or (float(len(base)), float(len(other)))
    error = math.sqrt(max(0.0, 1 / max(overlap, 1e-300) - 1) * (1 / sizes[0] + 1 / sizes[1]))
    drawn = np.log(share) + np.logaddexp(0, -offset - loss)
    return Bridged(
        losses=Losses.weighted(loss, -drawn),
        log_ratio=ratio,
        error_of_ratio=error,
        overlap=overlap,
        effective=overlap * (sizes[0] + sizes[1]),
        limits=(float(other.mean()), float(base.mean())),
        _draws=(base, other),
    )


def ratio_of_targets(
    left: Array, right: Array | None, base: Array, other: Array, thresholds: tuple[float | None, float | None]
) -> Array:
    """Log ratio (S,) of the unnormalised pseudo posteriors of D and D' at draws of either; the prior cancels.

    Args:
        left: (S, k) factor of the log-likelihood of the universe under the draws, or the complete log-likelihood (S, N).
        right: (N, k) factor; None if ``left`` is complete.
        base: (N,) likelihood weights of D, 0 for a record that is not in D.
        other: (N,) likelihood weights of D'.
        thresholds: clipping thresholds of each weighted log-likelihood under D and D'; None for no clipping.
    """
    # records with equal weights on both sides are skipped: their log-likelihood may be infinite
    touched = np.flatnonzero((base != other) | (thresholds[0] != thresholds[1]))
    base, other = base[touched], other[touched]
    right = None if right is None else right[touched]
    if thresholds == (None, None):
        plain: Array = left[:, touched] @ (base - other) if right is None else left @ (right.T @ (base - other))
        return plain
    limits = [np.inf if threshold is None else threshold for threshold in thresholds]
    ratios = np.zeros(len(left))
    for block in blocks(len(left), len(touched)):
        values = left[block][:, touched] if right is None else left[block] @ right.T
        ours, theirs = (np.clip(w * values, -limit, limit) for w, limit in zip((base, other), limits, strict=True))
        ratios[block] = (ours - theirs).sum(axis=1)
    return ratios


def _log_ratio(pooled: Array, share: float, offset: float) -> float:
    """Root of ``mean p / (s p + s' p') = 1`` in log(Z / Z')."""

    def excess(log_ratio: float) -> float:
        return float(expit(offset + pooled - log_ratio).mean()) - share

    low, high = float(pooled.min()) - 1, float(pooled.max()) + 1
    while excess(low) < 0:
        low -= 10
    while excess(high) > 0:
        high += 10
    return float(brentq(excess, low, high, xtol=1e-10))
