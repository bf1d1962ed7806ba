"""E32: the bias of weights for the group whose weights are small."""

import numpy as np
from check import Row, at_most, numeric_check

N, GROUP, WEIGHT = 1000, 20, 0.25
"""Number of records, size of the group that alone has a value, and weight of the group."""


@numeric_check(
    "E32",
    printed="bias at most the mean of 1 − w, small for a small group",
    derived="the group's frequency is multiplied by w: relative bias 1 − w",
)
def bias_for_a_group():
    """Weighted frequency of a value that only the group has, relative to its frequency."""
    member = np.arange(N) < GROUP
    weights = np.where(member, WEIGHT, 1.0)
    bound, lost = float((1 - weights).mean()), 1 - float((weights * member).sum() / member.sum())
    how = "weighted counts of 1000 records"
    return [Row("relative bias of the frequency of the group's value", at_most(bound), 1 - WEIGHT, lost, how)]
