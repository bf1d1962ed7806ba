"""E1: position of the weight in the range-truncated bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check
from formalsynth.errata.exact_draws import draws, family, min_max_weights, simulated_records

N, DRAWS, DATA_SETS = 1000, 500, 3
"""Numbers of records, draws and data sets; halving the paper's n and draws changes the ratios by at most a few hundredths."""
WIDE, NARROW = (0.4, 1.8), (0.6, 1.2)
RangeWeights = Callable[[Array], Array]
"""Function that maps the weights of the records to the weights of their log γ."""


def _outside(alpha: Array) -> Array:
    return np.ones_like(alpha)


def _inside(alpha: Array) -> Array:
    return alpha


@numeric_check(
    "E1",
    printed=Reading("max |α f − log γ|", _outside),
    derived=Reading("max |α (f − log γ)|", _inside),
)
def bound_of_a_truncated_likelihood(formula: RangeWeights) -> Sequence[Comparison]:
    """Compare the range-truncated bound with the paper's statements about it."""
    rows = np.array([_ratios(np.random.default_rng([1, k]), formula) for k in range(DATA_SETS)])
    wide, narrow, matched = rows.T
    below, how = Interval(0.0, 1.0), "the paper's order, in each of three data sets with exact posteriors"
    return [
        Comparison("largest Δ truncated (0.4, 1.8) / Δ Weighted", exactly(wide.max()), below, how),
        Comparison("largest Δ truncated (0.6, 1.2) / Δ truncated (0.4, 1.8)", exactly(narrow.max()), below, how),
        Comparison(
            "mean ε truncated (0.4, 1.8) at 0.88 α / ε Weighted at 0.73 α", exactly(matched.mean()), near(1.0, 0.12),
            "printed: both are 5.7 (Section 4.2)",
        ),
    ]  # fmt: skip


def _ratios(generator: np.random.Generator, formula: RangeWeights) -> tuple[float, float, float]:
    """Compute ratios of bounds in one data set of the paper's simulation."""
    records = simulated_records(generator, N)
    alpha = min_max_weights(records, generator, DRAWS)

    def deltas(scale: float, ranges: Sequence[tuple[float, float] | None]) -> list[float]:
        weights = scale * alpha
        forms = [Sensitive(weights, ends, None if ends is None else formula(weights)) for ends in ranges]
        return [bounds.delta for bounds in record_bounds(family(), records, draws(records, weights, generator, DRAWS), forms)]

    weighted, wide, narrow = deltas(1.0, (None, WIDE, NARROW))
    return wide / weighted, narrow / wide, deltas(0.88, (WIDE,))[0] / deltas(0.73, (None,))[0]
