"""Risks of records at the true parameter: their tails, and data sets with the fits that an LW synthesizer goes through.

A risk is ``r = |log p(x | theta)|``. Fits are posterior modes under a flat prior; draws are about
``1 / sqrt(n)`` from them.
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
    """One confidential data set."""

    @property
    @abstractmethod
    def true_risk(self) -> Array:
        """(n,) risks at the true parameter."""

    @abstractmethod
    def risk(self, weights: Array) -> Array:
        """(n,) risks at the mode of the pseudo posterior with these weights (n,)."""


class Population(ABC):
    """What data sets are drawn from."""

    name: str

    @abstractmethod
    def draw(self, generator: np.random.Generator, n: int) -> DataSet:
        """A data set of n records; equal ones may stand as one where a weight says how many."""

    @abstractmethod
    def log_tail(self, risk: float) -> float:
        """``log Pr(r > risk)`` of a record."""

    def quantile(self, log_tail: float) -> float:
        """The risk that a record exceeds with this log probability."""
        high = 4.0
        while self.log_tail(high) > log_tail:
            high *= 2
        return float(optimize.brentq(lambda risk: self.log_tail(risk) - log_tail, 0.0, high, xtol=1e-8))


@dataclass(frozen=True)
class BetaData(DataSet):
    """Shares."""

    log_x: Array
    log_rest: Array

    @property
    def true_risk(self) -> Array:
        """Under Beta(0.5, 3)."""
        return self._risk(0.5, 3.0)

    def risk(self, weights: Array) -> Array:
        """By Newton's method from the truth, in the logarithms of both shapes."""
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


class BetaPopulation(Population):
    """``Beta(0.5, 3)``, as in the censor paper: the density is infinite at 0, and the tail there is the heavier one, a = 1."""

    name = "Beta(0.5, 3)"

    def draw(self, generator: np.random.Generator, n: int) -> BetaData:
        """Records as ratios of gamma variables, so that log x is exact near 0."""
        first, second = generator.standard_gamma(0.5, n), generator.standard_gamma(3.0, n)
        log_sum = np.log(first + second)
        return BetaData(np.log(first) - log_sum, np.log(second) - log_sum)

    def log_tail(self, risk: float) -> float:
        """Both ends: the density falls from infinity at 0 to 0 at 1."""
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
    """Logarithms of the outcome, and the predictor."""

    y: Array
    z: Array

    @property
    def true_risk(self) -> Array:
        """At intercept, slope and sigma 1."""
        return self._risk(1.0, 1.0, 1.0)

    def risk(self, weights: Array) -> Array:
        """By weighted least squares."""
        share = weights / weights.sum()
        z, y = self.z - share @ self.z, self.y - share @ self.y
        slope = (share * z) @ y / ((share * z) @ z)
        sigma = math.sqrt(share @ (y - slope * z) ** 2)
        return self._risk(float(share @ self.y - slope * (share @ self.z)), float(slope), sigma)

    def _risk(self, intercept: float, slope: float, sigma: float) -> Array:
        error = (self.y - intercept - slope * self.z) / sigma
        return np.abs(self.y + math.log(sigma) + LOG_ROOT + error**2 / 2)


class LognormalPopulation(Population):
    """``z ~ N(2, 1), x ~ lognormal(z + 1, 1)``, as in the range paper: a falls to 1, about as ``1 + 1 / sqrt(2 log n)``."""

    name = "lognormal regression"

    def draw(self, generator: np.random.Generator, n: int) -> LognormalData:
        """Records."""
        z = generator.normal(2.0, 1.0, n)
        return LognormalData(z + 1 + generator.standard_normal(n), z)

    def log_tail(self, risk: float) -> float:
        """A sum over the errors; given one, the risk is normal."""
        error = np.linspace(-12.0, 12.0, 4801)
        middle = 3 + LOG_ROOT + error + error**2 / 2
        both = special.ndtr(middle - risk) + special.ndtr(-middle - risk)
        return math.log(float((both * np.exp(-(error**2) / 2)).sum() * (error[1] - error[0])) / math.sqrt(2 * math.pi))


@dataclass(frozen=True)
class PoissonData(DataSet):
    """The distinct counts, and how many records have each."""

    x: Array
    records: Array

    @property
    def true_risk(self) -> Array:
        """At mean 100."""
        return -stats.poisson(100).logpmf(self.x)

    def risk(self, weights: Array) -> Array:
        """At the weighted mean."""
        of_all = weights * self.records
        return -stats.poisson(float(of_all @ self.x / of_all.sum())).logpmf(self.x)


class PoissonPopulation(Population):
    """``Poisson(100)``, as in the reweight paper (where the mean is not printed): a tends to 1 while counts are dense."""

    name = "Poisson(100)"

    def draw(self, generator: np.random.Generator, n: int) -> PoissonData:
        """Counts of each value."""
        values = np.arange(301.0)
        p = stats.poisson(100).pmf(values)
        records = generator.multinomial(n, p / p.sum())
        return PoissonData(values[records > 0], records[records > 0].astype(float))

    def log_tail(self, risk: float) -> float:
        """Linear between the risks of neighbouring counts, which no record has."""
        values = -stats.poisson(100).logpmf(np.arange(301))
        order = np.argsort(-values)
        log_tails = np.log(np.cumsum(np.exp(-values[order])))
        return float(np.interp(risk, values[order][::-1], log_tails[::-1]))


POPULATIONS: tuple[Population, ...] = (BetaPopulation(), PoissonPopulation(), LognormalPopulation())
