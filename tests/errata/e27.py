"""E27: change of the sample variance when one record is replaced."""

import math
from itertools import product

import numpy as np
from check import Row, near, numeric_check

N, D, POINTS = 1000, 4.0, 33
"""Number of records and bound on their absolute values, as in the paper's Figure 1; number of values of the record."""


@numeric_check(
    "E27",
    printed="(2d)²/n from every variance s²",
    derived="(d + sqrt(d² − s²))²/n from a variance s² of the other records",
)
def largest_step_of_the_variance():
    """Search over the values of one record, 999 others at the bounds −4 and 4."""
    rows, how = [], "largest difference of sample variances over pairs of values"
    for high in (0, 16, 499):
        others = np.repeat([D, -D], [high, N - 1 - high])
        values = [*np.linspace(-D, D, POINTS), float(others.mean())]
        variances = [float(np.append(others, value).var(ddof=1)) for value in values]
        smaller, larger = max(product(variances, variances), key=lambda pair: pair[1] - pair[0])
        step, derived = larger - smaller, (D + math.sqrt(D**2 - smaller)) ** 2 / N
        rows.append(Row(f"step from s² = {smaller:.4g}", (2 * D) ** 2 / N, derived, near(step, 1e-6 * step), how))
    return rows
