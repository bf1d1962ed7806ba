"""E3: rate of the neighbour's Gamma distribution."""

import numpy as np
from check import Interval, Row, near, numeric_check, simulated_mean
from variance_pair import variances

from formalsynth_workflow.papers.zcdp.accounting import Setting
from formalsynth_workflow.papers.zcdp.unknown_variance import variance_delta, variance_epsilon_derived, variance_epsilon_half_step

N_SYN, REPEATS, DELTA = 1000, 1000, 5e-6
"""Number of synthetic records, number of simulated data sets, and the δ of the recipe."""


@numeric_check(
    "E3",
    printed="(n_syn − 1) / (2 s² ± t), where t = (2d)²/n is the change of the variance",
    derived="(n_syn − 1) / (2 (s² ± t)) = (n_syn − 1) / (2 s² ± 2 t)",
)
def rate_of_the_neighbour():
    """Two data sets that differ in one record (n = 1000, d = 4), and the variance of 1000 synthetic records from the second."""
    smaller, larger = variances()
    step, setting = larger - smaller, Setting(1000, 4.0)
    simulated = np.random.default_rng(3).normal(0.0, np.sqrt(larger), (REPEATS, N_SYN)).var(axis=1, ddof=1)
    rates = (N_SYN - 1) / (2 * smaller + step), (N_SYN - 1) / (2 * (smaller + step))
    means = [(N_SYN - 1) / 2 / rate for rate in rates]
    epsilons = (epsilon(setting, N_SYN, DELTA) for epsilon in (variance_epsilon_half_step, variance_epsilon_derived))
    spent = [variance_delta(setting, N_SYN, epsilon) for epsilon in epsilons]
    return [
        Row("mean of the Gamma distribution", *means, near(larger, 1e-9), "sample variance of the neighbour"),
        Row("the same", *means, simulated_mean(simulated), "mean variance of 1000 sets of 1000 synthetic records"),
        Row(
            "δ needed at the ε that the rate gives, δ = 5e-6 spent", *spent, Interval(0.0, DELTA),
            "exact curve of two Gamma distributions",
        ),
    ]  # fmt: skip
