"""Lognormal records around a predictor."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import Finite, NonNegative
from formalsynth.core.population import population


@population()
def lognormal_on_normal(
    generator: np.random.Generator,
    n: int,
    *,
    predictor_mean: Finite,
    predictor_sd: NonNegative,
    intercept: Finite,
    sigma: NonNegative,
) -> Records:
    """``z ~ normal(predictor_mean, predictor_sd)``, ``x ~ lognormal(z + intercept, sigma)`` (range paper, Section 4.1)."""
    z = generator.normal(predictor_mean, predictor_sd, n)
    x = np.exp(z + intercept + sigma * generator.standard_normal(n))
    return Records(x, np.column_stack([np.ones(n), z]))
