"""Risks of records at the true parameter, ``r = |log p(x | theta)|``: the tails of their distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

LOG_ROOT = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class RiskPopulation:
    """Population with a known tail of the risks."""

    name: str
    log_tail: Callable[[float], float]
    """Log probability ``log Pr(r > risk)`` for a record."""

    def quantile(self, log_tail: float) -> float:
        """Risk that a record exceeds with this log probability."""
        high = 4.0
        while self.log_tail(high) > log_tail:
            high *= 2
        return float(optimize.brentq(lambda risk: self.log_tail(risk) - log_tail, 0.0, high, xtol=1e-8))


def _beta_tail(risk: float) -> float:
    """Log tail probability from both ends; the density decreases from infinity at 0 to 0 at 1."""
    low, high = _logit_at(risk), _logit_at(-risk)
    return math.log(special.betainc(0.5, 3.0, special.expit(low)) + special.betainc(3.0, 0.5, special.expit(-high)))


def _logit_at(log_density: float) -> float:
    """Logit of the x at which the density of Beta(0.5, 3) has this logarithm."""

    def excess(t: float) -> float:
        log_x, log_rest = special.log_expit(t), special.log_expit(-t)
        return float(-0.5 * log_x + 2 * log_rest - special.betaln(0.5, 3.0)) - log_density

    return float(optimize.brentq(excess, -200.0, 200.0))


def _lognormal_tail(risk: float) -> float:
    """Log tail probability by a sum over the errors; given an error, the risk is normal."""
    error = np.linspace(-12.0, 12.0, 4801)
    middle = 3 + LOG_ROOT + error + error**2 / 2
    both = special.ndtr(middle - risk) + special.ndtr(-middle - risk)
    return math.log(float((both * np.exp(-(error**2) / 2)).sum() * (error[1] - error[0])) / math.sqrt(2 * math.pi))


def _poisson_tail(risk: float) -> float:
    """Log tail probability, interpolated between the risks of neighbouring counts."""
    values = -stats.poisson(100).logpmf(np.arange(301))
    order = np.argsort(-values)
    log_tails = np.log(np.cumsum(np.exp(-values[order])))
    return float(np.interp(risk, values[order][::-1], log_tails[::-1]))


RISK_POPULATIONS = (
    RiskPopulation("Beta(0.5, 3)", _beta_tail),
    RiskPopulation("Poisson(100)", _poisson_tail),
    RiskPopulation("lognormal regression", _lognormal_tail),
)
"""Populations of the censor and the reweight paper, which does not print the mean, and of the range paper, with predictors
``z ~ N(2, 1)`` and ``x ~ lognormal(z + 1, 1)``. Their scales a of the tail are 1, nearly 1 while counts are dense, and about
``1 + 1 / sqrt(2 log n)``."""
