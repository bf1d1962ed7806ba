"""E30: effect of the outcome's unit on the bounds of the pseudo posteriors."""

import numpy as np
from check import Row, near, numeric_check
from exact_draws import draws, family, simulated_records
from scipy.special import ndtr

from formalsynth.core.family import log_likelihood
from formalsynth.core.weights import lipschitz_weights, sensitive_range

N, DRAWS, TOLERANCE = 1000, 1000, 0.05
"""Numbers of records and draws; relative difference that two sets of draws may cause."""
RANGE = (0.6, 1.2)
SMALL, LARGE = 1e-3, 100.0
"""Units, relative to that of the paper: data times 1000, and data divided by 100."""


@numeric_check(
    "E30",
    printed="ε = 2 max |α log p(x | θ)|, whatever the unit of x",
    derived="ε = 2 max |α (log p(x | θ) + log u)| for x in units of u",
)
def claims_by_unit():
    """Lognormal regression of the range paper, with the outcome in other units and everything fitted again."""
    printed, small, large = (shifted(unit) for unit in (1.0, SMALL, LARGE))
    of_small, of_large = refitted(SMALL), refitted(LARGE)
    values = {
        "ε of Weighted, data times 1000": (printed[0], small[0], of_small[0]),
        "ε of Weighted, data / 100": (printed[0], large[0], of_large[0]),
        "ε of truncation / ε of Weighted, data / 100": [ranged / weighted for weighted, ranged in (printed, large, of_large)],
    }
    how = "fits to the rescaled data, with own code for posterior, density and weights"
    return [
        Row(quantity, *readings, near(reference, TOLERANCE * reference), how)
        for quantity, (*readings, reference) in values.items()
    ]


def shifted(unit):
    """Claims from fits in the paper's unit, with ``log unit`` added to every log density."""
    generator = np.random.default_rng([30, 1])
    records = simulated_records(np.random.default_rng(30), N)
    shift = np.log(unit)
    plain = draws(records, np.ones(N), generator, DRAWS)
    alpha = lipschitz_weights(np.abs(log_likelihood(family(), records, plain) + shift).max(axis=0))
    fitted = draws(records, alpha, generator, DRAWS)
    log_gamma = family().log_interval_probability(records, fitted, *sensitive_range(records.x, *RANGE))
    return budgets(alpha, log_likelihood(family(), records, fitted) + shift, log_gamma)


def budgets(alpha, f, log_gamma):
    """Privacy budgets 2 Δ of Weighted and of range-truncation."""
    return [2 * float(np.abs(alpha * values).max()) for values in (f, f - log_gamma)]


def refitted(unit):
    """Claims for the data in another unit, from conjugate posteriors with prior N(0, 100² σ²) and inverse gamma (0.01, 0.01)."""
    generator = np.random.default_rng([30, 2])
    records = simulated_records(np.random.default_rng(30), N)
    x, design = records.x / unit, np.asarray(records.design)

    def fit(weights):
        """Log densities (S, n), and means and standard deviations of log x, under draws of the posterior."""
        y, p = np.log(x), design.shape[1]
        precision = design.T @ (weights[:, None] * design) + np.eye(p) / 100**2
        mean = np.linalg.solve(precision, design.T @ (weights * y))
        rate = 0.01 + 0.5 * (weights @ y**2 - mean @ precision @ mean)
        variance = rate / generator.gamma(0.01 + weights.sum() / 2, size=DRAWS)
        scatter = np.linalg.solve(np.linalg.cholesky(precision).T, generator.standard_normal((p, DRAWS))).T
        centre = (mean + np.sqrt(variance)[:, None] * scatter) @ design.T
        sd = np.sqrt(variance)[:, None]
        return -y - np.log(sd) - 0.5 * np.log(2 * np.pi) - 0.5 * ((y - centre) / sd) ** 2, centre, sd

    risk = np.abs(fit(np.ones(N))[0]).max(axis=0)
    alpha = (risk.max() - risk) / (risk.max() - risk.min())
    f, centre, sd = fit(alpha)
    lower, upper = ((np.log(end * x) - centre) / sd for end in RANGE)
    # in the upper tail, the difference of the mirrored probabilities keeps its digits
    gamma = np.where(lower > 0, ndtr(-lower) - ndtr(-upper), ndtr(upper) - ndtr(lower))
    return budgets(alpha, f, np.log(np.maximum(gamma, 1e-300)))
