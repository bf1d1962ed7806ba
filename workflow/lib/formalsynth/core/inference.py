"""Inference from synthetic data sets that are drawn from one private posterior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array

NORMAL_95 = 1.959964
"""Normal quantile of a 95 % interval."""


@dataclass(frozen=True)
class Interval:
    """95 % interval of a quantity of the population."""

    estimate: float
    error: float
    """Standard error."""

    @property
    def low(self) -> float:
        """Lower end."""
        return self.estimate - NORMAL_95 * self.error

    @property
    def high(self) -> float:
        """Upper end."""
        return self.estimate + NORMAL_95 * self.error


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
    """Combine m data sets without public draws: V is estimated by the variance between estimates less that of sampling.

    Returns:
        None if there are fewer than 2 data sets, or the estimate of V is not positive: there is no interval then.
    """
    if len(estimates) < 2:
        return None
    between = float(np.var(estimates, ddof=1)) - float(np.mean(variances))
    return interval_with_draws(estimates, variances, between) if between > 0 else None
