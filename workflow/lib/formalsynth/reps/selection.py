"""Private choice of the rate lam of a weight map, paid from the budget.

The REPS paper chooses lam on a validation set, outside the budget. Here, the noisy total weight of each candidate is released,
and lam is the largest candidate that leaves a declared share of the total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.stages import Budget, GaussianCost, Risk, sigma_of


def select_strength(
    function: Callable[[Risk], Array],
    risk: Risk,
    candidates: Sequence[float],
    share: float,
    n: int,
    budget: Budget,
    generator: np.random.Generator,
) -> tuple[float, GaussianCost]:
    """Return the largest lam whose noisy total weight is at least ``share n``, the smallest lam if none is, and its cost.

    Given the noisy tables, a record changes each total by at most 1, whatever the other records are.

    Args:
        function: weight map.
        risk: its input; the rate is replaced by each candidate.
        candidates: candidates of lam.
        share: share of the declared number of records that the weights have to add up to.
        n: declared number of records.
        budget: budget of the choice; an infinite epsilon means no noise.
        generator: source of the noise.
    """
    totals = np.array([function(replace(risk, strength=strength)).sum() for strength in candidates])
    sigma = sigma_of(len(candidates), budget)
    enough = totals + sigma * generator.standard_normal(len(totals)) >= share * n
    chosen = max((lam for lam, kept in zip(candidates, enough, strict=True) if kept), default=min(candidates))
    return chosen, GaussianCost.of(math.sqrt(len(candidates)), sigma)
