"""Simulated confidential data, by the name that config uses.

A population is what the records are drawn from; it need not be the family that is fitted to them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.families import Records


def lognormal_on_normal(
    generator: np.random.Generator,
    n: int,
    *,
    predictor_mean: float,
    predictor_sd: float,
    intercept: float,
    sigma: float,
) -> Records:
    """``z ~ normal(predictor_mean, predictor_sd)``, ``x ~ lognormal(z + intercept, sigma)`` (range paper, Section 4.1)."""
    z = generator.normal(predictor_mean, predictor_sd, n)
    x = np.exp(z + intercept + sigma * generator.standard_normal(n))
    return {"x": x, "design": np.column_stack([np.ones(n), z])}


POPULATIONS: dict[str, Callable[..., Records]] = {"lognormal_on_normal": lognormal_on_normal}
