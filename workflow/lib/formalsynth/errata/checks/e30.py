"""E30: effect of the outcome's unit on the bounds of the pseudo posteriors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr

from formalsynth.core.arrays import Array
from formalsynth.core.family import log_likelihood
from formalsynth.core.weights import lipschitz_weights, sensitive_range
from formalsynth.errata.check import Comparison, Reading, exactly, near, numeric_check
from formalsynth.errata.exact_draws import draws, family, simulated_records

N, DRAWS, TOLERANCE = 1000, 1000, 0.05
"""Numbers of records and draws; relative difference that two sets of draws may cause."""
RANGE = (0.6, 1.2)
SMALL, LARGE = 1e-3, 100.0
"""Units, relative to that of the paper: data times 1000, and data divided by 100."""


@dataclass(frozen=True)
class Claims:
    """Privacy budgets 2 Δ of Weighted and of range-truncation with (0.6, 1.2)."""

    weighted: float
    truncated: float

    @property
    def ratio(self) -> float:
        """Budget of range-truncation relative to that of Weighted."""
        return self.truncated / self.weighted


ByUnit = Callable[[float], Claims]
"""Function from the unit of the outcome to the claims."""


def _printed(unit: float) -> Claims:
    return _derived(1.0)


def _derived(unit: float) -> Claims:
    return _shifted(unit)


@cache
def _shifted(unit: float) -> Claims:
    """Claims from fits in the paper's unit, with ``log unit`` added to every log density."""
    generator = np.random.default_rng([30, 1])
    records = simulated_records(np.random.default_rng(30), N)
    shift = np.log(unit)
    plain = draws(records, np.ones(N), generator, DRAWS)
    alpha = lipschitz_weights(np.abs(log_likelihood(family(), records, plain) + shift).max(axis=0))
    fitted = draws(records, alpha, generator, DRAWS)
    f = log_likelihood(family(), records, fitted) + shift
    log_gamma = family().log_interval_probability(records, fitted, *sensitive_range(records.x, *RANGE))
    return Claims(2 * float(np.abs(alpha * f).max()), 2 * float(np.abs(alpha * (f - log_gamma)).max()))


@numeric_check(
    "E30",
    printed=Reading("ε = 2 max |α log p(x | θ)|, whatever the unit of x", _printed),
    derived=Reading("ε = 2 max |α (log p(x | θ) + log u)| for x in units of u", _derived),
)
def claims_by_unit(formula: ByUnit) -> Sequence[Comparison]:
    """Lognormal regression of the range paper, with the outcome in other units and everything fitted again."""
    small, large = _refitted(SMALL), _refitted(LARGE)
    how = "fits to the rescaled data, with own code for posterior, density and weights"
    return [
        _comparison("ε of Weighted, data times 1000", formula(SMALL).weighted, small.weighted, how),
        _comparison("ε of Weighted, data / 100", formula(LARGE).weighted, large.weighted, how),
        _comparison("ε of truncation / ε of Weighted, data / 100", formula(LARGE).ratio, large.ratio, how),
    ]


def _comparison(quantity: str, value: float, reference: float, how: str) -> Comparison:
    return Comparison(quantity, exactly(value), near(reference, TOLERANCE * reference), how)


def _refitted(unit: float) -> Claims:
    """Claims for the data in another unit, from conjugate posteriors with prior N(0, 100² σ²) and inverse gamma (0.01, 0.01)."""
    generator = np.random.default_rng([30, 2])
    records = simulated_records(np.random.default_rng(30), N)
    x, design = records.x / unit, np.asarray(records.design)

    def fit(weights: Array) -> tuple[Array, Array, Array]:
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
    truncated = alpha * (f - np.log(np.maximum(gamma, 1e-300)))
    return Claims(2 * float(np.abs(alpha * f).max()), 2 * float(np.abs(truncated).max()))
