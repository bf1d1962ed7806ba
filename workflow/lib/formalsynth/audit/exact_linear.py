"""Weighted normal and lognormal regressions, whose pseudo posterior is normal-inverse-gamma.

In ``b = beta - origin`` and ``tau = 1 / sigma^2`` its log density is, up to its normaliser, linear in four sums over the records:

    (a + p / 2 - 1) log tau - tau (c - h . b + b . Lambda b / 2)

so the densities ``p^(1 + t) p'^(-t)`` between and beyond those of two neighbours have the same form. Losses are computed at draws
of several such densities with multiple importance sampling: their normalisers are known, and the draws cover the tails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import digamma, gammaincinv, gammaln, ndtri

from formalsynth.audit.exact import exact, log_mean
from formalsynth.audit.losses import Losses
from formalsynth.core.arrays import Array, Records, blocks

if TYPE_CHECKING:
    from formalsynth.core.family import Family

POINTS = 4000
"""Number of draws of each density that covers a pair of posteriors."""
REACH = 4.0
"""Distance of the outermost density from the mean loss, in standard deviations of the loss."""
SMALLEST = 1e-200
"""Smallest value of tau in draws; with very few data, tau can underflow."""
SAME = 1e-12
"""Largest relative difference of the sums of two posteriors that are treated as equal."""


class Linear(Protocol):
    """Family whose transformed outcome is linear in the design."""

    def outcome(self, records: Records) -> Array:
        """Outcome (n,) on the scale of the normal errors."""


@dataclass(frozen=True)
class NormalInverseGamma:
    """Distribution ``tau ~ gamma(a, rate)``, ``b | tau ~ normal(mean, (tau precision)^-1)``, by its natural parameters."""

    a: float
    precision: Array
    h: Array
    c: float

    @property
    def mean(self) -> Array:
        """Mean of b."""
        return np.asarray(np.linalg.solve(self.precision, self.h), dtype=float)

    @property
    def rate(self) -> float:
        """Rate of tau."""
        return self.c - 0.5 * float(self.h @ self.mean)

    @property
    def log_normaliser(self) -> float:
        """Log integral of the unnormalised density, up to a constant that depends on the dimension."""
        return float(gammaln(self.a) - self.a * np.log(self.rate) - 0.5 * np.linalg.slogdet(self.precision)[1])

    @property
    def proper(self) -> bool:
        """True for the parameters of a proper distribution."""
        return bool(self.a > 0 and np.linalg.eigvalsh(self.precision)[0] > 0 and self.rate > 0)

    def plus(self, other: NormalInverseGamma, times: float) -> NormalInverseGamma:
        """Sum of the natural parameters, those of the other multiplied by ``times``."""
        return NormalInverseGamma(
            self.a + times * other.a,
            self.precision + times * other.precision,
            self.h + times * other.h,
            self.c + times * other.c,
        )

    def tilted(self, other: NormalInverseGamma, t: float) -> NormalInverseGamma:
        """Density proportional to ``p^(1 + t) other^(-t)``."""
        return self.plus(self.plus(other, -1), t)

    def at(self, log_tau: Array, noise: Array) -> Array:
        """Values of ``sqrt(tau) b`` (S, p) from standard normal noise (S, p), finite for any tau."""
        # precision = L L', so L'^-1 noise has the covariance precision^-1
        return np.exp(log_tau / 2)[:, None] * self.mean + noise @ np.linalg.inv(np.linalg.cholesky(self.precision))

    def exponent(self, log_tau: Array, scaled: Array) -> Array:
        """Exponent ``a log tau - tau (c - h . b + b . Lambda b / 2)`` (S,) at draws ``scaled = sqrt(tau) b``."""
        root = np.exp(log_tau / 2)
        quadratic = ((0.5 * scaled @ self.precision - root[:, None] * self.h) * scaled).sum(axis=1)
        exponent: Array = self.a * log_tau - root**2 * self.c - quadratic
        return exponent

    def mean_exponent(self, other: NormalInverseGamma) -> float:
        """Mean of the other's exponent under this distribution; the other may be improper."""
        mean, tau = self.mean, self.a / self.rate
        quadratic = np.trace(np.linalg.solve(self.precision, other.precision)) + tau * mean @ other.precision @ mean
        log_tau = digamma(self.a) - np.log(self.rate)
        return float(other.a * log_tau - tau * (other.c - other.h @ mean) - quadratic / 2)

    def log_density(self, log_tau: Array, scaled: Array) -> Array:
        """Log density (S,), up to a constant that depends on the dimension."""
        return self.exponent(log_tau, scaled) + (len(self.h) / 2 - 1) * log_tau - self.log_normaliser


