"""Risks of records in the simulation of the censor paper, from draws of exact posteriors on a grid."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.weights import lipschitz_weights
from formalsynth.families.beta import BetaFamily, beta_terms
from formalsynth_workflow.papers.censor_audit.audit import beta_grid, log_likelihood, moments, posterior, product_grid

SHAPE1, SHAPE2, N = 0.5, 3.0, 2000
"""The paper's population, and its number of records."""
DRAWS, K = 1000, 0.95
"""Number of posterior draws, and the factor of re-weighting (reweight paper, Equation 3.1)."""
POINTS, REACH = 41, 6.0
"""Number of points of the grid in each direction, and its half-width in standard deviations of the posterior."""


@dataclass(frozen=True)
class Sample:
    """A simulated data set."""

    x: Array
    """(n,) records."""
    log_likelihood: Array
    """(S, n) log-likelihoods over draws of the unweighted posterior."""
    min_max: Array
    """(n,) min-max weights."""
    generator: np.random.Generator

    @property
    def risk(self) -> Array:
        """Largest absolute log-likelihood of each record (n,)."""
        return np.asarray(np.abs(self.log_likelihood).max(axis=0))

    def re_weighted(self) -> Array:
        """Compute re-weighted weights (n,), from the fit with min-max weights."""
        risk = np.abs(log_likelihoods(self.x, self.min_max, self.generator)).max(axis=0)
        return np.asarray(np.minimum(1.0, K * (self.min_max * risk).max() / risk))

    def censored(self, weights: Array, threshold: float) -> int:
        """Count the records that the mechanism with these weights (n,) censors in at least one draw."""
        risk = np.abs(log_likelihoods(self.x, weights, self.generator, threshold)).max(axis=0)
        return int((weights * risk > threshold).sum())


@functools.cache
def samples(number: int) -> tuple[Sample, ...]:
    """Simulate data sets, with the unweighted fit of each."""
    return tuple(_sample(np.random.default_rng([16, k])) for k in range(number))


def _sample(generator: np.random.Generator) -> Sample:
    x = generator.beta(SHAPE1, SHAPE2, N)
    f = log_likelihoods(x, np.ones(N), generator)
    return Sample(x, f, lipschitz_weights(np.abs(f).max(axis=0)), generator)


def log_likelihoods(x: Array, weights: Array, generator: np.random.Generator, threshold: float | None = None) -> Array:
    """Log-likelihoods (S, n) of the records over draws of the pseudo posterior, censored if there is a threshold."""
    priors = BetaFamily().priors
    rough = beta_grid(SHAPE1 / (SHAPE1 + SHAPE2), SHAPE1 + SHAPE2, N, priors)
    mass = posterior(rough, log_likelihood(rough, x, weights, threshold))
    phi, log_lambda = (
        np.linspace(mean - REACH * sd, mean + REACH * sd, POINTS)
        for mean, sd in (moments(rough.phi, mass), moments(np.log(rough.lambda_), mass))
    )
    fine = product_grid(phi, log_lambda, priors)
    log_mass = fine.log_prior + log_likelihood(fine, x, weights, threshold)
    share = np.exp(log_mass - log_mass.max())
    drawn = generator.choice(len(share), DRAWS, p=share / share.sum())
    return np.asarray(fine.coefficients[drawn] @ beta_terms(x).T)
