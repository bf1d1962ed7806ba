"""Lognormal regression with exchangeable coefficients, such as the means of areas that vary around a common mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Draws, Index, Records, distinct_rows, in_groups
from formalsynth.core.clipped import clipped_in_ranges_of_groups, clipped_records
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.families._normal import LOG_SQRT_2PI, POSITIVE, log_ends, log_interval_probability, predict


@family("lognormal_areas")
@dataclass(frozen=True)
class LognormalAreasFamily:
    """``log x = design . beta + sigma * noise`` with ``beta_j ~ normal(intercept, area_sd)``.

    The design has a column for each area, which is 1 for its records, so ``beta`` are the means of the areas on the log scale.
    Records with equal predictors enter a fit through their sums.

    Prior (our choice): ``intercept ~ normal(0, intercept_sd)``, ``area_sd^2 ~ inverse gamma(area_shape, area_scale)``, with 95 %
    of ``area_sd`` between 0.19 and 0.91, and ``sigma`` half-normal with ``scale``. It keeps ``area_sd`` away from 0, where the
    coefficients of few areas, or of clipped records, form a funnel. Source: ours; areas with random effects are a motive of the
    papers.
    """

    program: str = "lognormal_areas"
    parameters: tuple[str, ...] = ("beta", "sigma", "intercept", "area_sd")
    censors: bool = True
    priors: Mapping[str, float] = field(
        default_factory=lambda: {"intercept_sd": 10.0, "area_shape": 2.0, "area_scale": 0.2, "scale": 1.0}
    )
    outcomes: Allowed = POSITIVE
    exchangeable = True  # a reference has one value for all coefficients

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Weighted moments of the records with equal predictors, and the terms of each record if it is censored."""
        first, group = distinct_rows(records.design)
        y, groups = np.log(records.x), len(first)
        total = np.bincount(group, weights, minlength=groups)
        mean = np.bincount(group, weights * y, minlength=groups) / np.where(total > 0, total, 1)
        deviation = y - mean[group]

        def terms(at: Index) -> Array:
            return np.column_stack([deviation[at] ** 2, deviation[at], np.ones(len(at)), -y[at]])

        return {
            "p": records.design.shape[1],
            "groups": groups,
            "design": records.design[first],
            "weight_total": total,
            "mean_log": mean,
            "squares": float(weights @ deviation**2),
            **clipped_records(terms, weights, threshold, group[weights > 0]),
            **{f"prior_{name}": priors[name] for name in self.priors},
        }

    def with_ranges(self, data: StanData, records: Records, weights: Array, low: Array, high: Array, base: Array) -> StanData:
        """Add the distinct ranges of the records with equal predictors."""
        return clipped_in_ranges_of_groups(data, weights, *log_ends(low, high), base)

    def inits(self, stan_data: StanData) -> StanData:
        """Weighted means of the areas, and the spread within them."""
        total, mean, design = (array_in(stan_data, name) for name in ("weight_total", "mean_log", "design"))
        centre = float(total @ mean / max(total.sum(), 1e-300))
        root = np.sqrt(total)
        effects = centre + np.linalg.lstsq(root[:, None] * design, root * (mean - centre), rcond=None)[0]
        sigma = float(np.sqrt((number_in(stan_data, "squares") + 1) / (total.sum() + 1)))
        return {"beta": np.asarray(effects, dtype=float), "sigma": sigma, "intercept": centre, "area_sd": 0.5}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: five times the spread, and means that far off."""
        near = self.inits(stan_data)
        sigma = 5 * number_in(near, "sigma")
        return {**near, "beta": array_in(near, "beta") + sigma, "intercept": number_in(near, "intercept") + sigma, "sigma": sigma}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 2, and 2 more for each distinct row of the design."""
        first, group = distinct_rows(records.design)
        mean, y = draws["beta"] @ records.design[first].T, np.log(records.x)
        precision = draws["sigma"][:, None] ** -2.0
        constant = -0.5 * precision * mean**2 - np.log(draws["sigma"])[:, None] - LOG_SQRT_2PI
        of_groups = np.stack([precision * mean, constant], axis=2).reshape(len(mean), -1)
        right = in_groups(np.column_stack([y, np.ones_like(y)]), group, len(first), np.column_stack([y**2, -y]))
        return np.hstack([-0.5 * precision, np.ones_like(precision), of_groups]), right

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability of the intervals."""
        return log_interval_probability(records.design, draws, lower, upper, log=True)

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n)."""
        return predict(generator, records.design, draws, log=True)
