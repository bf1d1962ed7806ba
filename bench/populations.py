"""Populations of the families with a predictor, for bench/large.py."""

import numpy as np
from scipy.special import expit

from formalsynth.core.arrays import Records
from formalsynth.core.population import population


def _design(generator: np.random.Generator, n: int) -> np.ndarray:
    return np.column_stack([np.ones(n), generator.integers(18, 96, n) / 50])


@population()
def shares_by_age(generator: np.random.Generator, n: int) -> Records:
    """Draw shares whose mean grows with age, which has 78 values."""
    design = _design(generator, n)
    mean = expit(design @ [-1.0, 0.5])
    return Records(generator.beta(4 * mean, 4 * (1 - mean)), design)


@population()
def amounts_by_age(generator: np.random.Generator, n: int) -> Records:
    """Draw amounts with a gamma distribution whose mean grows with age."""
    design = _design(generator, n)
    return Records(generator.gamma(2.0, np.exp(design @ [1.0, 0.5]) / 2), design)


@population()
def counts_by_age(generator: np.random.Generator, n: int) -> Records:
    """Draw counts whose mean grows with age."""
    design = _design(generator, n)
    return Records(generator.poisson(generator.gamma(5.0, np.exp(design @ [1.0, 0.5]) / 5)).astype(float), design)
