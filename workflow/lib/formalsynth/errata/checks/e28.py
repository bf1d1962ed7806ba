"""E28: guarantee of plug-in synthesis with unknown variance for data sets without variance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, numeric_check

N, D, N_SYN, RELEASES, DELTA = 1000, 4.0, 1000, 200, 1e-5
"""Numbers of records, bound, synthetic records and releases, and a δ that a guarantee would state."""
SmallestDelta = Callable[[float], float]
"""Function from ε to the smallest δ that holds for every pair of neighbours."""


@numeric_check(
    "E28",
    printed=Reading("a δ such as 1e-5 holds at some ε", lambda epsilon: DELTA),
    derived=Reading("δ = 1 at every ε", lambda epsilon: 1.0),
)
def guarantee_without_variance(formula: SmallestDelta) -> Sequence[Comparison]:
    """1000 records of 0, and the same with one record at d; the event that all synthetic records are equal."""
    constant = np.zeros(N)
    neighbour = np.append(constant[1:], D)
    generator = np.random.default_rng(28)
    p, q = (_share_equal(data, generator) for data in (constant, neighbour))
    how = "share of releases with equal records, minus exp(ε) times that share for the neighbour"
    return [
        Comparison(f"δ at ε = {epsilon:g}", exactly(formula(epsilon)), Interval(p - math.exp(epsilon) * q, 1.0), how)
        for epsilon in (1.0, 10.0, 100.0)
    ]


def _share_equal(data: Array, generator: np.random.Generator) -> float:
    """Share of simulated releases in which all synthetic records are equal."""
    records = generator.normal(data.mean(), data.std(ddof=1), (RELEASES, N_SYN))
    return float((np.ptp(records, axis=1) == 0).mean())
