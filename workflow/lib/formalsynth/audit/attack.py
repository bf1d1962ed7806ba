"""An attack on what is released: how well two neighbouring data sets can be told apart from one synthetic data set.

Nothing of the loss code is used. A score is computed for each of many synthetic data sets, half of them made from D and half
from D'. A threshold is chosen on one half of the runs; how often each hypothesis exceeds it is counted on the other half, with
exact confidence limits. A mechanism that is (epsilon, delta)-DP has ``TPR <= e^epsilon FPR + delta``, so the limits give a lower
bound of epsilon that holds with the stated confidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import overload

import numpy as np
from scipy.special import betaincinv

from formalsynth.core.arrays import Array, Draws, Records, count
from formalsynth.core.family import Family

CONFIDENCE = 0.95
ERROR_RATES = "error rates"
"""The candidate of rows of the audit that hold one threshold of an attack each."""
THRESHOLDS = 1000
"""That are tried, about."""
POINTS = 40
"""Of the curve of both error rates, for each of them."""
UNSEEN = 1000.0
"""Log-likelihood below the largest that counts as this."""


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
    errors: Array = field(default_factory=lambda: np.empty((0, 2)), repr=False)
    """(T, 2) shares of false positives and of false negatives among all runs, for thresholds from the highest down."""


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
    bounds = _bound(_beyond(chosen[0], tried), _beyond(chosen[1], tried), delta, confidence)
    threshold = tried[int(np.argmax(bounds))]
    positive, false = (_beyond(side, np.array([threshold])) for side in counted)
    epsilon = _bound(positive, false, delta, confidence)[0]
    shares = [float(hits[0] / runs) for hits, runs in (positive, false)]
    return Attack(float(epsilon), float(threshold), shares[0], shares[1], positive[1], error_rates(one, other))


def error_rates(one: Array, other: Array, points: int = POINTS) -> Array:
    """Shares (T, 2) of false positives and of false negatives, at thresholds that are even in the logarithm of either.

    Args:
        one: (R,) scores of runs on D.
        other: (R',) scores of runs on D'.
        points: thresholds for each of the two, at most.
    """
    places = [np.unique(np.geomspace(1, len(side), points).astype(int)) - 1 for side in (one, other)]
    thresholds = np.unique(np.concatenate([np.sort(one)[places[0]], np.sort(other)[len(other) - 1 - places[1]]]))[::-1]
    false = [_beyond(other, thresholds)[0] / len(other), 1 - _beyond(one, thresholds)[0] / len(one)]
    return np.column_stack(false)


def least_errors(false_positives: Array, epsilon: float, delta: float) -> Array:
    """The least shares (T,) of false negatives that (epsilon, delta)-DP allows any attack with these shares of false positives.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1.
    """
    rest = 1 - delta - false_positives
    found: Array = np.maximum(0, np.maximum(1 - delta - np.exp(min(epsilon, 700)) * false_positives, np.exp(-epsilon) * rest))
    return found


Hits = tuple[Array, int]
"""How many (T,) of how many, for each threshold."""


def _beyond(scores: Array, thresholds: Array) -> Hits:
    below = np.searchsorted(np.sort(scores), thresholds, side="right")
    return np.asarray(len(scores) - below, dtype=float), len(scores)


def _bound(first: Hits, second: Hits, delta: float, confidence: float) -> Array:
    """The larger of both directions (T,): scores beyond the threshold for D, and below it for D'."""
    error, found = (1 - confidence) / 4, np.zeros(len(first[0]))
    (ours, runs), (theirs, others) = first, second
    for (many, of_many), (few, of_few) in (
        ((ours, runs), (theirs, others)),
        ((others - theirs, others), (runs - ours, runs)),
    ):
        low, high = lower_limit(many, of_many, error), upper_limit(few, of_few, error)
        np.maximum(found, np.log(np.maximum(low - delta, 1e-300) / high), out=found)
    return found


@overload
def lower_limit(hits: int, runs: int, error: float) -> float: ...
@overload
def lower_limit(hits: Array, runs: int, error: float) -> Array: ...
def lower_limit(hits: int | Array, runs: int, error: float) -> float | Array:
    """Lower confidence limit of a probability.

    Source: Clopper and Pearson (1934).
    """
    some = np.maximum(hits, 1)
    found: float | Array = np.where(np.asarray(hits) > 0, betaincinv(some, runs - some + 1, error), 0.0)[()]
    return found


@overload
def upper_limit(hits: int, runs: int, error: float) -> float: ...
@overload
def upper_limit(hits: Array, runs: int, error: float) -> Array: ...
def upper_limit(hits: int | Array, runs: int, error: float) -> float | Array:
    """Upper confidence limit of a probability; source as above."""
    return 1 - lower_limit(runs - hits, runs, error)


def scores(family: Family, synthetic: Array, design: Array, one: Draws, other: Draws) -> Array:
    """Log likelihood ratio (R,) of the two hypotheses for each synthetic data set.

    The probability of a synthetic data set under a hypothesis is its mean likelihood over draws of that hypothesis' posterior.

    Args:
        family: the family of both posteriors.
        synthetic: (R, n) synthetic data sets.
        design: (n, p) their predictors, which are public.
        one: S draws of the posterior of D, made for the attack alone.
        other: S' draws of the posterior of D'.
    """
    runs, n = synthetic.shape
    records = Records(synthetic.ravel(), np.tile(design, (runs, 1)))
    left, right = family.factors(records, {name: np.concatenate([one[name], other[name]]) for name in one})
    return ratio_of_means(left @ right.reshape(runs, n, -1).sum(axis=1).T, count(one))


def ratio_of_means(values: Array, first: int) -> Array:
    """Log ratio (R,) of two mean likelihoods, from log-likelihoods (S + S', R) whose first ones are those of D."""
    largest = values.max(axis=0)
    with np.errstate(divide="ignore"):
        means = [np.log(np.exp(part - largest).mean(axis=0)) for part in (values[:first], values[first:])]
    # a hypothesis that no number can hold any more is as good as excluded
    found: Array = np.clip(means[0], -UNSEEN, None) - np.clip(means[1], -UNSEEN, None)
    return found
