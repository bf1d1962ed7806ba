"""Negative binomial regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.core.tables import NEGATIVE_BINOMIAL_REGRESSION, Tabled, negative_binomial_regression_draws
from formalsynth.families._counts import checked, grouped
from formalsynth.families._negative_binomial import NegativeBinomial, clipped_counts, moments

LARGEST_EXPONENT = 700.0
"""Largest absolute log mean whose mean is represented: one that is 0 or infinite would make all log-likelihoods undefined."""


@family("negative_binomial_regression")
@dataclass(frozen=True)
class NegativeBinomialRegressionFamily(NegativeBinomial):
    """``x ~ NB(exp(design . beta), phi)`` with the hierarchical prior that the reweight paper prints (Supplement 2).

    ``beta ~ normal(0, diag(s) C diag(s))``, ``C ~ LKJ(correlation)``, ``s ~ half-t(df, scale)``. Factors have one column
    for each distinct record, which means many columns when predictors are continuous.
    """

    program: str = "negative_binomial_regression"
    parameters: tuple[str, ...] = ("beta", "phi")
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: {"dispersion": 5.0, "correlation": 6.0, "df": 3.0, "scale": 1.0})

    tabled = Tabled(
        NEGATIVE_BINOMIAL_REGRESSION,
        ("dispersion", "correlation", "df", "scale"),
        negative_binomial_regression_draws,
        predictors=1,
    )

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Group equal records and sum their weights, in an orthonormal basis of the weighted design; list the censored records.

        Raises:
            ValueError: the data are not counts, or the weighted design does not identify the coefficients.
        """
        x, design = checked(records.x, weights), records.design
        first, group, summed = grouped(np.column_stack([x, design]), weights)
        design = design[first]
        root = np.sqrt(summed / summed.sum())[:, None]
        if np.linalg.matrix_rank(root * design) < design.shape[1]:
            raise ValueError("too few records with a positive weight to identify the regression")
        inverse_factor = np.linalg.inv(np.linalg.qr(root * design).R)
        basis = design @ inverse_factor
        mean, excess = moments(x[first], summed)
        return {
            "u": len(first),
            "p": design.shape[1],
            "y": x[first].astype(int),
            "weight": summed,
            **clipped_counts(x, weights, threshold, group),
            "basis": basis,
            "inverse_factor": inverse_factor,
            # Weighted least squares on the log scale: the basis is orthonormal under the weights.
            "theta_hat": basis.T @ (summed * np.log(x[first] + 0.5)) / summed.sum(),
            "information": float(summed.sum() * mean / (1 + mean * excess)),
            **{f"prior_{name}": priors[name] for name in ("dispersion", "correlation", "df", "scale")},
        }

    def inits(self, stan_data: StanData) -> StanData:
        """Least squares estimate, near which the standardised coefficients are 0."""
        p = int(number_in(stan_data, "p"))
        return {"standardised": np.zeros(p), "reciprocal_phi": 0.1, "sd": np.ones(p), "correlation_factor": np.eye(p)}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: far from the least squares estimate, with a large dispersion."""
        near = self.inits(stan_data)
        return {**near, "standardised": array_in(near, "standardised") + 5, "reciprocal_phi": 3.0}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean (S, n), bounded where floating point ends, and phi (S, 1)."""
        log_mean = draws["beta"] @ records.design.T
        return np.exp(np.clip(log_mean, -LARGEST_EXPONENT, LARGEST_EXPONENT)), draws["phi"][:, None]

    def log_likelihood_of(self, records: Records, draws: Draws) -> Array:
        """Log-likelihood (S, n), exact for all log means: beyond the bounds, it is linear in them."""
        values, log_mean = super().log_likelihood_of(records, draws), draws["beta"] @ records.design.T
        if (np.abs(log_mean) > LARGEST_EXPONENT).any():
            values += records.x * np.minimum(log_mean + LARGEST_EXPONENT, 0)
            values -= draws["phi"][:, None] * np.maximum(log_mean - LARGEST_EXPONENT, 0)
        return values
