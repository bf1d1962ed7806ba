"""E23: a quantile gap as a measure of inequality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import optimize

from formalsynth.core.arrays import Array
from formalsynth.errata.check import Comparison, Interval, Reading, at_most, near, numeric_check

RISK = np.exp(0.6 * np.linspace(-2.0, 2.0, 20))
"""Losses of 20 records with weight 1, in increasing order."""
MEDIAN, HIGH = 9, 17
"""Positions of the 50 % and 90 % quantiles."""
GAP = 0.5 * float(RISK[HIGH] - RISK[MEDIAN])
"""Allowed gap, half of that with all weights 1."""


@numeric_check(
    "E23",
    printed=Reading("Q90 − Q50 ≤ g bounds the spread of all losses", lambda risk: at_most(float(risk[MEDIAN]) + GAP)),
    derived=Reading("losses above Q90 do not enter; at the least reduction they stay", lambda risk: near(float(risk[-1]), 1e-9)),
)
def largest_loss_under_a_gap(formula: Callable[[Array], Interval]) -> Sequence[Comparison]:
    """Weights that reduce the losses of 20 records as little as the gap allows."""
    losses = _least_reduction(RISK)
    return [
        Comparison("largest loss with half of the gap", formula(RISK), near(float(losses[-1]), 1e-9), "linear program"),
    ]


def _least_reduction(risk: Array) -> Array:
    """Losses (n,) in the order of the risks, at most the risks, with the largest sum that the gap allows."""
    ordered = np.eye(len(risk))[:-1] - np.eye(len(risk), k=1)[:-1]
    gap = np.eye(len(risk))[HIGH] - np.eye(len(risk))[MEDIAN]
    limits = np.append(np.zeros(len(ordered)), GAP)
    return np.asarray(optimize.linprog(-np.ones(len(risk)), np.vstack([ordered, gap]), limits, bounds=[(0, r) for r in risk]).x)
