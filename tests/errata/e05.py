"""E5: guarantee of censoring at ε/2 if a record is replaced."""

from censored_neighbours import EPSILON, losses
from check import Interval, Row, numeric_check

from formalsynth_workflow.papers.censor_audit.study_neighbours import UNWEIGHTED

N, REACHED = 200, 0.999
"""Number of records, and the share of the bound that the largest loss found must reach."""


@numeric_check("E5", printed="replace-one neighbours: ε", derived="add/remove: ε; replace-one: 2 ε")
def loss_of_censored_posteriors():
    """Censor_uw at ε = 1.6, n = 200: the largest loss reaches the bound and does not exceed it."""
    largest = losses(UNWEIGHTED, N)
    method = "largest log ratio of exact posteriors on a grid, ten data sets; a bound up to 0.1 % larger agrees"
    return [
        Row(f"one record {change}", EPSILON, derived, Interval(largest[name], largest[name] / REACHED), method)
        for change, name, derived in (("added or removed", "add_remove", EPSILON), ("replaced", "replace_one", 2 * EPSILON))
    ]
