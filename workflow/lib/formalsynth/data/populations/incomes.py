"""Incomes whose distribution belongs to no family of the package."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.constraints import Proportion
from formalsynth.core.population import population

MODES = (8.5, 0.3), (9.9, 0.45)
"""Mean and standard deviation of the log income in the lower and the upper mode."""
TAIL = 50_000, 1.5
"""Smallest value and index of the Pareto tail."""


@population()
def incomes(
    generator: np.random.Generator, n: int, *, zeros: Proportion = 0.1, low: Proportion = 0.25, tail: Proportion = 0.02
) -> Records:
    """Incomes plus 1: a share ``zeros`` is 1, ``low`` is in a lower mode, ``tail`` is Pareto, and the rest is in an upper mode.

    Source: ours.

    Raises:
        ValueError: the shares sum to more than 1.
    """
    shares = np.array([zeros, low, 1 - zeros - low - tail, tail])
    if shares[2] < 0:
        raise ValueError("incomes: zeros, low and tail sum to more than 1")
    kind = generator.choice(4, n, p=shares)
    (low_mean, low_sd), (mean, sd) = MODES
    body = np.exp(np.where(kind == 1, low_mean, mean) + np.where(kind == 1, low_sd, sd) * generator.standard_normal(n))
    extreme = TAIL[0] * (1 + generator.pareto(TAIL[1], n))
    return intercept_only(1 + np.select([kind == 0, kind == 3], [np.zeros(n), extreme], body))
