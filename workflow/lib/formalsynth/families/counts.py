"""Counts: Poisson and negative binomial, and the negative binomial regression.

The negative binomial has mean ``mu`` and variance ``mu + mu^2 / phi``. Its dispersion has the half-Cauchy prior on
``1 / phi`` of the reweight paper (Supplement 2, whose script leaves out the lower bound 0). Records enter the Stan
programs as unique values with their summed weights, so that the cost of a fit does not grow with n.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaln, gammaln

from formalsynth.allowed import Allowed
from formalsynth.families.base import Array, Draws, Records

TINY = 1e-280
"""Below this a probability is summed on the log scale."""
NEGLIGIBLE = 40.0
"""A term this much below a sum on the log scale adds nothing in double precision."""
MEAN_PRIOR = {"shape": 1.0, "rate": 0.001}
"""Gamma prior of the mean: chosen, weak, and conjugate to the Poisson likelihood."""


class CountFamily(ABC):
    """What the count families share: everything that follows from their mean and dispersion."""

    outcomes = Allowed("whole numbers, 0 or more", lambda x: bool(((x >= 0) & (x == np.floor(x))).all()))

    @abstractmethod
    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean, and phi where there is one, each (S, 1) or (S, n)."""

    @abstractmethod
    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts ``x``, broadcast against the arguments."""

    @abstractmethod
    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """``P(X <= x)`` and ``P(X > x)``, each with full relative accuracy."""

    @abstractmethod
    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Array:
        """Random counts."""

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """The log-likelihood of the u distinct records (S, u), and 0-1 rows (n, u) that pick one of them."""
        first, inverse, _ = grouped(np.column_stack([records["x"], records["design"]]))
        distinct = {name: records[name][first] for name in ("x", "design")}
        return self.log_probability(distinct["x"], *self.arguments(distinct, draws)), np.eye(len(first))[inverse]

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability (S, n) of the counts in the closed interval [lower, upper], accurate in both tails."""
        arguments = self.arguments(records, draws)
        shape = (len(arguments[0]), len(records["x"]))
        arguments = tuple(np.broadcast_to(one, shape) for one in arguments)
        first, last = (np.broadcast_to(end, shape) for end in (np.ceil(lower), np.floor(upper)))
        below, above = self.tails(first - 1, *arguments), self.tails(last, *arguments)
        # Above the mean the upper tail is the small one: there the difference is taken of complements.
        flip = first > arguments[0]
        probability = np.where(flip, below[1] - above[1], above[0] - below[0])
        with np.errstate(divide="ignore"):
            result = np.log(probability)
        tiny = (probability < TINY) & (first <= last)
        if tiny.any():
            start, step = np.where(flip, first, last)[tiny], np.where(flip, 1, -1)[tiny]
            result[tiny] = self._tail_sum(start, step, (last - first)[tiny], [one[tiny] for one in arguments])
        return result

    def _tail_sum(self, start: Array, step: Array, width: Array, arguments: list[Array]) -> Array:
        """Log of the sum of the probabilities from ``start``, where they are largest, outwards."""
        total = self.log_probability(start, *arguments)
        active, k = np.flatnonzero((width > 0) & np.isfinite(total)), 0
        while len(active):
            k += 1
            at = start[active] + k * step[active]
            term = np.where(at >= 0, self.log_probability(np.maximum(at, 0), *(one[active] for one in arguments)), -np.inf)
            total[active] = np.logaddexp(total[active], term)
            active = active[(k < width[active]) & (term > total[active] - NEGLIGIBLE)]
        return total

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive counts (S, n)."""
        arguments = self.arguments(records, draws)
        return self.simulate(generator, (len(arguments[0]), len(records["x"])), *arguments).astype(float)


class _NegativeBinomial(CountFamily):
    """The negative binomial distribution by its mean and phi."""

    def log_probability(self, x: Array, *arguments: Array) -> Array:
        mean, phi = arguments
        return -betaln(phi, x + 1) - np.log(x + phi) - phi * np.log1p(mean / phi) - x * np.log1p(phi / mean)

    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        from scipy.stats import nbinom

        mean, phi = arguments
        return nbinom.cdf(x, phi, phi / (phi + mean)), nbinom.sf(x, phi, phi / (phi + mean))

    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Array:
        mean, phi = arguments
        return generator.negative_binomial(phi, phi / (phi + mean), size)


@dataclass(frozen=True)
class PoissonFamily(CountFamily):
    """``x ~ Poisson(mu)``, ``mu ~ gamma(shape, rate)``: the weighted posterior is a gamma distribution."""

    program: str = "poisson"
    parameters: tuple[str, ...] = ("mu",)
    censors: bool = False
    priors: Mapping[str, float] = field(default_factory=lambda: dict(MEAN_PRIOR))

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """The weighted number of records and the weighted sum of their counts.

        Raises:
            ValueError: the data are not counts, no record has weight, or censoring is asked for.
        """
        x = _checked(records["x"], weights, threshold)
        return {"weight_total": float(weights.sum()), "weighted_sum": float(weights @ x), **_mean_prior(priors)}

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """The posterior mean."""
        return {"mu": _posterior_mean(stan_data, stan_data["weighted_sum"], stan_data["weight_total"])}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """The mean (S, 1)."""
        return (draws["mu"][:, None],)

    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts."""
        return x * np.log(arguments[0]) - arguments[0] - gammaln(x + 1)

    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """Both tails."""
        from scipy.stats import poisson

        return poisson.cdf(x, *arguments), poisson.sf(x, *arguments)

    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Array:
        """Random counts."""
        return generator.poisson(*arguments, size)

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3."""
        x, mu = records["x"], draws["mu"]
        return np.column_stack([np.log(mu), -mu, np.ones_like(mu)]), np.column_stack([x, np.ones_like(x), -gammaln(x + 1)])


@dataclass(frozen=True)
class NegativeBinomialFamily(_NegativeBinomial):
    """``x ~ NB(mu, phi)`` with ``mu ~ gamma(shape, rate)`` and ``1 / phi ~ half-Cauchy(0, dispersion)``.

    Source: reweight paper, Section 3.1 and Supplement 2; the prior of the mean is chosen.
    """

    program: str = "negative_binomial"
    parameters: tuple[str, ...] = ("mu", "phi")
    censors: bool = False
    priors: Mapping[str, float] = field(default_factory=lambda: {**MEAN_PRIOR, "dispersion": 5.0})

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """Unique counts with their summed weights.

        Raises:
            ValueError: the data are not counts, no record has weight, or censoring is asked for.
        """
        x = _checked(records["x"], weights, threshold)
        first, _, summed = grouped(x[:, None], weights)
        data = {"u": len(first), "y": x[first].astype(int), "weight": summed}
        return {**data, **_mean_prior(priors), "prior_dispersion": priors["dispersion"]}

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """Moments of the weighted counts."""
        y, weight = stan_data["y"], stan_data["weight"]
        mean = _posterior_mean(stan_data, float(weight @ y), float(weight.sum()))
        return {"mu": mean, "reciprocal_phi": _moments(y, weight)[1]}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean and phi, each (S, 1)."""
        return draws["mu"][:, None], draws["phi"][:, None]


