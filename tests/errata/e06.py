"""E6: guarantee of Censor_w if the weights are computed from the data."""

from censored_neighbours import EPSILON, losses
from check import Row, at_most, numeric_check

from formalsynth_workflow.papers.censor_audit.study_neighbours import FIXED, MIN_MAX, PRINTED, RECOMPUTED

N = 500
"""Number of records of the larger neighbour; the losses at the paper's 2000 are larger."""


@numeric_check(
    "E6",
    printed="weights computed from the data: loss ≤ ε",
    derived="weights held fixed: loss ≤ ε; computed from the data: every term may change: loss ≤ n ε with n records",
)
def loss_with_computed_weights():
    """Censor_w at ε = 1.6, n = 500, with the weights of each data set computed from that data set."""
    fixed, computed, min_max, printed = (losses(arm, N) for arm in (FIXED, RECOMPUTED, MIN_MAX, PRINTED))
    method = "exact posteriors on a grid, one record added"
    at_epsilon, bounds = at_most(EPSILON), (at_most(EPSILON), at_most(N * EPSILON))
    return [
        Row("weights held fixed", at_epsilon, at_epsilon, fixed["add_remove"], method),
        Row("re-weighted LW weights", *bounds, computed["add_remove"], method),
        Row("min-max weights", *bounds, min_max["add_remove"], method),
        Row("printed weights, proportional to 1 / |f|", *bounds, printed["add_remove"], method),
        Row("re-weighted, region with most of the mass", *bounds, computed["add_remove_region"], "99.9 % of the mass"),
    ]
