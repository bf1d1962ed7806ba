"""Lognormal records around a predictor."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import Finite, NonNegative, Proportion
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
    width: NonNegative = 0.0,
    outside: Proportion = 0.0,
) -> Records:
    """``z ~ normal(predictor_mean, predictor_sd)``, ``x ~ lognormal(z + intercept, sigma)`` (range paper, Section 4.1).

    With a ``width``, further columns ``low`` and ``high`` are the ends of a range for each record, at this distance from a
    guess of its logarithm. The guess is uniform within the distance, and for the share ``outside`` of the records beyond it.
    """
    z = generator.normal(predictor_mean, predictor_sd, n)
    x = np.exp(z + intercept + sigma * generator.standard_normal(n))
    design = np.column_stack([np.ones(n), z])
    if not width:
        return Records(x, design)
    beyond, share = generator.random(n) < outside, generator.uniform(-1, 1, n)
    guess = np.log(x) + width * (share + beyond * np.sign(share))
    return Records(x, design, {"low": np.exp(guess - width), "high": np.exp(guess + width)})
