"""Beta records."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.population import population

QUANTILES = {"median": 0.5, "q15": 0.15, "q90": 0.9}


def beta_truth(*, shape1: float, shape2: float) -> dict[str, float]:
    """Return the mean and quantiles of the population."""
    quantiles = {name: float(betaincinv(shape1, shape2, level)) for name, level in QUANTILES.items()}
    return {"mean": shape1 / (shape1 + shape2), **quantiles}


@population(truth=beta_truth)
def beta(generator: np.random.Generator, n: int, *, shape1: PositiveNumber, shape2: PositiveNumber) -> Records:
    """``x ~ Beta(shape1, shape2)`` (censor paper, Section 4.1)."""
    return intercept_only(generator.beta(shape1, shape2, n))
