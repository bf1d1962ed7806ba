"""E6: what Censor_w guarantees when the weights come from the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from formalsynth.errata.censored_neighbours import EPSILON, losses
from formalsynth.errata.check import Comparison, Reading, at_most, exactly, numeric_check
from formalsynth.papers.censor_audit.study_neighbours import FIXED, MIN_MAX, PRINTED, RECOMPUTED

N = 500
"""Records; at the paper's 2000 the losses are larger."""
Bound = Callable[[float, int], float]
"""From ε and the larger number of records to a bound on the loss when a record joins or leaves and all weights with it."""


@numeric_check(
    "E6",
    printed=Reading("weights computed from the data: loss ≤ ε", lambda epsilon, n: epsilon),
    derived=Reading(
        "weights held fixed: loss ≤ ε; computed from the data: every term may move, loss ≤ n ε at n records",
        lambda epsilon, n: n * epsilon,
    ),
)
def loss_with_computed_weights(formula: Bound) -> Sequence[Comparison]:
    """Censor_w at ε = 1.6, n = 500, with the weights of every data set computed from it."""
    fixed, computed, min_max, printed = (losses(arm, N) for arm in (FIXED, RECOMPUTED, MIN_MAX, PRINTED))
    how = "exact posteriors on a grid, one record more"
    says = at_most(formula(EPSILON, N))
    return [
        Comparison("weights held fixed", at_most(EPSILON), exactly(fixed["add_remove"]), how),
        Comparison("re-weighted LW weights", says, exactly(computed["add_remove"]), how),
        Comparison("min-max weights", says, exactly(min_max["add_remove"]), how),
        Comparison("printed weights, proportional to 1 / |f|", says, exactly(printed["add_remove"]), how),
        Comparison("re-weighted, where the mass is", says, exactly(computed["add_remove_region"]), "of which 99.9 %"),
    ]
