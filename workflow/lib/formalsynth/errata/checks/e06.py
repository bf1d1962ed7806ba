"""E6: guarantee of Censor_w if the weights are computed from the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from formalsynth.errata.censored_neighbours import EPSILON, losses
from formalsynth.errata.check import Comparison, Reading, at_most, exactly, numeric_check
from formalsynth.papers.censor_audit.study_neighbours import FIXED, MIN_MAX, PRINTED, RECOMPUTED

N = 500
"""Number of records; the losses at the paper's 2000 are larger."""
Bound = Callable[[float, int], float]
"""Function from ε and the number of records of the larger neighbour to a bound on the loss for an added or removed record."""


@numeric_check(
    "E6",
    printed=Reading("weights computed from the data: loss ≤ ε", lambda epsilon, n: epsilon),
    derived=Reading(
        "weights held fixed: loss ≤ ε; computed from the data: every term may change: loss ≤ n ε with n records",
        lambda epsilon, n: n * epsilon,
    ),
)
def loss_with_computed_weights(formula: Bound) -> Sequence[Comparison]:
    """Censor_w at ε = 1.6, n = 500, with the weights of each data set computed from that data set."""
    fixed, computed, min_max, printed = (losses(arm, N) for arm in (FIXED, RECOMPUTED, MIN_MAX, PRINTED))
    method = "exact posteriors on a grid, one record added"
    bound = at_most(formula(EPSILON, N))
    return [
        Comparison("weights held fixed", at_most(EPSILON), exactly(fixed["add_remove"]), method),
        Comparison("re-weighted LW weights", bound, exactly(computed["add_remove"]), method),
        Comparison("min-max weights", bound, exactly(min_max["add_remove"]), method),
        Comparison("printed weights, proportional to 1 / |f|", bound, exactly(printed["add_remove"]), method),
        Comparison(
            "re-weighted, region with most of the mass", bound, exactly(computed["add_remove_region"]), "99.9 % of the mass"
        ),
    ]