class ExactLinear:
    """Exact pseudo posteriors of a weighted linear regression."""

    def __init__(self, family: Linear, universe: Records, priors: Mapping[str, float]) -> None:
        """Compute the sums that all data sets share.

        Args:
            family: normal or lognormal regression.
            universe: N records.
            priors: parameters of the prior, as in :class:`formalsynth.families.linear.LinearFamily`.
        """
        self._design, y = universe.design, family.outcome(universe)
        p = self._design.shape[1]
        prior = np.eye(p) / priors["sd"] ** 2
        self._origin = np.linalg.lstsq(self._design, y, rcond=None)[0]
        self._residual = y - self._design @ self._origin
        pull = prior @ self._origin
        self._prior = NormalInverseGamma(priors["shape"], prior, -pull, priors["scale"] + 0.5 * float(self._origin @ pull))
        self.dimension = p + 1

    def posterior(self, weights: Array, threshold: float | None = None) -> NormalInverseGamma:
        """Pseudo posterior with these weights (N,)."""
        if threshold is not None:
            raise ValueError("a censored linear regression has no closed form: audit its draws instead")
        kept = weights > 0
        design, residual, weights = self._design[kept], self._residual[kept], weights[kept]
        weighted = weights[:, None] * design
        return NormalInverseGamma(
            self._prior.a + 0.5 * float(weights.sum()),
            self._prior.precision + weighted.T @ design,
            self._prior.h + weighted.T @ residual,
            self._prior.c + 0.5 * float(weights @ residual**2),
        )

    def draws(self, posterior: NormalInverseGamma, uniforms: Array) -> dict[str, Array]:
        """Draws of beta (S, p) and sigma (S,)."""
        tau = np.maximum(gammaincinv(posterior.a, uniforms[:, 0]) / posterior.rate, SMALLEST)
        sigma = 1 / np.sqrt(tau)
        return {"beta": self._origin + sigma[:, None] * posterior.at(np.log(tau), ndtri(uniforms[:, 1:])), "sigma": sigma}

    def divergence(self, base: NormalInverseGamma, other: NormalInverseGamma) -> float:
        """Larger of the two mean losses, in closed form."""
        ratio, constant = base.plus(other, -1), base.log_normaliser - other.log_normaliser
        return max(base.mean_exponent(ratio) - constant, constant - other.mean_exponent(ratio))

    def losses(self, base: Sequence[NormalInverseGamma], other: Sequence[NormalInverseGamma], seed: int = 0) -> Losses:
        """Privacy loss; its Monte Carlo error is a few hundredths at delta = 1e-5, and smaller at a larger delta."""
        generator = np.random.default_rng(seed)
        if len(base) == len(other) == 1:
            return _pair(base[0], other[0], generator)
        size = -(-4 * POINTS // len(base))
        parts = [_points(component, size, generator) for component in (*base, *other)]
        where = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        p, q = (log_mean(np.stack([component.log_density(*where) for component in side])) for side in (base, other))
        share = len(base) / (len(base) + len(other))
        drawn = np.logaddexp(p + np.log(share), q + np.log(1 - share))
        return Losses.weighted(p - q, p - drawn, (np.inf, np.inf))


def _points(component: NormalInverseGamma, size: int, generator: np.random.Generator) -> tuple[Array, Array]:
    """Make ``size`` draws of ``log tau`` and ``sqrt(tau) b``."""
    # a gamma variable of shape a is one of shape a + 1 times u^(1 / a)
    log_tau = np.log(generator.standard_gamma(component.a + 1, size)) + np.log(generator.random(size)) / component.a
    log_tau -= np.log(component.rate)
    return log_tau, component.at(log_tau, generator.standard_normal((size, len(component.h))))


def _pair(base: NormalInverseGamma, other: NormalInverseGamma, generator: np.random.Generator) -> Losses:
    if _same(base, other):
        return Losses(np.zeros(1), np.ones(1), np.ones(1))
    first = _points(base, POINTS, generator)
    ratio, ours, theirs = base.plus(other, -1), base.log_normaliser, other.log_normaliser
    steps = [0.0, -1.0, -0.5, *_tilts(base, other, float(np.std(ratio.exponent(*first))))]
    tilted = [base.tilted(other, t) for t in steps]
    # log integral of p^(1 + t) p'^(-t)
    log_z = [part.log_normaliser - (1 + t) * ours + t * theirs for t, part in zip(steps, tilted, strict=True)]
    parts = [first, *(_points(part, POINTS, generator) for part in tilted[1:])]
    log_tau, scaled = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    loss = ratio.exponent(log_tau, scaled) - (ours - theirs)
    drawn = np.empty_like(loss)
    for block in blocks(len(loss), len(steps)):
        drawn[block] = log_mean(np.multiply.outer(steps, loss[block]) - np.array(log_z)[:, None])
    return Losses.weighted(loss, -drawn, (np.inf, np.inf))


def _same(base: NormalInverseGamma, other: NormalInverseGamma) -> bool:
    ours, theirs = (
        np.concatenate([[posterior.a, posterior.c], posterior.h, posterior.precision.ravel()]) for posterior in (base, other)
    )
    scale = np.sqrt(np.abs(base.c * base.precision).max())
    return bool(np.allclose(ours, theirs, rtol=SAME, atol=SAME * scale))


def _tilts(base: NormalInverseGamma, other: NormalInverseGamma, spread: float) -> list[float]:
    """Exponents t beyond both posteriors, to cover the tails; halved until the tilted density is proper."""
    tilts = []
    for side, reach in ((0.0, REACH), (0.0, REACH / 2), (-1.0, -REACH), (-1.0, -REACH / 2)):
        t = reach / max(spread, 1e-6)
        while abs(t) > 1e-3 * abs(reach) and not base.tilted(other, side + t).proper:
            t /= 2
        if base.tilted(other, side + t).proper:
            tilts.append(side + t)
    return tilts


@exact("linear_regression")
def exact_linear(family: Family, universe: Records, priors: Mapping[str, float]) -> ExactLinear:
    """Exact posteriors of normal and lognormal regressions."""
    return ExactLinear(family, universe, priors)  # type: ignore[arg-type]
