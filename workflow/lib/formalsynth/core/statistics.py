"""Statistics of cells and data sets, each once, and their Monte Carlo errors.

A statistic is a function from values (units, ...) to one number for each column. A new one is a line here; claims and tables
then name it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.registry import Registry

Statistic = Callable[[Array], Array]
STATISTICS: Registry[Statistic] = Registry("statistic", "core/statistics.py")


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
    "q1": _quantile(0.25),
    "q3": _quantile(0.75),
    "q2.5": _quantile(0.025),
    "q15": _quantile(0.15),
    "q90": _quantile(0.9),
    "q97.5": _quantile(0.975),
}.items():
    STATISTICS.add(_name, _statistic, __name__)

PAIRED = ("mean", "median")
"""Statistics whose order is also judged unit by unit."""
FEWEST = 10
"""Values below which no Monte Carlo error is given."""


def median_mcse(values: Array) -> float:
    """Standard error of a median: half the distance of the quantiles one standard deviation of rank above and below."""
    if len(values) < FEWEST:
        return float("nan")
    half = 0.5 / len(values) ** 0.5
    low, high = np.quantile(values, [0.5 - half, 0.5 + half])
    return float(high - low) / 2


def jackknife(values: Array, statistic: Statistic) -> float:
    """Jackknife standard error of a statistic of values (n,); NaN below ten of them."""
    if len(values) < FEWEST:
        return float("nan")
    left_out = np.array([statistic(np.delete(values, k)) for k in range(len(values))])
    return float(np.sqrt((len(values) - 1) * np.mean((left_out - left_out.mean()) ** 2)))


def bootstrap(values: Array, statistic: Statistic, resamples: int, generator: np.random.Generator) -> Array:
    """The statistic (resamples, cells) of resampled units (units, cells), the same units in every cell."""
    chosen = generator.integers(len(values), size=(resamples, len(values)))
    return np.array([statistic(values[index]) for index in chosen])
