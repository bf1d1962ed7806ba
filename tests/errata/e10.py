"""E10: the synthetic mean has no finite rho when the variance is estimated."""

import math

import numpy as np
from check import Interval, Row, near, numeric_check
from scipy import integrate, stats
from variance_pair import D, N, neighbours

from formalsynth_workflow.papers.zcdp.accounting import Setting
from formalsynth_workflow.papers.zcdp.unknown_variance import mean_delta, mean_epsilon_curve, mean_epsilon_printed

N_SYN, DELTA = 1000, 5e-6


@numeric_check(
    "E10",
    printed="D_α = rho α with rho = n_syn (2d/n)² / (2 s²), at every order α",
    derived="D_α = α Δ² / (2 v_α) − log(v_α / (v^(1−α) v'^α)) / (2 (α − 1)), v_α = α v' + (1 − α) v; infinite where v_α ≤ 0",
)
def divergence_of_synthetic_means():
    """Two data sets that differ in one record (n = 1000, d = 4), and the means of 1000 synthetic records from each."""
    smaller, larger = neighbours()
    shift = float(larger.mean() - smaller.mean())
    variance, other = (float(data.var(ddof=1)) / N_SYN for data in (larger, smaller))
    rows = [
        Row(
            f"Rényi divergence of order {order:g}", order * shift**2 / (2 * variance), derived(order, shift, variance, other),
            integrated(order, shift, variance, other), "integral of p^α q^(1−α)",
        )
        for order in (2.0, 8.0, 15.0, 20.0)
    ]  # fmt: skip
    setting, how = Setting(N, D), "exact curve of two normal distributions"
    epsilons = (epsilon(setting, N_SYN, DELTA) for epsilon in (mean_epsilon_printed, mean_epsilon_curve))
    spent = [mean_delta(setting, N_SYN, epsilon) for epsilon in epsilons]
    return [*rows, Row("δ needed at its ε, δ = 5e-6 spent", *spent, Interval(0.0, DELTA * (1 + 1e-6)), how)]


def derived(order, shift, variance, other):
    """Rényi divergence of two normal distributions."""
    mixed = order * other + (1 - order) * variance
    if mixed <= 0:
        return math.inf
    spread = math.log(mixed) - (1 - order) * math.log(variance) - order * math.log(other)
    return order * shift**2 / (2 * mixed) - spread / (2 * (order - 1))


def integrated(order, shift, variance, other):
    """Divergence by quadrature; infinite if the integrand still grows at a large distance."""
    base, shifted = stats.norm(0.0, math.sqrt(variance)), stats.norm(shift, math.sqrt(other))

    def log_ratio(x):
        return order * base.logpdf(x) + (1 - order) * shifted.logpdf(x)

    far = 1000 * math.sqrt(variance)
    if log_ratio(2 * far) > log_ratio(far):
        return math.inf
    grid = np.linspace(-far, far, 200_001)
    values = log_ratio(grid)
    peak = float(values.max())
    divergence = (peak + math.log(integrate.simpson(np.exp(values - peak), x=grid))) / (order - 1)
    return near(divergence, 1e-6 * abs(divergence))
