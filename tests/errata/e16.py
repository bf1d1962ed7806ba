"""E16: one set of weights for the counts of Weighted-e and of Censor_w in Table 1."""

import functools

import numpy as np
from beta_risks import samples
from check import Row, numeric_check, simulated_mean

EPSILON, NUMBER = 3.0, 12
"""The ε at which the counts vary least, and the number of data sets."""
MIN_MAX, RE_WEIGHTED = "min-max", "re-weighted"
PRINTED = {"Weighted-e": 573.0, "Censor_w": 741.0}
"""Mean counts in Table 1."""


@numeric_check(
    "E16",
    printed="the same weights in both, min-max or re-weighted",
    derived="min-max weights in Weighted-e, re-weighted ones in Censor_w",
)
def counts_of_table_1():
    """Mean counts of Table 1 at ε = 3: the pair of weights that is nearest to both printed means."""
    printed = min((counts(weights, weights) for weights in (MIN_MAX, RE_WEIGHTED)), key=distance)
    derived = counts(MIN_MAX, RE_WEIGHTED)
    method = f"printed; {NUMBER} simulated data sets, 1000 draws of exact posteriors"
    names = zip(PRINTED, (MIN_MAX, RE_WEIGHTED), printed, derived, PRINTED.values(), strict=True)
    return [Row(f"{name}, {weights} weights", *values, method) for name, weights, *values in names]


def counts(first, second):
    """Mean numbers of records that Weighted-e cuts, and that Censor_w censors, with these weights."""
    cut = [(alpha * sample.risk > EPSILON / 2).sum() for alpha, sample in weighted(first)]
    censored = [sample.censored(alpha, EPSILON / 2) for alpha, sample in weighted(second)]
    return simulated_mean(np.array(cut, dtype=float)), simulated_mean(np.array(censored, dtype=float))


def distance(means):
    """Largest distance of a mean from its printed value."""
    return max(abs(mean.low + mean.high - 2 * value) / 2 for mean, value in zip(means, PRINTED.values(), strict=True))


@functools.cache
def weighted(name):
    """Pairs of weights (n,) and samples."""
    return [(sample.min_max if name == MIN_MAX else sample.re_weighted(), sample) for sample in samples(NUMBER)]
