"""Limit law of the Lipschitz bound with min-max weights.

With m and M the smallest and the largest risk, min-max weights give ``r (M - r) / (M - m)``, which is largest at ``r = M / 2``:

    Delta = M^2 / (4 (M - m)) where M > 2 m, and m otherwise.

M is the largest of n risks. With an exponential tail, ``Pr(r > t) = exp(-t / a)`` up to slower terms, M is b_n + a G with G a
Gumbel variable and b_n the risk that one record in n exceeds. The standard deviation of Delta therefore tends to
``a pi / (4 sqrt(6))``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.risks import RiskPopulation
from formalsynth.core.arrays import Array

LIMIT = math.pi / (4 * math.sqrt(6))
"""Limit of the standard deviation of Delta, for a = 1."""
POINTS = 20_000


@dataclass(frozen=True)
class Law:
    """Distribution of Delta at one n."""

    a: float
    b: float
    median: float
    sd: float


def min_max_bound(smallest: float | Array, largest: float | Array) -> Array:
    """Bound ``max_i r_i (M - r_i) / (M - m)``, assuming that there are risks near M / 2."""
    m, top = np.asarray(smallest), np.asarray(largest)
    return np.where(top > 2 * m, top**2 / (4 * (top - m)), m)


def law(population: RiskPopulation, n: int) -> Law:
    """Law of Delta, with scale and location from the population's tail at ``1 / n`` and m the median of the smallest risk."""
    log_n = math.log(n)
    b = population.quantile(-log_n)
    a = population.quantile(-log_n - 0.5) - population.quantile(-log_n + 0.5)
    smallest = population.quantile(math.log1p(-math.log(2) / n))
    gumbel = -np.log(-np.log((np.arange(POINTS) + 0.5) / POINTS))
    delta = min_max_bound(smallest, b + a * gumbel)
    return Law(a, b, float(np.median(delta)), float(delta.std()))
