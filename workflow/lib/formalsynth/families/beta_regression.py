"""Beta regression, with or without censoring each record's log-likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit

from formalsynth.core.arrays import Array, Draws, Records, distinct_rows, in_groups
from formalsynth.core.family import StanData, family, number_in
from formalsynth.core.tables import BETA_REGRESSION, Tabled, beta_regression_draws
from formalsynth.families._shapes import NO_RANGES, SMALLEST, BetaShapes, beta_coefficients, beta_terms, inside


@family("beta_regression")
@dataclass(frozen=True)
class BetaRegressionFamily(BetaShapes):
    """``x_i ~ Beta(lambda phi_i, lambda (1 - phi_i))`` with ``logit phi_i = design_i . coefficient``.

    Prior (our choice; the paper prints none): each coefficient ``normal(0, coefficient_sd)``, and the precision as in
    :class:`BetaFamily`. Records with equal predictors share their shapes.
    """

    program: str = "beta_regression"
    parameters: tuple[str, ...] = ("coefficient", "lambda")
    priors: Mapping[str, float] = field(default_factory=lambda: {"coefficient_sd": 2.5, "lambda_min": 0.1, "lambda_shape": 1.5})

    tabled = Tabled(
        BETA_REGRESSION,
        ("coefficient_sd", "lambda_min", "lambda_shape"),
        beta_regression_draws,
        predictors=1,
        least_spread="lambda_min",
    )

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Terms summed over the records of each distinct predictor, or the terms of each record if it is censored.

        Raises:
            ValueError: the predictors are collinear.
        """
        first, group = distinct_rows(records.design)
        design = records.design[first]
        n, p = records.design.shape
        if np.linalg.matrix_rank(records.design) < p:
            raise ValueError("the predictors are collinear")
        factor = np.linalg.qr(records.design, mode="r") / np.sqrt(n)
        inverse = np.linalg.inv(factor)
        terms = weights[:, None] * beta_terms(records.x)
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
            "x": inside(records.x[kept]),
            "weight": weights[kept],
            "group": group[kept] + 1,
            "threshold": threshold if censored else 0.0,
            "centre": np.zeros((len(design), 3)),
            **NO_RANGES,
            **priors,
        }

    def inits(self, stan_data: StanData) -> StanData:
        """Start with all means equal to one half."""
        return {"theta": np.zeros(int(number_in(stan_data, "p"))), "lambda": number_in(stan_data, "lambda_min") + 2.0}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3 for each distinct predictor, zero for records with a different one."""
        first, group = distinct_rows(records.design)
        design = records.design[first]
        shape1, shape2 = self._shapes_at(design, draws)
        left = beta_coefficients(shape1, shape2).reshape(len(shape1), 3 * len(design))
        return left, in_groups(beta_terms(records.x), group, len(design))

    def centre(self, records: Records, draws: Draws) -> Array:
        """Coefficients (groups, 3) of each distinct predictor at a single draw."""
        return self.factors(records, draws)[0].reshape(-1, 3)

    def shapes(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Both shapes (S, n)."""
        return self._shapes_at(records.design, draws)

    @staticmethod
    def _shapes_at(design: Array, draws: Draws) -> tuple[Array, Array]:
        mean = expit(draws["coefficient"] @ design.T)
        precision = draws["lambda"][:, None]
        # above 0: an infinite log density of a record would make those of others undefined in a matrix product
        return np.maximum(precision * mean, SMALLEST), np.maximum(precision * (1 - mean), SMALLEST)
