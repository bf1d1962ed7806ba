"""Attack that distinguishes two neighbouring data sets from one released synthetic data set.

It shares no code with the computation of the losses. Each of many synthetic data sets, half of them made from D and half from
D', gets a score. The first half of the runs selects a threshold; the second half counts how often each hypothesis exceeds it,
with exact confidence limits. An (epsilon, delta)-DP mechanism satisfies ``TPR <= e^epsilon FPR + delta``, so the limits give a
lower bound of epsilon at the stated confidence level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaincinv

from formalsynth.core.arrays import Array, Draws, Records, count
from formalsynth.core.family import Family

CONFIDENCE = 0.95
ERROR_RATES = "error rates"
"""Candidate name in audit rows with the error rates at one threshold of an attack."""
THRESHOLDS = 1000
"""Approximate number of thresholds tried."""
POINTS = 40
"""Number of points on the error-rate curve, for each of the two rates."""
UNSEEN = 1000.0
"""Largest distance of a log-likelihood below the maximum; larger distances are clipped to it."""


@dataclass(frozen=True)
class Attack:
    """Result of an attack that distinguishes two neighbours."""

    epsilon: float
    """Lower bound of epsilon at delta, at the stated confidence level."""
    errors: Array = field(default_factory=lambda: np.empty((0, 2)), repr=False)
    """(T, 2) false positive and false negative rates over all runs, in decreasing order of the threshold."""


def attack_bound(base: Array, other: Array, delta: float, confidence: float = CONFIDENCE) -> Attack:
    """Lower bound of epsilon from scores under both hypotheses.

    Args:
        base: (R,) scores of independent runs on D.
        other: (R',) scores of independent runs on D'.
        delta: failure probability of the guarantee.
        confidence: level of the bound, jointly for both error rates and both directions.
    """
    chosen, counted = (base[::2], other[::2]), (base[1::2], other[1::2])
    values = np.unique(np.concatenate(chosen))
    between = (values[1:] + values[:-1]) / 2 if len(values) > 1 else values
    tried = between[:: max(1, len(between) // THRESHOLDS)]
    bounds = _bound(_exceedances(chosen[0], tried), _exceedances(chosen[1], tried), delta, confidence)
    threshold = tried[int(np.argmax(bounds))]
    positive, false = (_exceedances(side, np.array([threshold])) for side in counted)
    epsilon = _bound(positive, false, delta, confidence)[0]
    return Attack(float(epsilon), error_rates(base, other))


def error_rates(base: Array, other: Array, points: int = POINTS) -> Array:
    """Rates (T, 2) of false positives and of false negatives, at thresholds that are evenly spaced in the log of either rate.

    Args:
        base: (R,) scores of runs on D.
        other: (R',) scores of runs on D'.
        points: largest number of thresholds for each of the two rates.
    """
    places = [np.unique(np.geomspace(1, len(side), points).astype(int)) - 1 for side in (base, other)]
    thresholds = np.unique(np.concatenate([np.sort(base)[places[0]], np.sort(other)[len(other) - 1 - places[1]]]))[::-1]
    false = [_exceedances(other, thresholds)[0] / len(other), 1 - _exceedances(base, thresholds)[0] / len(base)]
    return np.column_stack(false)


def least_errors(false_positives: Array, epsilon: float, delta: float) -> Array:
    """Smallest false negative rates (T,) that (epsilon, delta)-DP allows for an attack with these false positive rates.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1.
    """
    steep = 1 - delta - np.exp(min(epsilon, 700)) * false_positives
    flat = np.exp(-epsilon) * (1 - delta - false_positives)
    return np.asarray(np.maximum(0, np.maximum(steep, flat)))


Hits = tuple[Array, int]
"""Number of hits (T,) for each threshold, and the number of runs."""


def _exceedances(scores: Array, thresholds: Array) -> Hits:
    below = np.searchsorted(np.sort(scores), thresholds, side="right")
    return np.asarray(len(scores) - below, dtype=float), len(scores)


def _bound(first: Hits, second: Hits, delta: float, confidence: float) -> Array:
    """Larger of the bounds (T,) in the two directions: scores above the threshold for D, and scores below it for D'."""
    error, bounds = (1 - confidence) / 4, np.zeros(len(first[0]))
    (ours, runs), (theirs, others) = first, second
    for (many, of_many), (few, of_few) in (
        ((ours, runs), (theirs, others)),
        ((others - theirs, others), (runs - ours, runs)),
    ):
        low, high = lower_limit(many, of_many, error), upper_limit(few, of_few, error)
        np.maximum(bounds, np.log(np.maximum(low - delta, 1e-300) / high), out=bounds)
    return bounds


def lower_limit(hits: int | Array, runs: int, error: float) -> Any:
    """Lower confidence limit of a probability.

    Source: Clopper and Pearson (1934).
    """
    some = np.maximum(hits, 1)
    return np.where(np.asarray(hits) > 0, betaincinv(some, runs - some + 1, error), 0.0)[()]


def upper_limit(hits: int | Array, runs: int, error: float) -> Any:
    """Upper confidence limit of a probability; same source as :func:`lower_limit`."""
    return 1 - lower_limit(runs - hits, runs, error)


def scores(family: Family, synthetic: Array, design: Array, base: Draws, other: Draws) -> Array:
    """Log likelihood ratio (R,) of the two hypotheses for each synthetic data set.

    The probability of a synthetic data set under a hypothesis is its mean likelihood over draws of that hypothesis' posterior.

    Args:
        family: the family of both posteriors.
        synthetic: (R, n) synthetic data sets.
        design: (n, p) their predictors, which are public.
        base: S draws of the posterior of D, used by the attack only.
        other: S' draws of the posterior of D'.
    """
    runs, n = synthetic.shape
    records = Records(synthetic.ravel(), np.tile(design, (runs, 1)))
    left, right = family.factors(records, {name: np.concatenate([base[name], other[name]]) for name in base})
    sums = np.stack([right[start : start + n].sum(axis=0) for start in range(0, runs * n, n)])
    return ratio_of_means(left @ sums.T, count(base))


def ratio_of_means(values: Array, first: int) -> Array:
    """Log ratio (R,) of two mean likelihoods, from log-likelihoods (S + S', R); the first S rows are those of D."""
    largest = values.max(axis=0)
    with np.errstate(divide="ignore"):
        means = [np.log(np.exp(part - largest).mean(axis=0)) for part in (values[:first], values[first:])]
    # a likelihood that underflows to 0 excludes its hypothesis for practical purposes
    return np.asarray(np.clip(means[0], -UNSEEN, None) - np.clip(means[1], -UNSEEN, None))
