"""Risks of records at the true parameter: tails of their distributions, and data sets to which an LW synthesizer is fitted.

A risk is ``r = |log p(x | theta)|``. Fits are posterior modes under a flat prior; posterior draws differ from them by about
``1 / sqrt(n)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

from formalsynth.core.arrays import Array

LOG_ROOT = 0.5 * math.log(2 * math.pi)


class DataSet(ABC):
    """Confidential data set that computes the risks of its records."""

    @property
    @abstractmethod
    def true_risk(self) -> Array:
        """(n,) risks at the true parameter."""

    @abstractmethod
    def risk(self, weights: Array) -> Array:
        """(n,) risks at the mode of the pseudo posterior with these weights (n,)."""


class RiskPopulation(ABC):
    """Distribution of data sets with a known tail of the risks."""

    name: str

    @abstractmethod
    def draw(self, generator: np.random.Generator, n: int) -> DataSet:
        """Draw a data set of n records; equal records may be merged into one with a count."""

    @abstractmethod
    def log_tail(self, risk: float) -> float:
        """Log probability ``log Pr(r > risk)`` for a record."""

    def quantile(self, log_tail: float) -> float:
        """Risk that a record exceeds with this log probability."""
        high = 4.0
        while self.log_tail(high) > log_tail:
            high *= 2
        return float(optimize.brentq(lambda risk: self.log_tail(risk) - log_tail, 0.0, high, xtol=1e-8))


@dataclass(frozen=True)
class BetaData(DataSet):
    """Data set of shares, stored as logarithms of x and of 1 - x."""

    log_x: Array
    log_rest: Array

    @property
    def true_risk(self) -> Array:
        """(n,) risks under Beta(0.5, 3)."""
        return self._risk(0.5, 3.0)

    def risk(self, weights: Array) -> Array:
        """(n,) risks at the mode, by Newton's method in the logarithms of both shapes."""
        total = weights.sum()
        means = np.array([weights @ self.log_x, weights @ self.log_rest]) / total
        at = np.log([0.5, 3.0])
        for _ in range(12):
            shapes = np.exp(at)
            gradient = means - special.digamma(shapes) + special.digamma(shapes.sum())
            curvature = special.polygamma(1, shapes.sum()) - np.diag(special.polygamma(1, shapes))
            step = np.linalg.solve(curvature * shapes, gradient).clip(-1, 1)
            at = at - step
            if np.abs(step).max() < 1e-10:
                break
        return self._risk(*np.exp(at))

    def _risk(self, first: float, second: float) -> Array:
        return np.abs((first - 1) * self.log_x + (second - 1) * self.log_rest - special.betaln(first, second))


class BetaPopulation(RiskPopulation):
    """Population ``Beta(0.5, 3)`` of the censor paper; the density is infinite at 0, where the tail is heavier (a = 1)."""

    name = "Beta(0.5, 3)"

    def draw(self, generator: np.random.Generator, n: int) -> BetaData:
        """Draw a data set from ratios of gamma variables, which keeps log x exact near 0."""
        first, second = generator.standard_gamma(0.5, n), generator.standard_gamma(3.0, n)
        log_sum = np.log(first + second)
        return BetaData(np.log(first) - log_sum, np.log(second) - log_sum)

    def log_tail(self, risk: float) -> float:
        """Log tail probability from both ends; the density decreases from infinity at 0 to 0 at 1."""
        low = self._where(risk)
        high = self._where(-risk)
        return math.log(special.betainc(0.5, 3.0, special.expit(low)) + special.betainc(3.0, 0.5, special.expit(-high)))

    def _where(self, log_density: float) -> float:
        """Logit of the x with this log density."""

        def excess(t: float) -> float:
            log_x, log_rest = special.log_expit(t), special.log_expit(-t)
            return float(-0.5 * log_x + 2 * log_rest - special.betaln(0.5, 3.0)) - log_density

        return float(optimize.brentq(excess, -200.0, 200.0))


@dataclass(frozen=True)
class LognormalData(DataSet):
    """Data set of a lognormal regression: logarithms of the outcome, and the predictor."""

    y: Array
    z: Array

    @property
    def true_risk(self) -> Array:
        """(n,) risks at intercept, slope and sigma 1."""
        return self._risk(1.0, 1.0, 1.0)

    def risk(self, weights: Array) -> Array:
        """(n,) risks at the weighted least squares fit."""
        share = weights / weights.sum()
        z, y = self.z - share @ self.z, self.y - share @ self.y
        slope = (share * z) @ y / ((share * z) @ z)
        sigma = math.sqrt(share @ (y - slope * z) ** 2)
        return self._risk(float(share @ self.y - slope * (share @ self.z)), float(slope), sigma)

    def _risk(self, intercept: float, slope: float, sigma: float) -> Array:
        error = (self.y - intercept - slope * self.z) / sigma
        return np.abs(self.y + math.log(sigma) + LOG_ROOT + error**2 / 2)


class LognormalPopulation(RiskPopulation):
    """Population of the range paper, ``z ~ N(2, 1), x ~ lognormal(z + 1, 1)``; a is about ``1 + 1 / sqrt(2 log n)``."""

    name = "lognormal regression"

    def draw(self, generator: np.random.Generator, n: int) -> LognormalData:
        """Draw a data set of n records."""
        z = generator.normal(2.0, 1.0, n)
        return LognormalData(z + 1 + generator.standard_normal(n), z)

    def log_tail(self, risk: float) -> float:
        """Log tail probability by a sum over the errors; given an error, the risk is normal."""
        error = np.linspace(-12.0, 12.0, 4801)
        middle = 3 + LOG_ROOT + error + error**2 / 2
        both = special.ndtr(middle - risk) + special.ndtr(-middle - risk)
        return math.log(float((both * np.exp(-(error**2) / 2)).sum() * (error[1] - error[0])) / math.sqrt(2 * math.pi))


@dataclass(frozen=True)
class PoissonData(DataSet):
    """Data set of counts: the distinct counts and the number of records with each."""

    x: Array
    records: Array

    @property
    def true_risk(self) -> Array:
        """Risks of the distinct counts at mean 100."""
        return -stats.poisson(100).logpmf(self.x)

    def risk(self, weights: Array) -> Array:
        """Risks of the distinct counts at the weighted mean."""
        total = weights * self.records
        return -stats.poisson(float(total @ self.x / total.sum())).logpmf(self.x)


class PoissonPopulation(RiskPopulation):
    """Population ``Poisson(100)`` of the reweight paper, which does not print the mean; a tends to 1 while counts are dense."""

    name = "Poisson(100)"

    def draw(self, generator: np.random.Generator, n: int) -> PoissonData:
        """Draw a data set of n counts."""
        values = np.arange(301.0)
        p = stats.poisson(100).pmf(values)
        records = generator.multinomial(n, p / p.sum())
        return PoissonData(values[records > 0], records[records > 0].astype(float))

    def log_tail(self, risk: float) -> float:
        """Log tail probability, interpolated between the risks of neighbouring counts."""
        values = -stats.poisson(100).logpmf(np.arange(301))
        order = np.argsort(-values)
        log_tails = np.log(np.cumsum(np.exp(-values[order])))
        return float(np.interp(risk, values[order][::-1], log_tails[::-1]))


RISK_POPULATIONS: tuple[RiskPopulation, ...] = (BetaPopulation(), PoissonPopulation(), LognormalPopulation())
