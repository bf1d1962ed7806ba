"""Negative binomial counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.family import StanData, array_in, family, number_in
from formalsynth.core.tables import NEGATIVE_BINOMIAL, Tabled, negative_binomial_draws
from formalsynth.families._counts import MEAN_PRIOR, checked, grouped, mean_prior, posterior_mean
from formalsynth.families._negative_binomial import NegativeBinomial, clipped_counts, moments


@family("negative_binomial")
@dataclass(frozen=True)
class NegativeBinomialFamily(NegativeBinomial):
    """``x ~ NB(mu, phi)`` with ``mu ~ gamma(shape, rate)`` and ``1 / phi ~ half-Cauchy(0, dispersion)``.

    Source: reweight paper, Section 3.1 and Supplement 2; the prior on the mean is our choice.
    """

    program: str = "negative_binomial"
    parameters: tuple[str, ...] = ("mu", "phi")
    censors: bool = True
    priors: Mapping[str, float] = field(default_factory=lambda: {**MEAN_PRIOR, "dispersion": 5.0})

    tabled = Tabled(NEGATIVE_BINOMIAL, ("shape", "rate", "dispersion"), negative_binomial_draws, predictors=0)

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Group the counts into unique values with summed weights, and list the censored records.

        Raises:
            ValueError: the data are not counts, or no record has weight.
        """
        x = checked(records.x, weights)
        first, group, summed = grouped(x[:, None], weights)
        return {
            "u": len(first),
            "y": x[first].astype(int),
            "weight": summed,
            **clipped_counts(x, weights, threshold, group),
            **mean_prior(priors),
            "prior_dispersion": priors["dispersion"],
        }

    def inits(self, stan_data: StanData) -> StanData:
        """Moments of the weighted counts."""
        y, weight = array_in(stan_data, "y"), array_in(stan_data, "weight")
        mean = posterior_mean(stan_data, float(weight @ y), float(weight.sum()))
        return {"mu": mean, "reciprocal_phi": moments(y, weight)[1]}

    def far_start(self, stan_data: StanData) -> StanData:
        """Second starting point of a clipped fit: three times the mean and the dispersion."""
        return {name: 3 * number_in(self.inits(stan_data), name) for name in ("mu", "reciprocal_phi")}

    def arguments(self, records: Records, draws: Draws) -> tuple[Array, ...]:
        """Mean and phi, each (S, 1)."""
        return draws["mu"][:, None], draws["phi"][:, None]
