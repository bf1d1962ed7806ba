"""E1: position of the weight in the range-truncated bound."""

import numpy as np
from check import Interval, Row, near, numeric_check
from exact_draws import draws, family, min_max_weights, simulated_records

from formalsynth.core.bounds import Sensitive, record_bounds

N, DRAWS, DATA_SETS = 1000, 500, 3
"""Numbers of records, draws and data sets; halving the paper's n and draws changes the ratios by at most a few hundredths."""
WIDE, NARROW = (0.4, 1.8), (0.6, 1.2)


@numeric_check("E1", printed="max |α f − log γ|", derived="max |α (f − log γ)|")
def bound_of_a_truncated_likelihood():
    """Compare the range-truncated bound with the paper's statements about it."""
    ratios = np.array([ratios_of_bounds(np.random.default_rng([1, k])) for k in range(DATA_SETS)])
    (wide, narrow, _), (_, _, matched) = ratios.max(axis=0).T, ratios.mean(axis=0).T
    below, how = Interval(0.0, 1.0), "the paper's order, in each of three data sets with exact posteriors"
    return [
        Row("largest Δ truncated (0.4, 1.8) / Δ Weighted", *wide, below, how),
        Row("largest Δ truncated (0.6, 1.2) / Δ truncated (0.4, 1.8)", *narrow, below, how),
        Row(
            "mean ε truncated (0.4, 1.8) at 0.88 α / ε Weighted at 0.73 α", *matched, near(1.0, 0.12),
            "printed: both are 5.7 (Section 4.2)",
        ),
    ]  # fmt: skip


def ratios_of_bounds(generator):
    """Compute three ratios of bounds in one data set of the paper's simulation, by reading (2, 3)."""
    records = simulated_records(generator, N)
    alpha = min_max_weights(records, generator, DRAWS)

    def deltas(scale, *ranges):
        weights = scale * alpha
        of_log_gamma = (np.ones(N), weights)  # as printed, as derived
        forms = [Sensitive(weights), *(Sensitive(weights, ends, factor) for factor in of_log_gamma for ends in ranges)]
        drawn = draws(records, weights, generator, DRAWS)
        return [bounds.delta for bounds in record_bounds(family(), records, drawn, forms)]

    weighted, *truncated = deltas(1.0, WIDE, NARROW)
    matched, plain = deltas(0.88, WIDE)[1:], deltas(0.73)[0]
    pairs = zip(truncated[::2], truncated[1::2], matched, strict=True)
    return [(wide / weighted, narrow / wide, other / plain) for wide, narrow, other in pairs]
