"""E26: number of Bayesian synthetic records for a given rho."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from formalsynth.errata.check import Comparison, Interval, Reading, exactly, numeric_check

N, D = 1000, 4.0
"""Number of records, and bound on their absolute values, as in Figure 1 of the paper; the variance is 1."""
SHIFT = 2 * D / N
"""Change of the mean when a record moves from one bound to the other."""
MANY = 1_000_000
"""Number of records whose rho is below a target that no number of records reaches."""
RecordsFor = Callable[[float], float]
"""Function from rho to the number of records in one data set."""


def _derived(rho: float) -> float:
    plugin = 2 * rho / SHIFT**2
    return plugin / (1 - plugin / N) if plugin < N else math.inf


@numeric_check(
    "E26",
    printed=Reading("n_syn = 2 n² ρ σ² (1 + 1/n) / (4 d²)", lambda rho: 2 * rho * (1 + 1 / N) / SHIFT**2),
    derived=Reading("n_syn = k / (1 − k/n) with k = 2 n² ρ σ² / (4 d²); unlimited for k ≥ n", _derived),
)
def records_for_a_given_rho(formula: RecordsFor) -> Sequence[Comparison]:
    """Rho from the joint covariance matrix of the records, one data set, n = 1000, d = 4, σ = 1."""
    how = "largest number whose rho from the covariance matrix is at most the target"
    return [
        *(Comparison(f"records for rho = {rho:g}", exactly(formula(rho)), _searched(rho), how) for rho in (0.01, 0.03)),
        *(
            Comparison(f"records for rho = {rho:g}", exactly(formula(rho)), _unreached(rho), f"rho of {MANY:,} records")
            for rho in (0.033, 0.5)
        ),
    ]


def _rho(n_syn: int) -> float:
    """Half the squared distance of neighbouring means in the metric of the covariance I + J/n, by conjugate gradients."""
    covariance = LinearOperator((n_syn, n_syn), matvec=lambda x: x + x.sum() / N, dtype=float)
    shift = np.full(n_syn, SHIFT)
    solution, failed = cg(covariance, shift, rtol=1e-12)
    if failed:
        raise RuntimeError(f"conjugate gradients did not converge for {n_syn} records")
    return float(0.5 * shift @ solution)


def _searched(rho: float) -> Interval:
    low, high = 1, 20 * N
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _rho(middle) <= rho else (low, middle)
    return Interval(low, high)


def _unreached(rho: float) -> Interval:
    return Interval(MANY, math.inf) if _rho(MANY) < rho else Interval(0.0, MANY)
