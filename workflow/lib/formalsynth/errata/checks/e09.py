"""E9: sign in the log ratio for a smaller variance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats

from formalsynth.core.arrays import Array
from formalsynth.errata.check import Comparison, Reading, exactly, near, numeric_check

N_SYN, S2, STEP, DELTA = 1000, 1.0, 0.064, 5e-6
"""Number of synthetic records, variance, its change (2d)²/n at d = 4 and n = 1000, and the δ of the percentiles."""
LogRatio = Callable[[Array], Array]


def _parts(x: Array) -> tuple[Array, Array]:
    """Terms of the log ratio for the smaller variance, with the paper's rate for the neighbour (see E3)."""
    shape, falling = (N_SYN - 1) / 2, 2 * S2 - STEP
    return np.full_like(x, shape * np.log(falling / (2 * S2))), (N_SYN - 1) * STEP * x / (2 * S2 * falling)


@numeric_check(
    "E9",
    printed=Reading(
        "(n_syn − 1)/2 log((2 s² − t)/(2 s²)) − (n_syn − 1) t x / (2 s² (2 s² − t))", lambda x: _parts(x)[0] - _parts(x)[1]
    ),
    derived=Reading(
        "(n_syn − 1)/2 log((2 s² − t)/(2 s²)) + (n_syn − 1) t x / (2 s² (2 s² − t))", lambda x: _parts(x)[0] + _parts(x)[1]
    ),
)
def log_ratio_of_falling_variance(formula: LogRatio) -> Sequence[Comparison]:
    """Compare the log ratio of the two Gamma densities at both percentiles, 1000 synthetic records, t = 0.064."""
    shape = (N_SYN - 1) / 2
    base, other = stats.gamma(shape, scale=S2 / shape), stats.gamma(shape, scale=(2 * S2 - STEP) / (N_SYN - 1))
    x = base.ppf([DELTA / 2, 1 - DELTA / 2])
    values, references = formula(x), base.logpdf(x) - other.logpdf(x)
    return [
        Comparison(f"log ratio at x = {at:.4f}", exactly(float(value)), near(float(reference), 1e-8), "log densities of scipy")
        for at, value, reference in zip(x, values, references, strict=True)
    ]
