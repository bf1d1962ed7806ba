"""E16: one set of weights for the counts of Weighted-e and of Censor_w in Table 1."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.errata.beta_risks import samples
from formalsynth.errata.check import Comparison, Reading, exactly, numeric_check, simulated_mean

EPSILON, NUMBER = 3.0, 12
"""The ε at which the counts vary least, and the number of data sets."""
MIN_MAX, RE_WEIGHTED = "min-max", "re-weighted"
PRINTED = {"Weighted-e": 573.0, "Censor_w": 741.0}
"""Mean counts in Table 1."""

Pair = tuple[str, str]
"""Weights of Weighted-e and of Censor_w."""


@numeric_check(
    "E16",
    printed=Reading("the same weights in both, min-max or re-weighted", [(MIN_MAX, MIN_MAX), (RE_WEIGHTED, RE_WEIGHTED)]),
    derived=Reading("min-max weights in Weighted-e, re-weighted ones in Censor_w", [(MIN_MAX, RE_WEIGHTED)]),
)
def counts_of_table_1(pairs: Sequence[Pair]) -> Sequence[Comparison]:
    """Mean counts of Table 1 at ε = 3: the pair of weights that is nearest to both printed means."""
    return min((_comparisons(pair) for pair in pairs), key=_distance)


def _comparisons(pair: Pair) -> Sequence[Comparison]:
    """Compare the mean counts that a pair of weights gives with the printed ones."""
    method = f"printed; {NUMBER} simulated data sets, 1000 draws of exact posteriors"
    return [
        Comparison(f"{name}, {weights} weights", simulated_mean(counts), exactly(PRINTED[name]), method)
        for name, weights, counts in zip(PRINTED, pair, (_cut(pair[0]), _censored(pair[1])), strict=True)
    ]


def _distance(comparisons: Sequence[Comparison]) -> float:
    """Largest distance of a mean from its printed value."""
    return max(abs(c.value.low + c.value.high - 2 * c.reference.low) / 2 for c in comparisons)


@functools.cache
def _weights(name: str) -> tuple[Array, ...]:
    return tuple(sample.min_max if name == MIN_MAX else sample.re_weighted() for sample in samples(NUMBER))


def _cut(weights: str) -> Array:
    """Numbers of records whose weight Weighted-e sets to 0, by data set."""
    pairs = zip(_weights(weights), samples(NUMBER), strict=True)
    return np.array([(alpha * sample.risk > EPSILON / 2).sum() for alpha, sample in pairs], dtype=float)


def _censored(weights: str) -> Array:
    """Numbers of records that Censor_w censors, by data set."""
    pairs = zip(_weights(weights), samples(NUMBER), strict=True)
    return np.array([sample.censored(alpha, EPSILON / 2) for alpha, sample in pairs], dtype=float)
