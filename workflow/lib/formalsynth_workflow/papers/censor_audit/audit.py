"""Exact privacy loss between posteriors of neighbouring data sets under the Beta model, on a grid of the two parameters.

Both posteriors are computed on the same grid and compared point by point, without sampling or bounds. The largest loss among
the neighbours that were tried is a lower bound on the epsilon that a mechanism can claim.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from formalsynth.core.arrays import Array
from formalsynth.core.compiled import clipped_sums
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.parameters import Parameters
from formalsynth.families.beta import beta_coefficients, beta_terms

Mask = NDArray[np.bool_]
LOGIT_PHI = 12.0
"""Limit of logit phi: the grid covers phi from ``expit(-12)`` to ``expit(12)``, all but 1e-5 of its prior."""
LARGEST_LAMBDA = 1e4
"""Upper limit of lambda on the grid, which covers all but 1e-7 of its prior."""
COARSE = 0.25
"""Largest distance between adjacent points, in logit phi and in log lambda."""


class Budget(Parameters):
    """Claimed epsilon of censoring; log-likelihoods are clipped at half of it."""

    epsilon: PositiveNumber


@dataclass(frozen=True)
class Grid:
    """Points (phi, lambda) of the prior's support, with arrays for the computation of posteriors."""

    phi: Array
    """(G,) mean."""
    lambda_: Array
    """(G,) precision."""
    log_prior: Array
    """(G,) log prior mass of the cell around each point, up to a constant."""
    coefficients: Array
    """(G, 3) coefficients of the terms of a record's log-likelihood."""
    fine: Mask
    """(G,) True for points in the fine part of the grid, which must contain every posterior."""

    @property
    def beta1(self) -> Array:
        """First shape (G,)."""
        return self.lambda_ * self.phi

    @property
    def beta2(self) -> Array:
        """Second shape (G,)."""
        return self.lambda_ * (1 - self.phi)


@dataclass(frozen=True)
class Loss:
    """Privacy loss between two posteriors; each field is the larger value of the two directions."""

    support: float
    """Largest absolute log ratio of the densities over the support: the smallest epsilon of pure DP."""
    region: float
    """Largest absolute log ratio over the region with nearly all the mass of either posterior."""
    delta: float
    """Smallest delta for which the posteriors are (epsilon, delta)-close at the claimed epsilon."""

    @staticmethod
    def worst(losses: Iterable[Loss]) -> Loss:
        """Return the maximum of each field."""
        rows = [(loss.support, loss.region, loss.delta) for loss in losses]
        return Loss(*(max(column) for column in zip(*rows, strict=True)))


def beta_grid(phi: float, lambda_: float, n: int, priors: Mapping[str, float], reach: float = 1.0) -> Grid:
    """Return a grid over the prior's support that is fine around one point.

    The distance between adjacent points is ``1 / sqrt(n)`` there. It is less than the standard deviation of a posterior, so a
    trapezoidal sum is exact to at least three digits.

    Args:
        phi: mean at that point.
        lambda_: precision at that point.
        n: number of records.
        priors: ``lambda_min`` and ``lambda_shape`` of :class:`formalsynth.families.beta.BetaFamily`.
        reach: half-width of the fine part in logit phi and log lambda, in addition to ten steps; must be larger if weights move
            a posterior away from the point.
    """
    lowest = np.log(priors["lambda_min"])
    t, t_width, t_fine = _knots(-LOGIT_PHI, LOGIT_PHI, logit(phi), n, reach)
    v, v_width, v_fine = _knots(lowest, np.log(LARGEST_LAMBDA), np.log(lambda_), n, reach)
    mean, precision = (axis.ravel() for axis in np.meshgrid(expit(t), np.exp(v), indexing="ij"))
    log_prior = np.add.outer(np.log(t_width * expit(t) * expit(-t)), np.log(v_width) - priors["lambda_shape"] * (v - lowest))
    return Grid(
        phi=mean,
        lambda_=precision,
        log_prior=log_prior.ravel(),
        coefficients=beta_coefficients(precision * mean, precision * (1 - mean)),
        fine=np.logical_and.outer(t_fine, v_fine).ravel(),
    )


def product_grid(phi: Array, log_lambda: Array, priors: Mapping[str, float]) -> Grid:
    """Return a grid of equally spaced points, grouped by mean: (m * L,).

    The prior of phi is uniform, and the prior density of log lambda decreases as ``exp(-lambda_shape log lambda)``.

    Args:
        phi: (m,) means.
        log_lambda: (L,) logarithms of precisions.
        priors: as for :func:`beta_grid`.
    """
    mean, log_precision = (axis.ravel() for axis in np.meshgrid(phi, log_lambda, indexing="ij"))
    return _points(mean, np.exp(log_precision), -priors["lambda_shape"] * log_precision)


