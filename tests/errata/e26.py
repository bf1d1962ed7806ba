"""E26: number of Bayesian synthetic records for a given rho."""

import math

import numpy as np
from check import Interval, Row, numeric_check
from scipy.sparse.linalg import LinearOperator, cg

N, D = 1000, 4.0
"""Number of records, and bound on their absolute values, as in Figure 1 of the paper; the variance is 1."""
SHIFT = 2 * D / N
"""Change of the mean when a record moves from one bound to the other."""
MANY = 1_000_000
"""Number of records whose rho is below a target that no number of records reaches."""
MANY_RECORDS, SEARCH = f"rho of {MANY:,} records", "largest number whose rho from the covariance matrix is at most the target"
"""Methods that give the reference."""


@numeric_check(
    "E26",
    printed="n_syn = 2 n² ρ σ² (1 + 1/n) / (4 d²)",
    derived="n_syn = k / (1 − k/n) with k = 2 n² ρ σ² / (4 d²); unlimited for k ≥ n",
)
def records_for_a_given_rho():
    """Rho from the joint covariance matrix of the records, one data set, n = 1000, d = 4, σ = 1."""
    rows = []
    for target in (0.01, 0.03, 0.033, 0.5):
        plugin = 2 * target / SHIFT**2
        unlimited = plugin >= N
        reference = unreached(target) if unlimited else searched(target)
        derived = math.inf if unlimited else plugin / (1 - plugin / N)
        how = MANY_RECORDS if unlimited else SEARCH
        rows.append(Row(f"records for rho = {target:g}", plugin * (1 + 1 / N), derived, reference, how))
    return rows


def rho(n_syn):
    """Half the squared distance of neighbouring means in the metric of the covariance I + J/n, by conjugate gradients."""
    covariance = LinearOperator((n_syn, n_syn), matvec=lambda x: x + x.sum() / N, dtype=float)
    shift = np.full(n_syn, SHIFT)
    solution, failed = cg(covariance, shift, rtol=1e-12)
    assert not failed, f"conjugate gradients did not converge for {n_syn} records"
    return float(0.5 * shift @ solution)


def searched(target):
    """Numbers of records between which rho exceeds the target."""
    low, high = 1, 20 * N
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if rho(middle) <= target else (low, middle)
    return Interval(low, high)


def unreached(target):
    """Numbers of records that may reach the target."""
    return Interval(MANY, math.inf) if rho(MANY) < target else Interval(0.0, MANY)
