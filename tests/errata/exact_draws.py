"""Exact posterior draws of the lognormal regression, and the bounds of an LW synthesizer computed from them."""

from __future__ import annotations

import numpy as np

from formalsynth.audit.exact import exact_posteriors
from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES, Family
from formalsynth.core.weights import lipschitz_weights


def family() -> Family:
    """Family of the lognormal regression."""
    FAMILIES.find()
    return FAMILIES["lognormal_regression"]


def simulated_records(generator: np.random.Generator, n: int) -> Records:
    """Simulate a data set of the range paper, Section 4.1: ``z ~ N(2, 1), x ~ lognormal(z + 1, 1)``."""
    z = generator.normal(2, 1, n)
    return Records(np.exp(z + 1 + generator.standard_normal(n)), np.column_stack([np.ones(n), z]))


def draws(records: Records, weights: Array, generator: np.random.Generator, size: int) -> Draws:
    """Draw ``size`` times from the pseudo posterior with the given weights (n,)."""
    exact = exact_posteriors(family(), records, family().priors)
    return exact.draws(exact.posterior(weights), generator.random((size, exact.dimension)))


def min_max_weights(records: Records, generator: np.random.Generator, size: int) -> Array:
    """LW weights (n,), computed from draws of the unweighted posterior."""
    ones = np.ones(len(records))
    return lipschitz_weights(
        record_bounds(family(), records, draws(records, ones, generator, size), [Sensitive(ones)])[0].by_record
    )
