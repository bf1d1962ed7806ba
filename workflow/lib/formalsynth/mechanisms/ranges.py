"""Sensitive ranges: weights and truncated likelihoods for records of which only values near the record are sensitive."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array, blocks, count, take
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import AsGiven, Finite, NonNegative, Proportion
from formalsynth.core.mechanism import Context, Form, mechanism
from formalsynth.core.model import Number
from formalsynth.core.weights import known_share, lipschitz_weights

AVERAGED = "range-averaged | R"
TRUNCATED = "range-truncated | R"
RangeEnd = Annotated[Number, Field(strict=True), AsGiven]
"""An end of a range, relative to the record; infinite for an open one."""


@mechanism(AVERAGED, id=3)
def range_averaged(
    context: Context,
    *,
    a: RangeEnd,
    b: RangeEnd,
    top: Proportion = 0.0,
    wide_a: RangeEnd = 0.0,
    wide_b: RangeEnd = 0.0,
    c: NonNegative = 1.0,
    g: Finite = 0.0,
) -> Form:
    """Range-averaged weights ``lambda + (1 - lambda) alpha`` (range paper, Equations 5 to 7).

    The share ``top`` of the largest records has the sensitive range ``[wide_a x, wide_b x]`` (Section 4.3).
    """
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    x = context.records.x
    in_top = x > np.quantile(x, 1 - top)
    known = _known(context, np.where(in_top, wide_a, a), np.where(in_top, wide_b, b))
    return Form(known + (1 - known) * alpha, Sensitive((1 - known) * alpha))


@mechanism(TRUNCATED, id=4)
def range_truncated(context: Context, *, a: RangeEnd, b: RangeEnd, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """LW weights on the likelihood truncated to the sensitive range: bound ``|alpha (f - log gamma)|``.

    Source: range paper, Definition 4. The printed Equation 15 leaves ``alpha`` off ``log gamma`` and contradicts the
    results printed with it (erratum E1): see :func:`range_truncated_printed`.
    """
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), alpha))


@mechanism(TRUNCATED, id=5)
def range_truncated_printed(context: Context, *, a: RangeEnd, b: RangeEnd, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """The bound as printed: ``|alpha f - log gamma|`` (range paper, Equation 15)."""
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha, (a, b), np.ones_like(alpha)))


def _known(context: Context, a: float | Array, b: float | Array) -> Array:
    """``lambda`` from one predictive value for each draw of the parent, the unweighted synthesizer.

    All ranges of a replicate see the same predictive values, so that their differences are not noise.
    """
    if context.found.known is None:
        generator = context.address.generator("predict")
        records, draws = context.records, context.parents[0].draws
        parts = (take(draws, block) for block in blocks(count(draws), len(records.x)))
        predictive = (context.family.predict(generator, records, part) for part in parts)
        context.found.known = known_share(records.x, predictive, a, b)
    return context.found.known
