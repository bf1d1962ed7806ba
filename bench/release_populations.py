"""Ten populations outside the model of a release, for bench/release_coverage.py."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array

LOG = {"type": "number", "decimals": 1, "lower": 100, "upper": 100_000, "scale": "log", "bins": 30}
LINEAR = {"type": "number", "decimals": 1, "lower": 0, "upper": 1000, "bins": 30}
COUNTS = {"type": "whole", "lower": 0, "upper": 200, "scale": "signed_log", "unit": 3, "bins": 20, "own_zero": True}
ZEROS = LINEAR | {"upper": 100_000, "scale": "signed_log", "unit": 500, "own_zero": True}
NO_INCOME = np.array([0.95, 0.6, 0.2, 0.05, 0.02])
"""Share of zeros by z."""
Outcome = Callable[[np.random.Generator, Array, Array, Array], Array]
"""Function from a generator, group (0 to 3), z (0 to 4) and x to the outcome."""


@dataclass(frozen=True)
class Population:
    """Population with the columns group, z, x and y."""

    outcome: Outcome
    column: Mapping[str, Any]
    """Declaration of the outcome."""
    threshold: float
    """Threshold of a share of the outcome."""
    rare: bool = False
    """True if one row in eighty is in the last group."""

    @property
    def zero(self) -> bool:
        """True if 0 has a level of its own."""
        return "own_zero" in self.column

    @property
    def log(self) -> bool:
        """True if regressions are of the logarithm."""
        return self.column["upper"] > 1000

    def rows(self, number: int, seed: int) -> pd.DataFrame:
        """Draw rows."""
        generator = np.random.default_rng(seed)
        group = generator.choice(4, number, p=[0.4, 0.3, 0.2, 0.1])
        common = generator.normal(size=number)
        z = np.clip(np.round(2 + 0.8 * common + 0.3 * (group - 1) + generator.normal(0, 0.6, number)), 0, 4).astype(int)
        x = 0.5 * common + 0.3 * (group - 1) + generator.normal(0, 0.8, number)
        if self.rare:
            group = np.where(generator.random(number) < 0.012, 3, np.where(group == 3, 0, group))
        ends = self.column["lower"], self.column["upper"]
        y = np.clip(self.outcome(generator, group, z, x), *ends)
        names = {"group": np.array(list("abcd"), dtype=object)[group], "z": z.astype(str).astype(object)}
        return pd.DataFrame(names | {"x": np.round(np.clip(x, -5, 5), 2), "y": np.round(y, self.column.get("decimals", 0))})


def _income(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    """Lognormal incomes."""
    return np.asarray(np.exp(8 + 0.15 * z + 0.2 * x + 0.1 * group + generator.normal(0, 0.4, len(x))))


def _heaps(generator: np.random.Generator, *columns: Array) -> Array:
    y = _income(generator, *columns)
    return np.where(generator.random(len(y)) < 0.6, np.round(y / 500) * 500, y)


def _spike(generator: np.random.Generator, *columns: Array) -> Array:
    return np.maximum(_income(generator, *columns), 2841.9)


def _strong(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return 500 + 90 * (x + 0.48 * generator.normal(size=len(x)))


def _rare(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return _income(generator, 0 * group, z, x) * np.where(group == 3, 2.5, 1)


def _heavy(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return np.asarray(np.exp(8 + 0.15 * z + 0.2 * x + 0.35 * generator.standard_t(2.5, len(x))))


def _heteroscedastic(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return np.asarray(500 + 40 * x + 25 * np.exp(0.8 * x) * generator.normal(size=len(x)))


def _counts(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return generator.negative_binomial(0.8, 0.8 / (0.8 + np.exp(0.6 + 0.3 * x + 0.2 * z))).astype(float)


def _zeros(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return np.where(generator.random(len(x)) < NO_INCOME[z], 0, _income(generator, group, z, x))


def _u_shape(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    return 300 + 80 * x**2 + 20 * z + 50 * generator.normal(size=len(x))


def _modes(generator: np.random.Generator, group: Array, z: Array, x: Array) -> Array:
    high = generator.random(len(x)) < 0.2 + 0.2 * group
    return np.where(high, 700, 350) + 25 * x + 40 * generator.normal(size=len(x))


POPULATIONS = {
    "heaps": Population(_heaps, LOG, 3010),
    "spike": Population(_spike, LOG, 2900),
    "strong correlation": Population(_strong, LINEAR, 480),
    "rare category": Population(_rare, LOG, 3010, rare=True),
    "heavy tails": Population(_heavy, LOG, 3010),
    "heteroscedastic": Population(_heteroscedastic, LINEAR, 480),
    "overdispersed counts": Population(_counts, COUNTS, 3),
    "zeros by another column": Population(_zeros, ZEROS, 3010),
    "U-shape": Population(_u_shape, LINEAR, 380),
    "two modes": Population(_modes, LINEAR, 520),
}
