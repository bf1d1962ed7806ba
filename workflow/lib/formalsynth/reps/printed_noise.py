"""Exact cost of noise as printed: the classical formula, for blocks with equal shares of the budget (Sections 6.2, 7.4 and B.3).

The printed epsilon is proved below 1 only. The exact one is smaller up to a limit that depends on delta, and larger beyond it.
"""

from __future__ import annotations

import math

import numpy as np
import scipy  # imports its submodules on first use

from formalsynth.core.gaussian import classical_sigma, gaussian_delta, gaussian_epsilon
from formalsynth.reps.influence import ACCOUNTINGS


def printed_epsilon(epsilon: float, delta: float, blocks: int, scoring: float = 0.0) -> float:
    """Exact epsilon at ``delta`` of a release whose stated epsilon follows from the classical formula.

    Args:
        epsilon: stated budget.
        delta: stated delta.
        blocks: number of blocks of statistics; each has an equal share of what scoring leaves.
        scoring: share of epsilon and delta that the noisy tables for scores spend, in one release.
    """
    rest = 1 - scoring
    mu = math.sqrt(blocks) / ACCOUNTINGS["per_block"].sigma(blocks, rest * epsilon, rest * delta)
    if scoring > 0:
        mu = math.hypot(mu, 1 / classical_sigma(1.0, scoring * epsilon, scoring * delta))
    return gaussian_epsilon(1.0, mu, delta)


def classical_limit(delta: float) -> float:
    """Smallest epsilon from which the classical formula gives less privacy than it states; infinite if there is none.

    Args:
        delta: at most 0.1; for a larger one, the formula may fail at every epsilon.
    """

    def excess(epsilon: float) -> float:
        return float(gaussian_delta(classical_sigma(1.0, epsilon, delta), 1.0, epsilon)) - delta

    tried = np.geomspace(0.1, 400, 400)
    fails = np.array([excess(epsilon) > 0 for epsilon in tried])
    if not fails.any():
        return math.inf
    first = int(np.argmax(fails))
    return float(scipy.optimize.brentq(excess, tried[max(first - 1, 0)], tried[first], rtol=1e-6)) if first else float(tried[0])
