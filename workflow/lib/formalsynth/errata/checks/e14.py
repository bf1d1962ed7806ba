"""E14: effect of the sensitive range on the synthetic data of range-truncation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.arrays import Array, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Form, Parent
from formalsynth.core.streams import Address
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, numeric_check

N = 2000
SMALLEST = 1e-300
"""Smallest decrease of the ECDF difference that counts as an improvement."""
Change = Callable[[], Interval]
"""Change of the average ECDF difference if the sensitive range is shortened."""


@numeric_check(
    "E14",
    printed=Reading("a shorter range: smaller ECDF difference (higher utility)", lambda: Interval(-1.0, -SMALLEST)),
    derived=Reading("a shorter range: the same weights, so the same synthetic data and the same ECDF", lambda: exactly(0.0)),
)
def utility_of_truncation(formula: Change) -> Sequence[Comparison]:
    """Weights of range-truncation for two ranges and without a range."""
    FAMILIES.find()
    MECHANISMS.find()
    generator = np.random.default_rng(14)
    records = intercept_only(np.exp(generator.normal(3, 1.4, N)))
    parent = Parent({}, generator.gamma(2.0, 2.0, N), np.ones(N))
    context = Context(FAMILIES["lognormal_regression"], records, Address(1, 1, 1, N, 0), [parent])
    wide, narrow = (_form("range_truncated", context, a=a, b=b).weights for a, b in ((0.4, 1.8), (0.6, 1.2)))
    plain = _form("weighted", context).weights
    how = "both mechanisms with the same risks; equal weights give equal fits and equal records"
    return [
        Comparison("change of the weights, (0.4, 1.8) to (0.6, 1.2)", formula(), exactly(_largest(wide, narrow)), how),
        Comparison("change of the weights, Weighted to (0.6, 1.2)", formula(), exactly(_largest(plain, narrow)), how),
    ]


def _form(mechanism: str, context: Context, **parameters: float) -> Form:
    form = MECHANISMS[mechanism].apply(context, parameters)
    if not isinstance(form, Form):
        raise TypeError(f"{mechanism} releases directly")
    return form


def _largest(weights: Array, others: Array) -> float:
    return float(np.abs(weights - others).max())