@dataclass(frozen=True)
class NegativeBinomialRegressionFamily(_NegativeBinomial):
    """``x ~ NB(exp(design . beta), phi)`` with the hierarchical prior that the reweight paper prints (Supplement 2).

    ``beta ~ normal(0, diag(s) C diag(s))``, ``C ~ LKJ(correlation)``, ``s ~ half-t(df, scale)``. Factors have one column
    for each distinct record, which is many when predictors are continuous.
    """

    program: str = "negative_binomial_regression"
    parameters: tuple[str, ...] = ("beta", "phi")
    censors: bool = False
    priors: Mapping[str, float] = field(default_factory=lambda: {"dispersion": 5.0, "correlation": 6.0, "df": 3.0, "scale": 1.0})

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """Distinct records with their summed weights, in an orthonormal basis of the weighted design.

        Raises:
            ValueError: the data are not counts, the weighted design does not identify the coefficients, or censoring is
                asked for.
        """
        x, design = _checked(records["x"], weights, threshold), records["design"]
        first, _, summed = grouped(np.column_stack([x, design]), weights)
        design = design[first]
        root = np.sqrt(summed / summed.sum())[:, None]
        if np.linalg.matrix_rank(root * design) < design.shape[1]:
            raise ValueError("the weights leave too few records to identify the regression")
        inverse_factor = np.linalg.inv(np.linalg.qr(root * design).R)
        basis = design @ inverse_factor
        mean, excess = _moments(x[first], summed)
        return {
            "u": len(first),
            "p": design.shape[1],
            "y": x[first].astype(int),
            "weight": summed,
            "basis": basis,
            "inverse_factor": inverse_factor,
            # Weighted least squares on the log scale: the basis is orthonormal in the weights.
            "theta_hat": basis.T @ (summed * np.log(x[first] + 0.5)) / summed.sum(),
            "information": float(summed.sum() * mean / (1 + mean * excess)),
            **{f"prior_{name}": priors[name] for name in ("dispersion", "correlation", "df", "scale")},
        }

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """The least squares estimate, near which the standardised coefficients are 0."""
        p = stan_data["p"]
        return {"standardised": np.zeros(p), "reciprocal_phi": 0.1, "sd": np.ones(p), "correlation_factor": np.eye(p)}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean (S, n) and phi (S, 1)."""
        return np.exp(draws["beta"] @ records["design"].T), draws["phi"][:, None]


def grouped(rows: Array, weights: Array | None = None) -> tuple[Array, Array, Array]:
    """Distinct rows.

    Args:
        rows: (n, k) values.
        weights: (n,) weights of the rows; rows of weight 0 are left out. None weighs all alike.

    Returns:
        first: (u,) index of the first row of each group.
        inverse: (m,) the group of each of the rows that are not left out.
        summed: (u,) summed weights.
    """
    weights = np.ones(len(rows)) if weights is None else weights
    kept = np.flatnonzero(weights > 0)
    _, first, inverse = np.unique(rows[kept], axis=0, return_index=True, return_inverse=True)
    return kept[first], inverse, np.bincount(inverse, weights[kept], minlength=len(first))


def _checked(x: Array, weights: Array, threshold: float | None) -> Array:
    if threshold is not None:
        raise ValueError("this family has no censored likelihood")
    if not (np.isfinite(x).all() and (x >= 0).all() and (x == np.floor(x)).all()):
        raise ValueError("a count family needs whole numbers that are not negative")
    if not weights.sum() > 0:
        raise ValueError("the weights leave no record")
    return x


def _moments(y: Array, weight: Array) -> tuple[float, float]:
    """Mean and ``1 / phi`` from the weighted moments, kept away from 0 and infinity."""
    mean = max(float(np.average(y, weights=weight)), 1e-3)
    variance = float(np.average((y - mean) ** 2, weights=weight))
    return mean, float(np.clip((variance - mean) / mean**2, 1e-3, 1e3))


def _mean_prior(priors: Mapping[str, float]) -> dict[str, float]:
    return {f"prior_{name}": priors[name] for name in MEAN_PRIOR}


def _posterior_mean(stan_data: Mapping[str, Any], weighted_sum: float, weight_total: float) -> float:
    """The mean of the conjugate Poisson posterior: positive also when all counts are 0."""
    return (weighted_sum + stan_data["prior_shape"]) / (weight_total + stan_data["prior_rate"])
