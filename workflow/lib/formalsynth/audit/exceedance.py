"""pi(n): in what share of data sets the audited loss exceeds the claimed local epsilon.

An asymptotic guarantee says that this share falls to 0 as n grows. As the audited loss is a lower bound, so is the share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formalsynth.audit.attack import lower_limit, upper_limit
from formalsynth.core.arrays import Array


@dataclass(frozen=True)
class Exceedance:
    """pi(n) with exact limits."""

    share: float
    low: float
    high: float
    """Limits of the probability, with 95 % confidence together."""
    data_sets: int


def exceedance(audited: Array, claimed: Array) -> Exceedance:
    """The share of data sets (R,) whose audited epsilon is more than the claimed one.

    Raises:
        ValueError: there is no data set, or a number is missing.
    """
    if not len(audited) or np.isnan(audited).any() or np.isnan(claimed).any():
        raise ValueError("pi(n) needs the audited and the claimed epsilon of each data set")
    hits, runs = int((audited > claimed).sum()), len(audited)
    return Exceedance(hits / runs, lower_limit(hits, runs, 0.025), upper_limit(hits, runs, 0.025), runs)
