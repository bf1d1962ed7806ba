"""Exponential waiting times."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Draws, Index, Records, count
from formalsynth.core.clipped import clipped_records
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import StanData, family, number_in


@family("exponential")
@dataclass(frozen=True)
class ExponentialFamily:
    """``x ~ exponential(mu)``, ``mu ~ gamma(shape, rate)``: the weighted posterior is a gamma distribution."""

    program: str = "poisson"  # its posterior is a gamma distribution, too
    parameters: tuple[str, ...] = ("mu",)
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: {"shape": 1.0, "rate": 0.001})
    outcomes = Allowed("positive numbers", lambda x: bool((x > 0).all()))
    distribution = True  # noisy tables use log_interval_probability

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Sum 1 and x with the weights; a censored record has them as terms of ``log mu`` and ``-mu``, and an offset of 0."""

        def terms(kept: Index) -> Array:
            return np.column_stack([np.ones(len(kept)), records.x[kept], np.zeros(len(kept))])

        sums = {"weighted_sum": float(weights.sum()), "weight_total": float(weights @ records.x)}
        prior = {"prior_shape": priors["shape"], "prior_rate": priors["rate"]}
        return {**sums, **clipped_records(terms, weights, threshold), **prior}

    def inits(self, stan_data: StanData) -> StanData:
        """Near the middle of the posterior."""
        return {"mu": (number_in(stan_data, "weighted_sum") + 1) / (number_in(stan_data, "weight_total") + 1)}

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """``log mu - mu x`` as the product of (S, 2) and (n, 2)."""
        mu = draws["mu"]
        return np.column_stack([np.log(mu), -mu]), np.column_stack([np.ones(len(records)), records.x])

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """``exp(-mu lower) - exp(-mu upper)``, as a logarithm (S, n)."""
        mu, lower = draws["mu"][:, None], np.maximum(lower, 0)
        return -mu * lower + np.log(-np.expm1(-mu * (upper - lower)))

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n)."""
        return generator.exponential(1 / draws["mu"][:, None], (count(draws), len(records)))
