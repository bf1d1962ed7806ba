"""E23: a quantile gap as a measure of inequality."""

import numpy as np
from check import Row, at_most, near, numeric_check
from scipy import optimize

RISK = np.exp(0.6 * np.linspace(-2.0, 2.0, 20))
"""Losses of 20 records with weight 1, in increasing order."""
MEDIAN, HIGH = 9, 17
"""Positions of the 50 % and 90 % quantiles."""
GAP = 0.5 * float(RISK[HIGH] - RISK[MEDIAN])
"""Allowed gap, half of that with all weights 1."""


@numeric_check(
    "E23",
    printed="Q90 − Q50 ≤ g bounds the spread of all losses",
    derived="losses above Q90 do not enter; at the least reduction they stay",
)
def largest_loss_under_a_gap():
    """Weights that reduce the losses of 20 records as little as the gap allows."""
    reduced, bound = near(float(least_reduction()[-1]), 1e-9), at_most(float(RISK[MEDIAN]) + GAP)
    return [Row("largest loss with half of the gap", bound, near(float(RISK[-1]), 1e-9), reduced, "linear program")]


def least_reduction():
    """Losses (n,) in the order of the risks, at most the risks, with the largest sum that the gap allows."""
    identity = np.eye(len(RISK))
    ordered = identity[:-1] - np.eye(len(RISK), k=1)[:-1]
    limits = np.append(np.zeros(len(ordered)), GAP)
    conditions = np.vstack([ordered, identity[HIGH] - identity[MEDIAN]])
    return optimize.linprog(-np.ones(len(RISK)), conditions, limits, bounds=[(0, r) for r in RISK]).x