def shape_grid(beta2: Array, log_beta1: Array, priors: Mapping[str, float]) -> Grid:
    """Return a grid of equally spaced points, grouped by second shape: (m * L,).

    The prior density of ``beta2`` and ``log beta1`` is that of phi and log lambda times ``phi / lambda``.

    Args:
        beta2: (m,) second shapes.
        log_beta1: (L,) logarithms of first shapes.
        priors: as for :func:`beta_grid`.
    """
    second, first = (axis.ravel() for axis in np.meshgrid(beta2, np.exp(log_beta1), indexing="ij"))
    precision = first + second
    return _points(first / precision, precision, np.log(first) - (priors["lambda_shape"] + 2) * np.log(precision))


def _points(mean: Array, precision: Array, log_prior: Array) -> Grid:
    """Return a grid of these points (G,), all of them in its fine part."""
    coefficients = beta_coefficients(precision * mean, precision * (1 - mean))
    return Grid(mean, precision, log_prior, coefficients, np.ones(len(mean), dtype=bool))


def _knots(low: float, high: float, centre: float, n: int, reach: float) -> tuple[Array, Array, Mask]:
    """Points between two limits, the widths of their cells, and a mask of the closely spaced points."""
    step = 1 / np.sqrt(n)
    reach += 10 * step
    ends = max(low, centre - reach), min(high, centre + reach)
    fine = np.linspace(*ends, 1 + int(np.ceil((ends[1] - ends[0]) / min(COARSE, step))))
    coarse = np.linspace(low, high, 1 + int(np.ceil((high - low) / COARSE)))
    knots = np.concatenate([coarse[coarse < ends[0]], fine, coarse[coarse > ends[1]]])
    gaps = np.diff(knots)
    width = (np.append(gaps, 0) + np.append(0, gaps)) / 2
    return knots, width, width <= 2 * step


def log_likelihood(grid: Grid, x: Array, weights: Array, threshold: float | None = None) -> Array:
    """Sum over records of ``clip(weight * log p(x | theta), -threshold, threshold)``, unclipped without a threshold: (G,)."""
    terms = weights[:, None] * beta_terms(x)
    if threshold is None:
        return np.asarray(grid.coefficients @ terms.sum(axis=0))
    return clipped_sums(grid.coefficients, terms, threshold)


def posterior(grid: Grid, log_likelihood: Array, tolerance: float = 1e-6) -> Array:
    """Log mass (G,) of the posterior at each point.

    Raises:
        ValueError: more than ``tolerance`` of its mass is outside the fine part of the grid.
    """
    log_mass = grid.log_prior + log_likelihood
    log_mass = log_mass - logsumexp(log_mass)
    outside = float(np.exp(log_mass[~grid.fine]).sum())
    if outside > tolerance:
        raise ValueError(f"{outside:.2g} of a posterior is outside the fine part of the grid")
    return log_mass


def moments(values: Array, log_mass: Array) -> tuple[float, float]:
    """Mean and standard deviation of values (G,) under a posterior."""
    mass = np.exp(log_mass)
    mean = mass @ values
    return float(mean), float(np.sqrt(mass @ (values - mean) ** 2))


def region(log_mass: Array, log_prior: Array, share: float) -> Mask:
    """Return a mask (G,) of the points of highest likelihood that together have this share of the posterior mass.

    The region is defined by the likelihood instead of the density, so it is invariant under reparameterisation.
    """
    order = np.argsort(log_prior - log_mass)
    count = int(np.searchsorted(np.cumsum(np.exp(log_mass[order])), share)) + 1
    inside = np.zeros(len(log_mass), dtype=bool)
    inside[order[:count]] = True
    return inside


def record_risks(grid: Grid, x: Array, inside: Mask) -> Array:
    """Largest absolute log-likelihood of each record over the points (G,) that are inside: (n,)."""
    return np.asarray(np.abs(grid.coefficients[inside] @ beta_terms(x).T).max(axis=0))


def privacy_loss(base: Array, other: Array, inside: Mask, epsilon: float) -> Loss:
    """Compute the privacy loss between two posteriors on the same points.

    Args:
        base: (G,) log mass.
        other: (G,) log mass.
        inside: (G,) True for points in the :func:`region` of either posterior, over which :attr:`Loss.region` is computed.
        epsilon: the claimed budget.
    """
    ratio = base - other
    excess = [np.exp(mass) @ -np.expm1(np.minimum(epsilon - loss, 0)) for mass, loss in ((base, ratio), (other, -ratio))]
    return Loss(float(np.abs(ratio).max()), float(np.abs(ratio[inside]).max()), float(max(excess)))
