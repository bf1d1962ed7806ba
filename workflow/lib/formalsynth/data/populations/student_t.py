"""Records around a predictor with Student t errors."""

from __future__ import annotations

import math

import numpy as np
from pydantic import StrictBool

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import Finite, NonNegative, PositiveNumber
from formalsynth.core.population import population


def student_t_truth(
    *, predictor_mean: float, intercept: float, slope: float, df: float, exponentiated: bool = False, **_: object
) -> dict[str, float]:
    """Return the mean and median of the population; the mean only if it exists.

    Predictor and error are symmetric around their centres, and so is their sum. Once exponentiated, it has no mean.
    """
    centre = intercept + slope * predictor_mean
    if exponentiated:
        return {"median": math.exp(centre)}
    return {"median": centre} | ({"mean": centre} if df > 1 else {})


@population(truth=student_t_truth)
def student_t_regression(
    generator: np.random.Generator,
    n: int,
    *,
    predictor_mean: Finite,
    predictor_sd: NonNegative,
    intercept: Finite,
    slope: Finite,
    df: PositiveNumber,
    scale: NonNegative,
    exponentiated: StrictBool = False,
) -> Records:
    """``z ~ normal(predictor_mean, predictor_sd)``, ``x = intercept + slope z + scale t(df)``; exp of it if exponentiated.

    Errors have standard deviation ``scale sqrt(df / (df - 2))`` for df above 2. With few degrees of freedom, exponentiated
    errors can overflow. Source: ours.
    """
    z = generator.normal(predictor_mean, predictor_sd, n)
    x = intercept + slope * z + scale * generator.standard_t(df, n)
    return Records(np.exp(x) if exponentiated else x, np.column_stack([np.ones(n), z]))
