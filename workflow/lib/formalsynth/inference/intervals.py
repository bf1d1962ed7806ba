"""Inference from synthetic data sets that are drawn from one private posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array

NORMAL_95 = 1.959964
"""Normal quantile of a 95 % interval."""
CONTRADICTED = 0.001
"""P value of a test of fit below which the noisy tables contradict the family, so that there are no intervals."""


def contradicted(fit_p: float | None) -> bool:
    """Check if a test of fit contradicts the family: intervals assume it, and there are none then.

    Args:
        fit_p: p value of the test (:mod:`formalsynth.inference.goodness_of_fit`); None where there was none.
    """
    return fit_p is not None and fit_p < CONTRADICTED


@dataclass(frozen=True)
class Interval:
    """95 % interval of a quantity of the population."""

    estimate: float
    error: float
    """Standard error."""
    quantile: float = NORMAL_95
    """Quantile that its ends are away from the estimate, in standard errors."""

    @property
    def low(self) -> float:
        """Lower end."""
        return self.estimate - self.quantile * self.error

    @property
    def high(self) -> float:
        """Upper end."""
        return self.estimate + self.quantile * self.error


def interval_with_draws(estimates: Array, variances: Array, posterior_variance: float) -> Interval:
    """Combine the analyses of m synthetic data sets, each from a posterior draw of its own.

    The estimate of a data set differs from the value at its draw by sampling (variance ``variances``), its draw from the
    posterior mean by the posterior variance V, and so does the true value. So the mean of m estimates has the variance
    ``V (1 + 1 / m) + mean(variances) / m`` about the true value. V contains the error of the noise and that of the confidential
    data; it is computed from public draws: one data set does not show it.

    Args:
        estimates: (m,) estimates of the data sets, analysed as if they were data.
        variances: (m,) their squared standard errors.
        posterior_variance: variance of the quantity over all public posterior draws.
    """
    m = len(estimates)
    variance = posterior_variance * (1 + 1 / m) + float(np.mean(variances)) / m
    return Interval(float(np.mean(estimates)), math.sqrt(variance))


def without_draws(estimates: Array, variances: Array) -> Interval | None:
    """Combine m data sets without public draws: V is estimated by the variance between the estimates less that of sampling.

    V is at least the variance of sampling, since the tables know no more than the data, and its estimate is taken as no less. The
    interval has a quantile of Student's t with m - 1 degrees of freedom.

    Returns:
        None if there are fewer than 2 data sets: there is no interval then.
    """
    m = len(estimates)
    if m < 2:
        return None
    within = float(np.mean(variances))
    between = max(float(np.var(estimates, ddof=1)) - within, within)
    return replace(interval_with_draws(estimates, variances, between), quantile=float(special.stdtrit(m - 1, 0.975)))
