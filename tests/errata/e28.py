"""E28: guarantee of plug-in synthesis with unknown variance for data sets without variance."""

import math

import numpy as np
from check import Interval, Row, numeric_check

N, D, N_SYN, RELEASES, DELTA = 1000, 4.0, 1000, 200, 1e-5
"""Numbers of records, bound, synthetic records and releases, and a δ that a guarantee would state."""


@numeric_check("E28", printed="a δ such as 1e-5 holds at some ε", derived="δ = 1 at every ε")
def guarantee_without_variance():
    """1000 records of 0, and the same with one record at d; the event that all synthetic records are equal."""
    constant = np.zeros(N)
    neighbour = np.append(constant[1:], D)
    generator = np.random.default_rng(28)
    p, q = (share_equal(data, generator) for data in (constant, neighbour))
    how = "share of releases with equal records, minus exp(ε) times that share for the neighbour"
    return [
        Row(f"δ at ε = {epsilon:g}", DELTA, 1.0, Interval(p - math.exp(epsilon) * q, 1.0), how) for epsilon in (1.0, 10.0, 100.0)
    ]


def share_equal(data, generator):
    """Share of simulated releases in which all synthetic records are equal."""
    records = generator.normal(data.mean(), data.std(ddof=1), (RELEASES, N_SYN))
    return float((np.ptp(records, axis=1) == 0).mean())
