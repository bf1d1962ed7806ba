"""Beta distribution and Beta regression, in whole or with each record's log-likelihood censored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaln, expit

from formalsynth.allowed import Allowed
from formalsynth.families.base import Array, Draws, Records

SMALLEST = np.finfo(float).tiny
LARGEST = 1 - np.finfo(float).epsneg
"""Ends of (0, 1) in floating point: values at 0 and 1 are moved there, so that every log-likelihood is finite."""


def beta_terms(x: Array) -> Array:
    """The three data terms (n, 3) of the Beta log density: ``log x``, ``log(1 - x)`` and 1."""
    inside = np.clip(x, SMALLEST, LARGEST)
    return np.column_stack([np.log(inside), np.log1p(-inside), np.ones_like(inside)])


def beta_coefficients(shape1: Array, shape2: Array) -> Array:
    """Their coefficients: ``shape1 - 1``, ``shape2 - 1`` and ``-log B(shape1, shape2)``, along a new last axis."""
    return np.stack([shape1 - 1, shape2 - 1, -betaln(shape1, shape2)], axis=-1)


class BetaShapes:
    """What both Beta families share: everything that follows from the two shapes of each draw (and record)."""

    censors = True
    outcomes = Allowed("numbers from 0 to 1", lambda x: bool(((x >= 0) & (x <= 1)).all()))

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes, (S, n), or (S, 1) where all records share them."""
        raise NotImplementedError

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability of the intervals, from the side with the smaller tail."""
        from scipy.stats import beta

        distribution = beta(*self.shapes(records, draws))
        low, high = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
        probability = np.where(
            distribution.cdf(low) > 0.5,
            distribution.sf(low) - distribution.sf(high),
            distribution.cdf(high) - distribution.cdf(low),
        )
        with np.errstate(divide="ignore"):
            return np.log(probability)

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n)."""
        shape1, shape2 = self.shapes(records, draws)
        size = (len(shape1), len(records["x"]))
        return generator.beta(np.broadcast_to(shape1, size), np.broadcast_to(shape2, size))


@dataclass(frozen=True)
class BetaFamily(BetaShapes):
    """``x ~ Beta(lambda phi, lambda (1 - phi))``, ``phi ~ U(0, 1)``, ``lambda ~ Pareto(lambda_min, lambda_shape)``.

    Source: censor paper, Section 4 and the Stan program of its supplement.
    """

    program: str = "beta"
    parameters: tuple[str, ...] = ("phi", "lambda")
    priors: Mapping[str, float] = field(default_factory=lambda: {"lambda_min": 0.1, "lambda_shape": 1.5})

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """Sums of the weighted terms, or the terms of each record with positive weight where they are censored."""
        terms = weights[:, None] * beta_terms(records["x"])
        kept = terms[weights > 0] if threshold is not None else np.empty((0, 3))
        return {
            "term_sums": np.zeros(3) if threshold is not None else terms.sum(axis=0),
            "n": len(kept),
            "terms": kept,
            "group": np.ones(len(kept), dtype=int),
            "threshold": 0.0 if threshold is None else threshold,
            **priors,
        }

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """Moments of the logits, roughly: the geometric means of x and 1 - x."""
        sums = stan_data["term_sums"] if stan_data["n"] == 0 else stan_data["terms"].sum(axis=0)
        middle = expit((sums[0] - sums[1]) / sums[2] / 2) if sums[2] > 0 else 0.5
        return {"phi": float(np.clip(middle, 0.05, 0.95)), "lambda": stan_data["lambda_min"] + 2.0}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3."""
        shape1, shape2 = self.shapes(records, draws)
        return beta_coefficients(shape1[:, 0], shape2[:, 0]), beta_terms(records["x"])

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes (S, 1)."""
        return (draws["lambda"] * draws["phi"])[:, None], (draws["lambda"] * (1 - draws["phi"]))[:, None]

    def prior_draws(self, generator: np.random.Generator, priors: Mapping[str, float], size: int) -> dict[str, Array]:
        """Draws from the prior."""
        tail = generator.random(size) ** (-1 / priors["lambda_shape"])
        return {"phi": generator.random(size), "lambda": priors["lambda_min"] * tail}


@dataclass(frozen=True)
class BetaRegressionFamily(BetaShapes):
    """``x_i ~ Beta(lambda phi_i, lambda (1 - phi_i))`` with ``logit phi_i = design_i . coefficient``.

    Prior (chosen; the paper prints none): each coefficient ``normal(0, coefficient_sd)``, and the precision as in
    :class:`BetaFamily`. Records with equal predictors share their shapes.
    """

    program: str = "beta_regression"
    parameters: tuple[str, ...] = ("coefficient", "lambda")
    priors: Mapping[str, float] = field(default_factory=lambda: {"coefficient_sd": 2.5, "lambda_min": 0.1, "lambda_shape": 1.5})

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """Terms summed over the records of each distinct predictor, or of each record where they are censored.

        Raises:
            ValueError: the predictors are collinear.
        """
        design, group = np.unique(records["design"], axis=0, return_inverse=True)
        n, p = records["design"].shape
        if np.linalg.matrix_rank(records["design"]) < p:
            raise ValueError("the predictors are collinear")
        factor = np.linalg.qr(records["design"], mode="r") / np.sqrt(n)
        inverse = np.linalg.inv(factor)
        terms = weights[:, None] * beta_terms(records["x"])
        sums = np.zeros((len(design), 3))
        censored = threshold is not None
        if not censored:
            np.add.at(sums, group, terms)
        kept = weights > 0 if censored else np.zeros(n, dtype=bool)
        return {
            "p": p,
            "groups": len(design),
            "design": design @ inverse,
            "inverse_factor": inverse,
            "term_sums": sums,
            "n": int(kept.sum()),
            "terms": terms[kept],
            "group": group[kept] + 1,
            "threshold": threshold if censored else 0.0,
            **priors,
        }

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """All means one half."""
        return {"theta": np.zeros(stan_data["p"]), "lambda": stan_data["lambda_min"] + 2.0}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3 for each distinct predictor, zero for records with another."""
        design, group = np.unique(records["design"], axis=0, return_inverse=True)
        shape1, shape2 = self._shapes_at(design, draws)
        left = beta_coefficients(shape1, shape2).reshape(len(shape1), -1)
        right = np.zeros((len(group), len(design), 3))
        right[np.arange(len(group)), group] = beta_terms(records["x"])
        return left, right.reshape(len(group), -1)

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes (S, n)."""
        return self._shapes_at(records["design"], draws)

    @staticmethod
    def _shapes_at(design: Array, draws: Draws) -> tuple[Array, Array]:
        mean = expit(draws["coefficient"] @ design.T)
        precision = draws["lambda"][:, None]
        return precision * mean, precision * (1 - mean)


def interior(x: Array, low: float, high: float, squeeze: float) -> Array:
    """Values scaled from ``[low, high]`` into the open unit interval, ``squeeze`` away from its ends."""
    return squeeze + (1 - 2 * squeeze) * (np.clip(x, low, high) - low) / (high - low)
