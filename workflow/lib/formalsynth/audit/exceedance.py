"""Share pi(n) of data sets in which the audited loss exceeds the claimed local epsilon.

Under an asymptotic guarantee this share tends to 0 as n grows. The audited loss is a lower bound, and so is the share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formalsynth.audit.attack import lower_limit, upper_limit
from formalsynth.core.arrays import Array


@dataclass(frozen=True)
class Exceedance:
    """Share pi(n) with exact confidence limits."""

    share: float
    low: float
    high: float
    """Upper limit; both limits hold jointly at 95 % confidence."""
    data_sets: int


def exceedance(audited: Array, claimed: Array) -> Exceedance:
    """Share of data sets (R,) whose audited epsilon exceeds the claimed epsilon.

    Raises:
        ValueError: there are no data sets, or an epsilon is missing.
    """
    if not len(audited) or np.isnan(audited).any() or np.isnan(claimed).any():
        raise ValueError("pi(n) needs the audited and the claimed epsilon of each data set")
    hits, runs = int((audited > claimed).sum()), len(audited)
    return Exceedance(hits / runs, lower_limit(hits, runs, 0.025), upper_limit(hits, runs, 0.025), runs)
