"""E18: place of the records with the largest risks."""

import numpy as np
from beta_risks import SHAPE1, SHAPE2, samples
from check import Interval, Row, numeric_check, simulated_mean
from scipy import stats

NUMBER, RISKIEST = 60, 20
"""Number of data sets, and number of their records with the largest risks."""


@numeric_check(
    "E18",
    printed="in the long tail: at most half of them are below the median",
    derived="at the mode, 0: nearly all of them are below the median",
)
def riskiest_records():
    """Share of the records with the largest risks below the median of the population, in samples from Beta(0.5, 3)."""
    median, method = stats.beta.median(SHAPE1, SHAPE2), f"{NUMBER} simulated data sets, 1000 draws of exact posteriors"
    below = np.array([sample.x[np.argsort(-sample.risk)[:RISKIEST]] < median for sample in samples(NUMBER)])
    return [
        Row(
            f"share of the {number} riskiest below the median", Interval(0.0, 0.5), Interval(0.9, 1.0),
            simulated_mean(below[:, :number].mean(axis=1)), method,
        )
        for number in (1, RISKIEST)
    ]  # fmt: skip
