"""Counts."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.constraints import Finite, PositiveNumber, Proportion
from formalsynth.core.population import population


@population()
def poisson(generator: np.random.Generator, n: int, *, mu: PositiveNumber) -> Records:
    """``x ~ Poisson(mu)`` (reweight paper, Supplement 5)."""
    return intercept_only(generator.poisson(mu, n))


@population()
def negative_binomial_mixture(
    generator: np.random.Generator,
    n: int,
    *,
    share: Proportion,
    mu1: PositiveNumber,
    phi1: PositiveNumber,
    mu2: PositiveNumber,
    phi2: PositiveNumber,
) -> Records:
    """``x ~ share NB(mu1, phi1) + (1 - share) NB(mu2, phi2)``, variances ``mu + mu^2 / phi`` (reweight paper, Section 3.1)."""
    first = generator.random(n) < share
    mu, phi = np.where(first, mu1, mu2), np.where(first, phi1, phi2)
    return intercept_only(generator.negative_binomial(phi, phi / (phi + mu)))


@population()
def negative_binomial_regression(
    generator: np.random.Generator,
    n: int,
    *,
    mu: PositiveNumber,
    phi: PositiveNumber,
    slope1: Finite,
    slope2: Finite,
) -> Records:
    """``x ~ NB(mu exp(slope1 z1 + slope2 z2), phi)`` with z1 in {0, 1} and z2 in {-1, -0.5, ..., 1} (chosen)."""
    predictors = np.column_stack([generator.integers(0, 2, n), generator.integers(-2, 3, n) / 2])
    mean = mu * np.exp(predictors @ [slope1, slope2])
    return Records(generator.negative_binomial(phi, phi / (phi + mean)).astype(float), np.column_stack([np.ones(n), predictors]))
