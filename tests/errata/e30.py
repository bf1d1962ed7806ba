"""E30: effect of the outcome's unit on the bounds of the pseudo posteriors."""

import numpy as np
from check import Row, near, numeric_check
from exact_draws import draws, family, simulated_records
from scipy.special import ndtr

from formalsynth.core.arrays import intercept_only
from formalsynth.core.family import log_likelihood
from formalsynth.core.weights import lipschitz_weights, sensitive_range

N, DRAWS, TOLERANCE = 1000, 1000, 0.05
"""Numbers of records and draws; relative difference that two sets of draws may cause."""
RANGE = (0.6, 1.2)
SMALL, LARGE = 1e-3, 100.0
"""Units, relative to that of the paper: data times 1000, and data divided by 100."""
MEDIAN, SIGMA, LARGEST = 60.0, 0.6, 509.0
"""Lognormal salaries in thousands of dollars, and the largest published salary."""
HALF = 2.5
"""Threshold of clipping at epsilon 5."""


@numeric_check(
    "E30",
    printed="ε = 2 max |α log p(x | θ)|, whatever the unit of x",
    derived="ε = 2 max |α (log p(x | θ) + log u)| for x in units of u",
)
def claims_by_unit():
    """Lognormal regression of the range paper and lognormal salaries, in other units and with everything fitted again."""
    records = simulated_records(np.random.default_rng(30), N)
    printed, small, large = (shifted(records, unit) for unit in (1.0, SMALL, LARGE))
    of_small, of_large = refitted(records, SMALL), refitted(records, LARGE)
    paid = intercept_only(MEDIAN * np.exp(SIGMA * np.random.default_rng(31).standard_normal(N)))
    values = {
        "ε of Weighted, data times 1000": (printed[0], small[0], of_small[0]),
        "ε of Weighted, data / 100": (printed[0], large[0], of_large[0]),
        "ε of truncation / ε of Weighted, data / 100": [ranged / weighted for weighted, ranged in (printed, large, of_large)],
        "ε of Weighted, salaries in dollars, not in thousands": [
            claims[0] for claims in (shifted(paid, 1.0), shifted(paid, SMALL), refitted(paid, SMALL))
        ],
    }
    how = "fits to the rescaled data, with own code for posterior, density and weights"
    rows = [
        Row(quantity, *readings, near(reference, TOLERANCE * reference), how)
        for quantity, (*readings, reference) in values.items()
    ]
    share = "share of salaries clipped at ε = 5, in dollars, not in units of 509,000"
    return [
        *rows,
        Row(share, clipped(paid, LARGEST), clipped(paid, SMALL), near(every_salary(), 0), "largest density of a salary"),
    ]


def clipped(records, unit):
    """Share of the salaries whose log density in a unit, under their own distribution, is beyond the threshold."""
    truth = {"beta": np.array([[np.log(MEDIAN)]]), "sigma": np.array([SIGMA])}
    return float((np.abs(log_likelihood(family(), records, truth)[0] + np.log(unit)) > HALF).mean())


def every_salary():
    """1 if the lognormal density of dollars is below exp(-2.5) at its mode, and so at every salary; else 0."""
    mode = 1000 * MEDIAN * np.exp(-(SIGMA**2))
    largest = np.exp(-(SIGMA**2) / 2) / (mode * SIGMA * np.sqrt(2 * np.pi))
    return float(largest < np.exp(-HALF))


def shifted(records, unit):
    """Claims from fits in the paper's unit, with ``log unit`` added to every log density."""
    generator = np.random.default_rng([30, 1])
    shift = np.log(unit)
    plain = draws(records, np.ones(N), generator, DRAWS)
    alpha = lipschitz_weights(np.abs(log_likelihood(family(), records, plain) + shift).max(axis=0))
    fitted = draws(records, alpha, generator, DRAWS)
    log_gamma = family().log_interval_probability(records, fitted, *sensitive_range(records.x, *RANGE))
    return budgets(alpha, log_likelihood(family(), records, fitted) + shift, log_gamma)


def budgets(alpha, f, log_gamma):
    """Privacy budgets 2 Δ of Weighted and of range-truncation."""
    return [2 * float(np.abs(alpha * values).max()) for values in (f, f - log_gamma)]


def refitted(records, unit):
    """Claims for the data in another unit, from conjugate posteriors with prior N(0, 100² σ²) and inverse gamma (0.01, 0.01)."""
    generator = np.random.default_rng([30, 2])
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
