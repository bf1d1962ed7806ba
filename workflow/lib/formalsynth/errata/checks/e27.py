"""E27: change of the sample variance when one record is replaced."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.errata.check import Comparison, Reading, exactly, near, numeric_check

N, D, POINTS = 1000, 4.0, 33
"""Number of records and bound on their absolute values, as in the paper's Figure 1; number of values of the record."""
LargestStep = Callable[[float], float]
"""Function from the smaller of two variances to the largest difference from the other."""


@numeric_check(
    "E27",
    printed=Reading("(2d)²/n from every variance s²", lambda s2: (2 * D) ** 2 / N),
    derived=Reading(
        "(d + sqrt(d² − s²))²/n from a variance s² of the other records", lambda s2: (D + math.sqrt(D**2 - s2)) ** 2 / N
    ),
)
def largest_step_of_the_variance(formula: LargestStep) -> Sequence[Comparison]:
    """Search over the values of one record, 999 others at the bounds −4 and 4."""
    how = "largest difference of sample variances over pairs of values"
    rows = []
    for high in (0, 16, 499):
        smaller, step = _searched(np.repeat([D, -D], [high, N - 1 - high]))
        rows.append(Comparison(f"step from s² = {smaller:.4g}", exactly(formula(smaller)), near(step, 1e-6 * step), how))
    return rows


def _searched(others: Array) -> tuple[float, float]:
    """Return the smaller variance of the pair with the largest difference, and that difference."""
    values = [*np.linspace(-D, D, POINTS), float(others.mean())]
    variances = [float(np.append(others, value).var(ddof=1)) for value in values]
    smaller, larger = max(product(variances, variances), key=lambda pair: pair[1] - pair[0])
    return smaller, larger - smaller
