"""Normal and lognormal regressions; intercept-only when the design is one constant column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.clipped import clipped_in_ranges, clipped_records
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.core.tables import NORMAL, Tabled, normal_draws
from formalsynth.families._normal import LOG_SQRT_2PI, POSITIVE, log_ends, log_interval_probability, predict

ANY = Allowed("numbers", lambda x: True)


@family("normal", log=False)
@family("lognormal", "lognormal_regression", log=True)
@dataclass(frozen=True)
class LinearFamily:
    """``transform(x) = design . beta + sigma * noise`` with a conjugate normal-inverse-gamma prior.

    Prior: ``sigma^2 ~ inverse gamma(shape, scale)``, ``beta | sigma ~ normal(0, sd * sigma)``. The papers do not print
    a prior; we chose a conjugate one because the weighted posterior is then known exactly, which tests use.
    """

    log: bool
    program: str = "linear_regression"
    parameters: tuple[str, ...] = ("beta", "sigma")
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: {"sd": 100.0, "shape": 0.01, "scale": 0.01})

    @property
    def outcomes(self) -> Allowed:
        """Positive numbers if their logarithm is taken, else any numbers."""
        return POSITIVE if self.log else ANY

    @property
    def tabled(self) -> Tabled:
        """Declarations for noisy tables."""
        return Tabled(NORMAL, ("sd", "shape", "scale"), normal_draws, log=self.log)

    def outcome(self, records: Records) -> Array:
        """Outcome (n,) on the scale of the normal errors."""
        return np.log(records.x) if self.log else records.x

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Sufficient statistics of the weighted regression, and the terms of each record if it is censored.

        Raises:
            ValueError: the weighted design does not identify the coefficients.
        """
        design, y = records.design, self.outcome(records)
        total = float(weights.sum())
        root = np.sqrt(weights)
        if np.linalg.matrix_rank(root[:, None] * design) < design.shape[1]:
            raise ValueError("too few records with a positive weight to identify the regression")
        q, r = np.linalg.qr(root[:, None] * design)
        projected = q.T @ (root * y)
        residual = root * y - q @ projected
        theta_hat, inverse_factor = projected / np.sqrt(total), np.linalg.inv(r / np.sqrt(total))
        return {
            "p": design.shape[1],
            "weight_total": total,
            "theta_hat": theta_hat,
            "inverse_factor": inverse_factor,
            "residual_squares": float(residual @ residual),
            **clipped_records(lambda kept: self._terms(y[kept], design[kept] @ inverse_factor, theta_hat), weights, threshold),
            "basis": np.empty((0, design.shape[1])),
            "prior_sd": priors["sd"],
            "prior_shape": priors["shape"],
            "prior_scale": priors["scale"],
        }

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the distinct ranges and predictors of the clipped records, and their numbers of records."""
        basis = (records.design @ array_in(data, "inverse_factor"))[weights > 0]
        ends = log_ends(low, high) if self.log else (low, high)
        ranged, first = clipped_in_ranges(data, weights, *ends, base, basis)
        return {**ranged, "basis": basis[first]}

    def _terms(self, y: Array, basis: Array, theta_hat: Array) -> Array:
        """Terms (n, k) of the log density expanded around ``theta_hat``, in the order of the Stan program."""
        residual = y - basis @ theta_hat
        first, second = np.triu_indices(basis.shape[1])
        offset = -y if self.log else np.zeros_like(y)
        products = basis[:, first] * basis[:, second]
        return np.column_stack([residual**2, residual[:, None] * basis, products, np.ones_like(y), offset])

    def inits(self, stan_data: StanData) -> StanData:
        """Weighted least squares estimate."""
        squares = number_in(stan_data, "residual_squares") + 2 * number_in(stan_data, "prior_scale")
        variance = squares / (number_in(stan_data, "weight_total") + 1)
        return {"theta": stan_data["theta_hat"], "log_sigma": 0.5 * float(np.log(variance))}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: five times the residual standard deviation, and a fit that far off."""
        log_sigma = number_in(self.inits(stan_data), "log_sigma") + np.log(5)
        return {"theta": array_in(stan_data, "theta_hat") + np.exp(log_sigma), "log_sigma": float(log_sigma)}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3 + p + p (p + 1) / 2.

        The quadratic form is expanded around the least squares fit in an orthonormal basis of the design: with raw
        columns it loses digits to cancellation when the predictors are nearly collinear.
        """
        design, y = records.design, self.outcome(records)
        q, r = np.linalg.qr(design)
        least_squares, _, rank, _ = np.linalg.lstsq(r, q.T @ y, rcond=max(design.shape) * np.finfo(float).eps)
        if rank == design.shape[1]:
            least_squares = np.linalg.solve(r, q.T @ y)
        residual = y - design @ least_squares
        offset = (draws["beta"] - least_squares) @ r.T
        precision = 1 / draws["sigma"][:, None] ** 2
        first, second = np.triu_indices(len(r))
        multiplicity = np.where(first == second, 1.0, 2.0)
        left = [
            -0.5 * precision,
            precision * offset,
            -0.5 * precision * multiplicity * offset[:, first] * offset[:, second],
            -np.log(draws["sigma"])[:, None] - LOG_SQRT_2PI,
            np.ones_like(precision),
        ]
        right = [
            residual[:, None] ** 2,
            residual[:, None] * q,
            q[:, first] * q[:, second],
            np.ones((len(y), 1)),
            (-y if self.log else np.zeros_like(y))[:, None],
        ]
        return np.hstack(left), np.hstack(right)

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability of the intervals, with full relative accuracy in both tails."""
        return log_interval_probability(records.design, draws, lower, upper, self.log)

    def natural(self, draws: Draws) -> Array:
        """Natural parameters (S, p + 1), up to constant factors: ``beta / sigma^2`` and ``1 / sigma^2``."""
        precision = draws["sigma"][:, None] ** -2.0
        return np.hstack([draws["beta"] * precision, precision])

    def of_natural(self, natural: Array) -> Draws:
        """Inverse of :meth:`natural`; sigma is NaN if the precision is negative."""
        return {"beta": natural[:, :-1] / natural[:, -1:], "sigma": natural[:, -1] ** -0.5}

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n)."""
        return predict(generator, records.design, draws, self.log)
