"""Beta distribution, with or without censoring each record's log-likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.core.tables import BETA, Tabled, beta_draws
from formalsynth.families._shapes import LARGEST, NO_RANGES, SMALLEST, BetaShapes, beta_coefficients, beta_terms, inside

__all__ = ["LARGEST", "SMALLEST", "BetaFamily", "beta_coefficients", "beta_terms"]


@family("beta")
@dataclass(frozen=True)
class BetaFamily(BetaShapes):
    """``x ~ Beta(lambda phi, lambda (1 - phi))``, ``phi ~ U(0, 1)``, ``lambda ~ Pareto(lambda_min, lambda_shape)``.

    Source: censor paper, Section 4 and the Stan program of its supplement.
    """

    program: str = "beta"
    parameters: tuple[str, ...] = ("phi", "lambda")
    priors: Mapping[str, float] = field(default_factory=lambda: {"lambda_min": 0.1, "lambda_shape": 1.5})

    tabled = Tabled(BETA, ("lambda_min", "lambda_shape"), beta_draws, predictors=0, least_spread="lambda_min")

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Sum the weighted terms; for a censored likelihood pass the records with positive weight instead."""
        kept = weights > 0 if threshold is not None else np.zeros(len(weights), dtype=bool)
        return {
            "term_sums": np.zeros(3) if threshold is not None else (weights[:, None] * beta_terms(records.x)).sum(axis=0),
            "n": int(kept.sum()),
            "x": inside(records.x[kept]),
            "weight": weights[kept],
            "threshold": 0.0 if threshold is None else threshold,
            "centre": np.zeros(3),
            **NO_RANGES,
            **priors,
        }

    def inits(self, stan_data: StanData) -> StanData:
        """Rough moments of the logits, from the geometric means of x and 1 - x."""
        sums = array_in(stan_data, "term_sums") + array_in(stan_data, "weight") @ beta_terms(array_in(stan_data, "x"))
        middle = expit((sums[0] - sums[1]) / sums[2] / 2) if sums[2] > 0 else 0.5
        return {"phi": float(np.clip(middle, 0.05, 0.95)), "lambda": number_in(stan_data, "lambda_min") + 2.0}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3."""
        shape1, shape2 = self.shapes(records, draws)
        return beta_coefficients(shape1[:, 0], shape2[:, 0]), beta_terms(records.x)

    def centre(self, records: Records, draws: Draws) -> Array:
        """Coefficients (3,) at a single draw."""
        coefficients: Array = self.factors(records, draws)[0][0]
        return coefficients

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes (S, 1)."""
        return (draws["lambda"] * draws["phi"])[:, None], (draws["lambda"] * (1 - draws["phi"]))[:, None]

    def prior_draws(self, generator: np.random.Generator, priors: Mapping[str, float], size: int) -> dict[str, Array]:
        """Draws from the prior."""
        tail = generator.random(size) ** (-1 / priors["lambda_shape"])
        return {"phi": generator.random(size), "lambda": priors["lambda_min"] * tail}
