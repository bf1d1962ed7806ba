"""E3: rate of the neighbour's Gamma distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check, simulated_mean
from formalsynth.errata.variance_pair import variances
from formalsynth.papers.zcdp.accounting import Setting
from formalsynth.papers.zcdp.unknown_variance import variance_delta, variance_epsilon_derived, variance_epsilon_half_step

N_SYN, REPEATS, DELTA = 1000, 1000, 5e-6
"""Number of synthetic records, number of simulated data sets, and the δ of the recipe."""


@dataclass(frozen=True)
class Neighbour:
    """Gamma rate after a change of the variance s², and the epsilon that the paper's recipe computes from it."""

    rate: Callable[[float, float], float]
    epsilon: Callable[[Setting, float, float], float]


@numeric_check(
    "E3",
    printed=Reading(
        "(n_syn − 1) / (2 s² ± t), where t = (2d)²/n is the change of the variance",
        Neighbour(lambda s2, step: (N_SYN - 1) / (2 * s2 + step), variance_epsilon_half_step),
    ),
    derived=Reading(
        "(n_syn − 1) / (2 (s² ± t)) = (n_syn − 1) / (2 s² ± 2 t)",
        Neighbour(lambda s2, step: (N_SYN - 1) / (2 * (s2 + step)), variance_epsilon_derived),
    ),
)
def rate_of_the_neighbour(formula: Neighbour) -> Sequence[Comparison]:
    """Two data sets that differ in one record (n = 1000, d = 4), and the variance of 1000 synthetic records from the second."""
    smaller, larger = variances()
    simulated = np.random.default_rng(3).normal(0.0, np.sqrt(larger), (REPEATS, N_SYN)).var(axis=1, ddof=1)
    rate = formula.rate(smaller, larger - smaller)
    setting = Setting(1000, 4.0)
    spent = variance_delta(setting, N_SYN, formula.epsilon(setting, N_SYN, DELTA))
    mean = exactly((N_SYN - 1) / 2 / rate)
    return [
        Comparison("mean of the Gamma distribution", mean, near(larger, 1e-9), "sample variance of the neighbour"),
        Comparison("the same", mean, simulated_mean(simulated), "mean variance of 1000 sets of 1000 synthetic records"),
        Comparison(
            "δ needed at the ε that the rate gives, δ = 5e-6 spent", exactly(spent), Interval(0.0, DELTA),
            "exact curve of two Gamma distributions",
        ),
    ]  # fmt: skip
