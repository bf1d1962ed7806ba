"""E5: guarantee of censoring at ε/2 if a record is replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from formalsynth.errata.censored_neighbours import EPSILON, losses
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, numeric_check
from formalsynth.papers.censor_audit.study_neighbours import UNWEIGHTED

N, REACHED = 200, 0.999
"""Number of records, and the share of the bound that the largest loss found must reach."""


@dataclass(frozen=True)
class Guarantee:
    """Largest loss for each neighbour relation, as a function of the ε that defines the threshold."""

    add_remove: Callable[[float], float]
    replace_one: Callable[[float], float]


@numeric_check(
    "E5",
    printed=Reading("replace-one neighbours: ε", Guarantee(lambda epsilon: epsilon, lambda epsilon: epsilon)),
    derived=Reading("add/remove: ε; replace-one: 2 ε", Guarantee(lambda epsilon: epsilon, lambda epsilon: 2 * epsilon)),
)
def loss_of_censored_posteriors(formula: Guarantee) -> Sequence[Comparison]:
    """Censor_uw at ε = 1.6, n = 200: the largest loss reaches the bound and does not exceed it."""
    largest = losses(UNWEIGHTED, N)
    method = "largest log ratio of exact posteriors on a grid, ten data sets; a bound up to 0.1 % larger agrees"
    return [
        Comparison(
            f"one record {change}", exactly(bound(EPSILON)), Interval(largest[name], largest[name] / REACHED), method
        )
        for change, name, bound in (
            ("added or removed", "add_remove", formula.add_remove), ("replaced", "replace_one", formula.replace_one)
        )
    ]  # fmt: skip
