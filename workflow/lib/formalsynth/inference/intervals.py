"""Inference from synthetic data sets drawn from one private posterior.

These intervals assume the family, so they are for families that are declared to be exact. A test of fit has little power, and
bins show nothing about the distribution within them: :mod:`formalsynth.inference.table_intervals` assumes no family.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array
from formalsynth.core.normal import NORMAL_95

CONTRADICTED = 0.001
"""P value of a goodness-of-fit test below which the noisy tables contradict the family and no intervals are given."""


def contradicted(fit_p: float | None) -> bool:
    """Check if a goodness-of-fit test contradicts the family; then not even one that is declared to be exact gives intervals.

    Args:
        fit_p: p value of the test (:mod:`formalsynth.inference.goodness_of_fit`); None if there was no test.
    """
    return fit_p is not None and fit_p < CONTRADICTED


@dataclass(frozen=True)
class Interval:
    """95 % interval of a quantity of the population."""

    estimate: float
    error: float
    """Standard error."""
    quantile: float = NORMAL_95
    """Distance of the ends from the estimate, in standard errors."""
    limits: tuple[float, float] = (-math.inf, math.inf)
    """Limits of the possible values, at which the interval ends."""

    @property
    def low(self) -> float:
        """Lower end."""
        return max(self.estimate - self.quantile * self.error, self.limits[0])

    @property
    def high(self) -> float:
        """Upper end."""
        return min(self.estimate + self.quantile * self.error, self.limits[1])


def interval_with_draws(estimates: Array, variances: Array, posterior_variance: float) -> Interval:
    """Combine the analyses of m synthetic data sets, each from its own posterior draw.

    The estimate from a data set varies around the value at its draw by sampling (variance ``variances``). Its draw varies around
    the posterior mean with the posterior variance V, and so does the true value. The mean of m estimates therefore has the
    variance ``V (1 + 1 / m) + mean(variances) / m`` about the true value. V includes the error from the noise and the sampling
    error of the confidential data. It is computed from public draws, because a single data set does not reveal it.

    Args:
        estimates: (m,) estimates of the data sets, analysed as if they were data.
        variances: (m,) their squared standard errors.
        posterior_variance: variance of the quantity over all public posterior draws.
    """
    m = len(estimates)
    variance = posterior_variance * (1 + 1 / m) + float(np.mean(variances)) / m
    return Interval(float(np.mean(estimates)), math.sqrt(variance))


def without_draws(estimates: Array, variances: Array) -> Interval | None:
    """Combine m data sets without public draws: V is estimated by the variance between estimates minus the sampling variance.

    V is at least the sampling variance, because the tables contain no more information than the data; its estimate is bounded
    below by that variance. The interval uses a quantile of Student's t distribution with m - 1 degrees of freedom.

    Returns:
        None if there are fewer than 2 data sets, which give no interval.
    """
    m = len(estimates)
    if m < 2:
        return None
    within = float(np.mean(variances))
    between = max(float(np.var(estimates, ddof=1)) - within, within)
    return replace(interval_with_draws(estimates, variances, between), quantile=float(special.stdtrit(m - 1, 0.975)))
