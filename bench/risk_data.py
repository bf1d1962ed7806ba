"""Data sets to which an LW synthesizer is fitted, with the risks of their records.

Fits are posterior modes under a flat prior; posterior draws differ from them by about ``1 / sqrt(n)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from formalsynth.audit.risks import LOG_ROOT
from formalsynth.core.arrays import Array


@dataclass(frozen=True)
class BetaData:
    """Data set of shares, stored as logarithms of x and of 1 - x."""

    log_x: Array
    log_rest: Array

    @classmethod
    def draw(cls, generator: np.random.Generator, n: int) -> BetaData:
        """Draw from Beta(0.5, 3) as ratios of gamma variables, which keeps log x exact near 0."""
        first, second = generator.standard_gamma(0.5, n), generator.standard_gamma(3.0, n)
        log_sum = np.log(first + second)
        return cls(np.log(first) - log_sum, np.log(second) - log_sum)

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


@dataclass(frozen=True)
class LognormalData:
    """Data set of a lognormal regression: logarithms of the outcome, and the predictor."""

    y: Array
    z: Array

    @classmethod
    def draw(cls, generator: np.random.Generator, n: int) -> LognormalData:
        """Draw ``z ~ N(2, 1), x ~ lognormal(z + 1, 1)``."""
        z = generator.normal(2.0, 1.0, n)
        return cls(z + 1 + generator.standard_normal(n), z)

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


@dataclass(frozen=True)
class PoissonData:
    """Data set of counts: the distinct counts and the number of records with each."""

    x: Array
    records: Array

    @classmethod
    def draw(cls, generator: np.random.Generator, n: int) -> PoissonData:
        """Draw n counts of mean 100."""
        values = np.arange(301.0)
        p = stats.poisson(100).pmf(values)
        records = generator.multinomial(n, p / p.sum())
        return cls(values[records > 0], records[records > 0].astype(float))

    @property
    def true_risk(self) -> Array:
        """Risks of the distinct counts at mean 100."""
        return -stats.poisson(100).logpmf(self.x)

    def risk(self, weights: Array) -> Array:
        """Risks of the distinct counts at the weighted mean."""
        total = weights * self.records
        return -stats.poisson(float(total @ self.x / total.sum())).logpmf(self.x)


DataSet = BetaData | LognormalData | PoissonData
DATA: dict[str, type[DataSet]] = {
    "Beta(0.5, 3)": BetaData, "Poisson(100)": PoissonData, "lognormal regression": LognormalData,
}  # fmt: skip
"""Kinds of data sets, by the name of their population."""
