"""E10: the synthetic mean has no finite rho when the variance is estimated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy import integrate, stats

from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check
from formalsynth.errata.variance_pair import D, N, neighbours
from formalsynth.papers.zcdp.accounting import Setting
from formalsynth.papers.zcdp.unknown_variance import mean_delta, mean_epsilon_curve, mean_epsilon_printed

N_SYN, DELTA = 1000, 5e-6
Divergence = Callable[[float, float, float, float], float]
"""Function that maps order, shift and both variances to the Rényi divergence between two normal distributions."""


def _printed(order: float, shift: float, variance: float, other: float) -> float:
    """Divergence if both distributions have the variance of the data set."""
    return order * shift**2 / (2 * variance)


def _derived(order: float, shift: float, variance: float, other: float) -> float:
    mixed = order * other + (1 - order) * variance
    if mixed <= 0:
        return math.inf
    spread = math.log(mixed) - (1 - order) * math.log(variance) - order * math.log(other)
    return order * shift**2 / (2 * mixed) - spread / (2 * (order - 1))


def _epsilon(formula: Divergence) -> Callable[[Setting, float, float], float]:
    return mean_epsilon_printed if formula is _printed else mean_epsilon_curve


@numeric_check(
    "E10",
    printed=Reading("D_α = rho α with rho = n_syn (2d/n)² / (2 s²), at every order α", _printed),
    derived=Reading(
        "D_α = α Δ² / (2 v_α) − log(v_α / (v^(1−α) v'^α)) / (2 (α − 1)), v_α = α v' + (1 − α) v; infinite where v_α ≤ 0", _derived
    ),
)
def divergence_of_synthetic_means(formula: Divergence) -> Sequence[Comparison]:
    """Two data sets that differ in one record (n = 1000, d = 4), and the means of 1000 synthetic records from each."""
    smaller, larger = neighbours()
    shift = float(larger.mean() - smaller.mean())
    variance, other = (float(data.var(ddof=1)) / N_SYN for data in (larger, smaller))
    rows = [
        Comparison(
            f"Rényi divergence of order {order:g}", exactly(formula(order, shift, variance, other)),
            _integrated(order, shift, variance, other), "integral of p^α q^(1−α)",
        )
        for order in (2.0, 8.0, 15.0, 20.0)
    ]  # fmt: skip
    setting = Setting(N, D)
    spent = mean_delta(setting, N_SYN, _epsilon(formula)(setting, N_SYN, DELTA))
    how = "exact curve of two normal distributions"
    return [*rows, Comparison("δ needed at its ε, δ = 5e-6 spent", exactly(spent), Interval(0.0, DELTA * (1 + 1e-6)), how)]


def _integrated(order: float, shift: float, variance: float, other: float) -> Interval:
    """Divergence by quadrature; infinite if the integrand still grows at a large distance."""
    base, shifted = stats.norm(0.0, math.sqrt(variance)), stats.norm(shift, math.sqrt(other))

    def log_ratio(x: float) -> float:
        return float(order * base.logpdf(x) + (1 - order) * shifted.logpdf(x))

    far = 1000 * math.sqrt(variance)
    if log_ratio(2 * far) > log_ratio(far):
        return exactly(math.inf)
    grid = np.linspace(-far, far, 200_001)
    values = order * base.logpdf(grid) + (1 - order) * shifted.logpdf(grid)
    peak = float(values.max())
    mass = integrate.simpson(np.exp(values - peak), x=grid)
    divergence = (peak + math.log(mass)) / (order - 1)
    return near(divergence, 1e-6 * abs(divergence))
