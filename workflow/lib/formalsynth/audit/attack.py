"""An attack on what is released: how well two neighbouring data sets can be told apart from one synthetic data set.

Nothing of the loss code is used. A score is computed for each of many synthetic data sets, half of them made from D and half
from D'. A threshold is chosen on one half of the runs; how often each hypothesis exceeds it is counted on the other half, with
exact confidence limits. A mechanism that is (epsilon, delta)-DP has ``TPR <= e^epsilon FPR + delta``, so the limits give a lower
bound of epsilon that holds with the stated confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from formalsynth.core.arrays import Array, Draws, Records, count
from formalsynth.core.family import Family

CONFIDENCE = 0.95
THRESHOLDS = 1000
"""That are tried, about."""


@dataclass(frozen=True)
class Attack:
    """What telling two neighbours apart came to."""

    epsilon: float
    """Lower bound of epsilon at delta, with the stated confidence."""
    threshold: float
    true_positive: float
    """Share of the counted runs of D whose score exceeds the threshold."""
    false_positive: float
    """Share of the counted runs of D' whose score does."""
    runs: int
    """Counted runs of each hypothesis."""


def told_apart(one: Array, other: Array, delta: float, confidence: float = CONFIDENCE) -> Attack:
    """The bound from scores under both hypotheses.

    Args:
        one: (R,) scores of independent runs on D.
        other: (R',) scores of independent runs on D'.
        delta: failure probability of the guarantee.
        confidence: of the bound, for both error rates and both directions together.
    """
    chosen, counted = (one[::2], other[::2]), (one[1::2], other[1::2])
    values = np.unique(np.concatenate(chosen))
    between = (values[1:] + values[:-1]) / 2 if len(values) > 1 else values
    tried = between[:: max(1, len(between) // THRESHOLDS)]
    bounds = [_bound(*_beyond(chosen, threshold), delta, confidence) for threshold in tried]
    threshold = float(tried[int(np.argmax(bounds))])
    hits = _beyond(counted, threshold)
    epsilon = _bound(*hits, delta, confidence)
    (positive, total), (false, others) = hits
    return Attack(epsilon, threshold, positive / total, false / others, total)


Hits = tuple[int, int]
"""How many of how many."""


def _beyond(scores: tuple[Array, Array], threshold: float) -> tuple[Hits, Hits]:
    first, second = ((int((side > threshold).sum()), len(side)) for side in scores)
    return first, second


def _bound(first: Hits, second: Hits, delta: float, confidence: float) -> float:
    """The larger of both directions: scores beyond the threshold for D, and below it for D'."""
    below = (second[1] - second[0], second[1]), (first[1] - first[0], first[1])
    found = 0.0
    for many, few in ((first, second), below):
        low, high = lower_limit(*many, (1 - confidence) / 4), upper_limit(*few, (1 - confidence) / 4)
        if low > delta:
            found = max(found, math.log((low - delta) / high))
    return found


def lower_limit(hits: int, runs: int, error: float) -> float:
    """Lower confidence limit of a probability.

    Source: Clopper and Pearson (1934).
    """
    return float(betaincinv(hits, runs - hits + 1, error)) if hits else 0.0


def upper_limit(hits: int, runs: int, error: float) -> float:
    """Upper confidence limit of a probability; source as above."""
    return float(betaincinv(hits + 1, runs - hits, 1 - error)) if hits < runs else 1.0


def scores(family: Family, synthetic: Sequence[Array], design: Array, one: Draws, other: Draws) -> Array:
    """Log likelihood ratio of the two hypotheses for each synthetic data set.

    The probability of a synthetic data set under a hypothesis is its mean likelihood over draws of that hypothesis' posterior.

    Args:
        family: the family of both posteriors.
        synthetic: R synthetic data sets (n,).
        design: (n, p) their predictors, which are public.
        one: S draws of the posterior of D, made for the attack alone.
        other: S' draws of the posterior of D'.
    """
    return np.array([_score(family, Records(x, design), one, other) for x in synthetic])


def _score(family: Family, records: Records, one: Draws, other: Draws) -> float:
    found = []
    for draws in (one, other):
        left, right = family.factors(records, draws)
        found.append(float(np.logaddexp.reduce(left @ right.sum(axis=0))) - math.log(count(draws)))
    return found[0] - found[1]
