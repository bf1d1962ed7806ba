"""Sensitive ranges: weights and truncated likelihoods if only values near the record are sensitive."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array, blocks, count, parts, take
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import AsGiven, Finite, NonNegative, Proportion
from formalsynth.core.mechanism import Context, Form, mechanism
from formalsynth.core.weights import lipschitz_weights, outside_share

AVERAGED = "range-averaged | R"
TRUNCATED = "range-truncated | R"
LowerEnd = Annotated[float, Field(strict=True, le=1, allow_inf_nan=True), AsGiven]
UpperEnd = Annotated[float, Field(strict=True, ge=1, allow_inf_nan=True), AsGiven]
"""End of a range as a multiple of the record's value, which is inside its range; infinite for an open range."""
MOST_PREDICTIVE = 400_000_000
"""Largest number of predictive values in a replicate. For a million records, 334 of 1000 draws are used, and the errors of shares
are at most 0.028."""


@mechanism(AVERAGED, id=3)
def range_averaged(
    context: Context,
    *,
    a: LowerEnd,
    b: UpperEnd,
    top: Proportion = 0.0,
    wide_a: LowerEnd = 0.0,
    wide_b: UpperEnd = math.inf,
    c: NonNegative = 1.0,
    g: Finite = 0.0,
) -> Form:
    """Range-averaged weights ``lambda + (1 - lambda) alpha`` (range paper, Equations 5 to 7).

    The share ``top`` of the largest records has the sensitive range ``[wide_a x, wide_b x]`` (Section 4.3); by
    default, all positive values.
    """
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    x = context.records.x
    in_top = x > np.quantile(x, 1 - top)
    lambda_ = _outside_share(context, np.where(in_top, wide_a, a), np.where(in_top, wide_b, b))
    return Form(lambda_ + (1 - lambda_) * alpha, Sensitive((1 - lambda_) * alpha))


@mechanism(TRUNCATED, id=4, truncates=True)
def range_truncated(context: Context, *, a: LowerEnd, b: UpperEnd, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """LW weights on the likelihood truncated to the sensitive range: bound ``|alpha (f - log gamma)|``.

    Source: range paper, Definition 4. The printed Equation 15 omits ``alpha`` from ``log gamma`` and contradicts the results
    printed with it (erratum E1): see :func:`range_truncated_printed`.
    """
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), alpha))


@mechanism(TRUNCATED, id=5, truncates=True)
def range_truncated_printed(context: Context, *, a: LowerEnd, b: UpperEnd, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """Bound as printed: ``|alpha f - log gamma|`` (range paper, Equation 15)."""
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), np.ones_like(alpha)))


def _outside_share(context: Context, low: Array, high: Array) -> Array:
    """Estimate ``lambda`` from a predictive value for each draw of the parent, the unweighted synthesizer.

    All ranges of a replicate use the same predictive values, so differences between them are not noise. If
    :data:`MOST_PREDICTIVE` would be exceeded, only every second draw is used, or every third, and so on.

    Args:
        context: input of the mechanism.
        low: (n,) lower ends, as multiples of the records' values.
        high: (n,) upper ends.
    """
    if context.cache.outside_share is None:
        x, draws = context.records.x, context.parents[0].draws
        generator = context.address.generator("predict")
        draws = take(draws, slice(None, None, -(-count(draws) * len(x) // MOST_PREDICTIVE)))
        context.cache.outside_share = np.empty(len(x))
        for part in parts(len(x)):
            records = context.records.take(part)
            taken = (take(draws, block) for block in blocks(count(draws), len(records)))
            predictive = (context.family.predict(generator, records, some) for some in taken)
            context.cache.outside_share[part] = outside_share(records.x, predictive, low[part], high[part])
    return context.cache.outside_share
