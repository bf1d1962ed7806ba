"""Small mixed records for tests of REPS."""

import numpy as np

from formalsynth.reps.domain import Domain, MixedRecords

DOMAIN = Domain(n=60, numbers=2, levels=(3, 2), clip=4.0, bins=4)


def small_records(generator: np.random.Generator, n: int = 60) -> MixedRecords:
    categories = np.column_stack([generator.integers(k, size=n) for k in DOMAIN.levels])
    return MixedRecords(generator.normal(size=(n, 2), scale=2), categories, generator.integers(2, size=n))
