"""Sensitive ranges: weights and truncated likelihoods if only values near the record, or in its bracket, are sensitive.

Source: range paper (arXiv:2602.04124).
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from formalsynth.core.arrays import Array, Records, blocks, count, parts, take
from formalsynth.core.bounds import Range, Sensitive
from formalsynth.core.constraints import AsGiven, Finite, NonNegative, PositiveNumber, Proportion
from formalsynth.core.mechanism import Context, Form, Parent, mechanism
from formalsynth.core.weights import lipschitz_weights, outside_share, sensitive_range

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
    lambda_ = _outside_share(context, context.parents[0], multiples(context.records.x, a, b, top, wide_a, wide_b))
    return Form(lambda_ + (1 - lambda_) * alpha, Sensitive((1 - lambda_) * alpha))


@mechanism(TRUNCATED, id=4, truncates=True)
def range_truncated(
    context: Context, *, a: LowerEnd, b: UpperEnd, c: NonNegative = 1.0, g: Finite = 0.0, top: Proportion = 0.0,
    wide_a: LowerEnd = 0.0, wide_b: UpperEnd = math.inf,
) -> Form:  # fmt: skip
    """LW weights on the likelihood truncated to the sensitive range: bound ``|alpha (f - log gamma)|``.

    The share ``top`` of the largest records has a wider range, as in ``range_averaged``. Source: range paper, Definition 4. The
    printed Equation 15 omits ``alpha`` from ``log gamma`` and contradicts the results printed with it (erratum E1): see
    :func:`range_truncated_printed`.
    """
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, multiples(context.records.x, a, b, top, wide_a, wide_b) if top else (a, b), alpha))


@mechanism(TRUNCATED, id=5, truncates=True)
def range_truncated_printed(context: Context, *, a: LowerEnd, b: UpperEnd, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """Bound as printed: ``|alpha f - log gamma|`` (range paper, Equation 15)."""
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), np.ones_like(alpha)))


@mechanism(AVERAGED, parents=2)
def any_averaged(
    context: Context, *, a: LowerEnd | None = None, b: UpperEnd | None = None, radius: PositiveNumber | None = None,
    top: Proportion = 0.0, wide_a: LowerEnd = 0.0, wide_b: UpperEnd = math.inf,
) -> Form:  # fmt: skip
    """First parent's weights, range-averaged: ``lambda + (1 - lambda) alpha`` under the second, unweighted, parent.

    The ranges are those of ``any_truncated``. A record outside its range has ``lambda = 1`` (range paper, Section 3, second
    branch). With an unweighted first parent, this is the posterior mechanism of Definition 1.
    """
    range, inside = ranges_of(context.records, a, b, radius, top, wide_a, wide_b)
    alpha, lambda_ = context.parents[0].weights, np.where(inside, _outside_share(context, context.parents[1], range), 1.0)
    weights = np.where(inside, alpha + lambda_ * (1 - alpha), 1.0)  # exactly 1 if alpha is, so that a fit can be shared
    return Form(weights, Sensitive((1 - lambda_) * alpha))


@mechanism(TRUNCATED, truncates=True)
def any_truncated(
    context: Context, *, a: LowerEnd | None = None, b: UpperEnd | None = None, radius: PositiveNumber | None = None,
    top: Proportion = 0.0, wide_a: LowerEnd = 0.0, wide_b: UpperEnd = math.inf,
) -> Form:  # fmt: skip
    """Parent's weights on the likelihood truncated to the sensitive range (range paper, Definition 4).

    The range is ``[a x, b x]``, ``[x - radius, x + radius]`` or, without these, the range that the scenario declares for the
    record; the share ``top`` of the largest records has ``[wide_a x, wide_b x]``. A record outside its range needs no
    protection: bound 0, weight 1 (Section 3, second branch). With an unweighted parent, this is the posterior mechanism of
    Definition 3.
    """
    range, inside = ranges_of(context.records, a, b, radius, top, wide_a, wide_b)
    alpha = context.parents[0].weights
    protected = np.where(inside, alpha, 0.0)
    return Form(np.where(inside, alpha, 1.0), Sensitive(protected, range, protected))


def multiples(x: Array, a: float, b: float, top: float, wide_a: float, wide_b: float) -> Range:
    """Make ranges from multiples of the values (n,); the share ``top`` of the largest values has other multiples."""
    return _widened(x, sensitive_range(x, a, b), top, wide_a, wide_b)


def _widened(x: Array, ends: tuple[Array, Array], top: float, wide_a: float, wide_b: float) -> Range:
    """Replace the ends of the ranges of the share ``top`` of the largest values by multiples of these."""
    in_top, wide = x > np.quantile(x, 1 - top), sensitive_range(x, wide_a, wide_b)
    return Range(np.where(in_top, wide[0], ends[0]), np.where(in_top, wide[1], ends[1]))


def ranges_of(
    records: Records, a: float | None, b: float | None, radius: float | None, top: float, wide_a: float, wide_b: float
) -> tuple[Range, NDArray[np.bool_]]:
    """Make the ranges of the records, and a mask (n,) of the records that are inside.

    Raises:
        ValueError: more than one kind of range is given, or none and the records have no declared ranges.
    """
    x = records.x
    if (a is None) != (b is None) or (a is not None and radius is not None):
        raise ValueError("a range needs both a and b, or radius, or neither: then the scenario declares it")
    if radius is not None:
        ends = x - radius, x + radius
    elif a is not None and b is not None:
        ends = sensitive_range(x, a, b)
    else:
        declared = Range.declared(records)
        ends = declared.low, declared.high
    range = _widened(x, ends, top, wide_a, wide_b)
    return range, (range.low <= x) & (x <= range.high)


def _outside_share(context: Context, parent: Parent, range: Range) -> Array:
    """Estimate ``lambda`` from a predictive value for each draw of the unweighted parent.

    All ranges of a replicate use the same predictive values, so differences between them are not noise. If
    :data:`MOST_PREDICTIVE` would be exceeded, only every second draw is used, or every third, and so on.
    """
    if context.cache.outside_share is None:
        x, draws = context.records.x, parent.draws
        generator = context.address.generator("predict")
        draws = take(draws, slice(None, None, -(-count(draws) * len(x) // MOST_PREDICTIVE)))
        context.cache.outside_share = np.empty(len(x))
        for part in parts(len(x)):
            records = context.records.take(part)
            taken = (take(draws, block) for block in blocks(count(draws), len(records)))
            predictive = (context.family.predict(generator, records, some) for some in taken)
            context.cache.outside_share[part] = outside_share(predictive, range.low[part], range.high[part])
    return context.cache.outside_share
