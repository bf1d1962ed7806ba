"""E14: effect of the sensitive range on the synthetic data of range-truncation."""

import numpy as np
from check import Interval, Row, numeric_check

from formalsynth.core.arrays import intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address

N = 2000
SMALLEST = 1e-300
"""Smallest decrease of the ECDF difference that counts as an improvement."""


@numeric_check(
    "E14",
    printed="a shorter range: smaller ECDF difference (higher utility)",
    derived="a shorter range: the same weights, so the same synthetic data and the same ECDF",
)
def utility_of_truncation():
    """Weights of range-truncation for two ranges and without a range."""
    FAMILIES.find()
    MECHANISMS.find()
    generator = np.random.default_rng(14)
    records = intercept_only(np.exp(generator.normal(3, 1.4, N)))
    parent = Parent({}, generator.gamma(2.0, 2.0, N), np.ones(N))
    context = Context(FAMILIES["lognormal_regression"], records, Address(1, 1, 1, N, 0), [parent])
    wide, narrow = (MECHANISMS["range_truncated"].apply(context, {"a": a, "b": b}).weights for a, b in ((0.4, 1.8), (0.6, 1.2)))
    plain = MECHANISMS["weighted"].apply(context, {}).weights
    how = "both mechanisms with the same risks; equal weights give equal fits and equal records"
    return [
        Row(f"change of the weights, {first} to (0.6, 1.2)", Interval(-1.0, -SMALLEST), 0.0, np.abs(weights - narrow).max(), how)
        for first, weights in (("(0.4, 1.8)", wide), ("Weighted", plain))
    ]
