"""E18: place of the records with the largest risks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.errata.beta_risks import SHAPE1, SHAPE2, samples
from formalsynth.errata.check import Comparison, Interval, Reading, numeric_check, simulated_mean

NUMBER, RISKIEST = 60, 20
"""Number of data sets, and number of their records with the largest risks."""


@numeric_check(
    "E18",
    printed=Reading("in the long tail: at most half of them are below the median", Interval(0.0, 0.5)),
    derived=Reading("at the mode, 0: nearly all of them are below the median", Interval(0.9, 1.0)),
)
def riskiest_records(below: Interval) -> Sequence[Comparison]:
    """Share of the records with the largest risks below the median of the population, in samples from Beta(0.5, 3)."""
    from scipy.stats import beta

    median, method = beta.median(SHAPE1, SHAPE2), f"{NUMBER} simulated data sets, 1000 draws of exact posteriors"
    shares = {1: [], RISKIEST: []}  # type: dict[int, list[float]]
    for sample in samples(NUMBER):
        order = np.argsort(-sample.risk)
        for number, below_median in shares.items():
            below_median.append(float((sample.x[order[:number]] < median).mean()))
    return [
        Comparison(f"share of the {number} riskiest below the median", below, simulated_mean(np.array(below_median)), method)
        for number, below_median in shares.items()
    ]
