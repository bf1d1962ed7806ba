"""Amounts in areas."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import Count, NonNegative, PositiveNumber
from formalsynth.core.population import population


@population()
def lognormal_areas(
    generator: np.random.Generator, n: int, *, areas: Count, median: PositiveNumber, between: NonNegative, within: NonNegative
) -> Records:
    """Lognormal amounts whose log means vary between areas, with a column of the design for each area.

    The sizes of the areas are random, with at least one record each; ``between`` and ``within`` are standard deviations of the
    logarithms. Source: ours.

    Raises:
        ValueError: there are fewer records than areas.
    """
    if n < areas:
        raise ValueError(f"lognormal_areas: {n} records in {areas:g} areas; allowed: at least one in each")
    number = int(areas)
    share = generator.dirichlet(np.full(number, 3.0))
    area = np.concatenate([np.arange(number), generator.choice(number, n - number, p=share)])
    means = np.log(median) + between * generator.standard_normal(number)
    return Records(np.exp(means[area] + within * generator.standard_normal(n)), np.eye(number)[area])
