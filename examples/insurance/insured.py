"""Numbers of claims in some years of insurance."""

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.population import population


@population()
def insured(generator: np.random.Generator, n: int, *, rate: PositiveNumber) -> Records:
    """Draw counts with a rate for each year, which is twice as large in every second region."""
    region, years = generator.integers(1, 5, n), generator.uniform(0.5, 3, n)
    x = generator.poisson(rate * years * (1 + region % 2))
    return Records(x.astype(float), np.ones((n, 1)), {"region": region.astype(float), "years": years})
