"""Poisson counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import gammaln

from formalsynth.core.arrays import Array, Draws, Integers, Records
from formalsynth.core.clipped import clipped_records
from formalsynth.core.family import StanData, family, number_in
from formalsynth.core.tables import POISSON, Tabled, poisson_draws
from formalsynth.families._counts import MEAN_PRIOR, CountFamily, checked, mean_prior, posterior_mean


@family("poisson")
@dataclass(frozen=True)
class PoissonFamily(CountFamily):
    """``x ~ Poisson(mu)``, ``mu ~ gamma(shape, rate)``: the weighted posterior is a gamma distribution."""

    program: str = "poisson"
    parameters: tuple[str, ...] = ("mu",)
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: dict(MEAN_PRIOR))

    tabled = Tabled(POISSON, ("shape", "rate"), poisson_draws, predictors=0)

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Compute the weighted number of records and the weighted sum of their counts, and the terms of censored records.

        Raises:
            ValueError: the data are not counts, or no record has weight.
        """
        x = checked(records.x, weights)
        totals = {"weight_total": float(weights.sum()), "weighted_sum": float(weights @ x)}
        clipped = clipped_records(
            lambda kept: np.column_stack([x[kept], np.ones(len(kept)), -gammaln(x[kept] + 1)]), weights, threshold
        )
        return {**totals, **clipped, **mean_prior(priors)}

    def inits(self, stan_data: StanData) -> StanData:
        """Posterior mean."""
        return {"mu": posterior_mean(stan_data, number_in(stan_data, "weighted_sum"), number_in(stan_data, "weight_total"))}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: three times the mean."""
        return {"mu": 3 * number_in(self.inits(stan_data), "mu")}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean (S, 1)."""
        return (draws["mu"][:, None],)

    def log_probability(self, x: Array, *arguments: Array) -> Array:
        """Log probability of the counts."""
        values: Array = x * np.log(arguments[0]) - arguments[0] - gammaln(x + 1)
        return values

    def tails(self, x: Array, *arguments: Array) -> tuple[Array, Array]:
        """Both tails."""
        from scipy.stats import poisson

        return np.asarray(poisson.cdf(x, *arguments)), np.asarray(poisson.sf(x, *arguments))

    def simulate(self, generator: np.random.Generator, size: tuple[int, int], *arguments: Array) -> Integers:
        """Random counts."""
        return generator.poisson(arguments[0], size)

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Factors of rank 3."""
        x, mu = records.x, draws["mu"]
        return np.column_stack([np.log(mu), -mu, np.ones_like(mu)]), np.column_stack([x, np.ones_like(x), -gammaln(x + 1)])
