"""E9: sign in the log ratio for a smaller variance."""

import numpy as np
from check import Row, near, numeric_check
from scipy import stats

N_SYN, S2, STEP, DELTA = 1000, 1.0, 0.064, 5e-6
"""Number of synthetic records, variance, its change (2d)²/n at d = 4 and n = 1000, and the δ of the percentiles."""


@numeric_check(
    "E9",
    printed="(n_syn − 1)/2 log((2 s² − t)/(2 s²)) − (n_syn − 1) t x / (2 s² (2 s² − t))",
    derived="(n_syn − 1)/2 log((2 s² − t)/(2 s²)) + (n_syn − 1) t x / (2 s² (2 s² − t))",
)
def log_ratio_of_falling_variance():
    """Compare the log ratio of the two Gamma densities at both percentiles, 1000 synthetic records, t = 0.064."""
    shape, falling = (N_SYN - 1) / 2, 2 * S2 - STEP  # with the paper's rate for the neighbour: see E3
    base, other = stats.gamma(shape, scale=S2 / shape), stats.gamma(shape, scale=falling / (N_SYN - 1))
    rows = []
    for x in base.ppf([DELTA / 2, 1 - DELTA / 2]):
        constant, slope = shape * np.log(falling / (2 * S2)), (N_SYN - 1) * STEP * x / (2 * S2 * falling)
        reference = near(base.logpdf(x) - other.logpdf(x), 1e-8)
        rows.append(Row(f"log ratio at x = {x:.4f}", constant - slope, constant + slope, reference, "log densities of scipy"))
    return rows
