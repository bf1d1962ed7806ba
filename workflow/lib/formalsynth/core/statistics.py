"""Statistics of cells and data sets, each defined once, and their Monte Carlo errors.

A statistic is a function from values (units, ...) to one number for each column. A new statistic needs one line here; claims and
tables then use its name. Its error depends on the statistic:

- mean and sd: the jackknife. Over samples of 100, its mean square equals the variance of the statistic for normal, Gumbel and
    mildly lognormal values, whereas the bootstrap is a tenth too small.
- quantiles: in tables, half the distance between the quantiles one standard deviation of rank below and above; in claims, which
    also compare cells, the bootstrap. The jackknife of a quantile is inconsistent: it can be 0.
- min, max and spread (their difference): none. The bootstrap error of a range is too small by a quarter to a third, and more
    values do not help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.registry import Registry

Statistic = Callable[[Array], Array]
STATISTICS: Registry[Statistic] = Registry("statistic", "core/statistics.py")
LEVELS = {"q2.5": 0.025, "q15": 0.15, "q1": 0.25, "median": 0.5, "q3": 0.75, "q90": 0.9, "q97.5": 0.975}
"""Levels of the quantile statistics."""


def _quantile(level: float) -> Statistic:
    return lambda x: np.quantile(x, level, axis=0)


for _name, _statistic in {
    "mean": lambda x: x.mean(axis=0),
    "median": lambda x: np.median(x, axis=0),
    "sd": lambda x: x.std(axis=0, ddof=1),
    "min": lambda x: x.min(axis=0),
    "max": lambda x: x.max(axis=0),
    "spread": lambda x: np.ptp(x, axis=0),
    "iqr": lambda x: np.subtract(*np.quantile(x, [0.75, 0.25], axis=0)),
    **{name: _quantile(LEVELS[name]) for name in ("q1", "q3", "q2.5", "q15", "q90", "q97.5")},
}.items():
    STATISTICS.add(_name, _statistic, __name__)


def statistics_of_sets(sets: Array, names: Iterable[str]) -> dict[str, Array]:
    """Compute statistics of many sets of values.

    Args:
        sets: (..., n) values.
        names: names of the statistics.

    Returns:
        (...) each statistic, by its name.
    """
    return {name: STATISTICS[name](np.moveaxis(sets, -1, 0)) for name in names}


PAIRED = ("mean", "median")
"""Statistics whose order is also tested unit by unit."""
EXTREMES = ("min", "max", "spread")
"""Statistics without a valid Monte Carlo error."""
FEWEST = 10
"""Smallest number of values for which a Monte Carlo error is computed."""
AT_ONCE = 1 << 20
"""Number of resampled values in memory at a time."""


def _means_left_out(values: Array) -> Array:
    rest: Array = (values.sum(axis=0) - values) / (len(values) - 1)
    return rest


def _sds_left_out(values: Array) -> Array:
    squares, number = (values - values.mean(axis=0)) ** 2, len(values)
    rest: Array = squares.sum(axis=0) - squares * number / (number - 1)
    return np.sqrt(np.maximum(rest, 0) / (number - 2))


_LEFT_OUT: dict[str, Statistic] = {"mean": _means_left_out, "sd": _sds_left_out}
"""Functions of values (units, ...) that return the leave-one-out statistics (units, ...)."""


@dataclass(frozen=True)
class Scatter:
    """Statistic of many resampled copies of the values; its scatter gives the Monte Carlo error."""

    copies: Array
    """Statistics (copies, cells) of the copies."""
    factor: float
    """Factor that converts the standard deviation over the copies to the error."""

    def error(self, of: Callable[[Array], Array] = lambda copies: copies) -> Array:
        """Compute standard errors of the statistics, or of a function of them.

        The error is set to 0 if all copies are equal: their standard deviation would only reflect the rounding of their mean.

        Args:
            of: function of the statistics (copies, cells) that returns numbers (copies, ...).
        """
        values = of(self.copies)
        if not self.factor:
            return np.zeros(values.shape[1:])
        return np.where(np.ptp(values, axis=0) > 0, self.factor * values.std(axis=0, ddof=1), 0.0)


def scatter(values: Array, name: str, resamples: int, generator: np.random.Generator) -> Scatter:
    """Resample a statistic: by the jackknife if that is valid, otherwise by the bootstrap.

    Args:
        values: (units, cells); the same units are left out or resampled in every cell.
        name: name of the statistic.
        resamples: number of bootstrap samples.
        generator: random numbers for the bootstrap.
    """
    number = len(values)
    if name in _LEFT_OUT and number > 2:
        return jackknife(values, name)
    chosen = generator.integers(number, size=(resamples, number))
    parts = np.array_split(chosen, -(-resamples * values.size // AT_ONCE))
    return Scatter(np.concatenate([STATISTICS[name](values[part.T]) for part in parts if len(part)]), 1.0)


def jackknife(values: Array, name: str) -> Scatter:
    """Compute a mean or sd of values (units, cells), leaving out each unit in turn; requires at least three units."""
    return Scatter(_LEFT_OUT[name](values), (len(values) - 1) / len(values) ** 0.5)


def without_error(estimates: Array) -> Scatter:
    """Wrap exact statistics (cells,), whose error is 0."""
    return Scatter(np.array([estimates]), 0.0)


def quantile_error(values: Array, level: float) -> float:
    """Compute the standard error of a quantile of values (n,); NaN without values.

    It is half the distance between the quantiles one standard deviation of rank below and above.
    """
    if not len(values):
        return float("nan")
    rank = (level * (1 - level) / len(values)) ** 0.5
    below, above = np.quantile(values, [max(level - rank, 0), min(level + rank, 1)])
    return float(above - below) / 2


def standard_error(values: Array, name: str) -> float:
    """Compute the Monte Carlo error of a statistic of values (n,); NaN for fewer than ten, or without a valid error."""
    if len(values) < FEWEST or (name not in LEVELS and name not in _LEFT_OUT):
        return float("nan")
    if name in LEVELS:
        return quantile_error(values, LEVELS[name])
    return float(jackknife(values[:, None], name).error()[0])
