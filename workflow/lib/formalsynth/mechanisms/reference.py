"""Weights and clipping from each record's own log-likelihood at a reference parameter declared in advance.

Other records do not influence them. Proofs and exact tests: ``docs/proofs/reference_censored.md``,
``docs/proofs/censored_centred.md`` and ``docs/proofs/bracket_clipped.md``.

Source of clipping: censor paper (arXiv:2205.05003). Weights and centring are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.bounds import Range, Sensitive
from formalsynth.core.centring import Reference, log_likelihood_at
from formalsynth.core.constraints import AsGiven, PositiveNumber, PositiveProportion
from formalsynth.core.family import log_likelihood
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism

Value = Annotated[float | None, Field(allow_inf_nan=False), AsGiven]
"""Value of the reference parameter; None if the family has fewer parameters."""
PROBE = np.array([0.25, 1.0, 2.0])
"""Outcomes, at least one of which must have a density at a declared parameter; every family accepts one of them."""
VECTORS = ("beta", "coefficient")
"""Parameters of a regression that have one value for each column of the design."""


@mechanism(ASYMPTOTIC, parents=0)
def reference(
    context: Context, *, scale: PositiveNumber, theta1: Value = None, theta2: Value = None, theta3: Value = None,
    theta4: Value = None, theta5: Value = None, theta6: Value = None,
) -> Form:  # fmt: skip
    """Weights ``1 / sqrt(1 + (risk / scale)^2)``, with risk ``|log p(x | theta)|`` at the declared ``theta``.

    ``theta1`` and so on are the family's parameters in order, coefficients of a regression first. A weight is a fixed function
    of its own record, so a neighbour changes no other weight, and no weighted risk at ``theta`` reaches ``scale``. ``affected``
    counts the weights below one half. Source: ours.
    """
    weights = reference_weights(context, scale, (theta1, theta2, theta3, theta4, theta5, theta6))
    return Form(weights, Sensitive(weights), affected=int((weights < 0.5).sum()))


@mechanism("DP (add/remove)", parents=0, censors=True, strict={"add_remove": 1.0, "replace": 2.0})
def reference_censored(
    context: Context, *, epsilon: PositiveNumber, scale: PositiveNumber, theta1: Value = None, theta2: Value = None,
    theta3: Value = None, theta4: Value = None, theta5: Value = None, theta6: Value = None,
) -> Form:  # fmt: skip
    """Weights as in ``reference``, with each weighted log-likelihood clipped to ``[-epsilon / 2, epsilon / 2]``.

    Strict for adding or removing a record, 2 epsilon for replacing one: the weights are fixed functions of the records, so they
    are the same on a neighbour. Source: ours.
    """
    weights = reference_weights(context, scale, (theta1, theta2, theta3, theta4, theta5, theta6))
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))


@mechanism("DP (add/remove)", parents=0, censors=True, strict={"add_remove": 1.0, "replace": 2.0})
def censored_centred(
    context: Context, *, epsilon: PositiveNumber, factor: PositiveProportion = 1.0, theta1: Value = None, theta2: Value = None,
    theta3: Value = None, theta4: Value = None, theta5: Value = None, theta6: Value = None,
) -> Form:  # fmt: skip
    """Clip ``factor (log p(x | theta) - log p(x | theta_0))`` of each record to ``[-epsilon / 2, epsilon / 2]``.

    ``theta1`` and so on are the declared ``theta_0``: the family's parameters in order, coefficients of a regression first.
    Strict for adding or removing a record, 2 epsilon for replacing one, whatever ``theta_0`` is; a good guess clips few records.
    A factor below 1 helps if epsilon is small. ``affected`` counts the records without a density at ``theta_0``, which have
    weight 0. Source: ours.
    """
    draws = reference_draws(context, (theta1, theta2, theta3, theta4, theta5, theta6))
    undefined = np.isnan(log_likelihood_at(context.family, context.records, draws))
    weights = np.where(undefined, 0.0, float(factor))
    sensitive = Sensitive(weights, threshold=epsilon / 2, reference=Reference.of(draws))
    return Form(weights, sensitive, affected=int(undefined.sum()))


@mechanism("DP (moves) | R", parents=0, censors=True, truncates=True, strict={"move": 1.0})
def bracket_clipped(
    context: Context, *, epsilon: PositiveNumber, theta1: Value = None, theta2: Value = None, theta3: Value = None,
    theta4: Value = None, theta5: Value = None, theta6: Value = None,
) -> Form:  # fmt: skip
    """Probability of each record's bracket in full, and its conditional log density clipped to ``[-epsilon / 4, epsilon / 4]``.

    The brackets are the ranges that the scenario declares, and public. ``theta1`` and so on are a declared parameter at which the
    conditional log density is subtracted before clipping; without it nothing is, and the unit of the outcome matters. Strict for
    the move of one record inside its bracket. A record outside its bracket has weight 0. Source: ours.
    """
    records, theta = context.records, (theta1, theta2, theta3, theta4, theta5, theta6)
    range = Range.declared(records)
    weights = ((range.low <= records.x) & (records.x <= range.high)).astype(float)
    reference = None if theta1 is None else Reference.of(reference_draws(context, theta))
    sensitive = Sensitive(weights, replace(range, reference=reference), weights, epsilon / 4, reference)
    return Form(weights, sensitive)


def reference_weights(context: Context, scale: float, theta: Sequence[float | None]) -> Array:
    """Compute weights (n,) in [0, 1]: 0 for a record whose risk is infinite, or too extreme to be computed.

    No record stops the mechanism, since that would reveal the record's presence.

    Raises:
        ValueError: as :func:`reference_draws`.
    """
    risk = np.abs(log_likelihood_at(context.family, context.records, reference_draws(context, theta)))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(1 / np.sqrt(1 + (risk / scale) ** 2), nan=0.0))


def reference_draws(context: Context, theta: Sequence[float | None]) -> Draws:
    """Convert the declared parameter to a single posterior draw, and check that it gives a density.

    Raises:
        ValueError: the number of values differs from that of the family's parameters, or a value is outside its range.
    """
    draws = as_draws(context, theta)
    with np.errstate(over="ignore", invalid="ignore"):
        # powers of different numbers: equal columns have no unique least squares solution, which only some processors detect
        columns = context.records.design.shape[1]
        x = np.resize(PROBE, max(len(PROBE), columns))
        design = np.vander(np.linspace(0, 1, len(x)), columns, increasing=True)
        probe = Records(x, design, dict.fromkeys(context.records.inputs, np.ones(len(x))))
        if np.isnan(log_likelihood(context.family, probe, draws)).all():
            raise ValueError(f"the reference parameter {[value for value in theta if value is not None]} gives no density")
    return draws


def as_draws(context: Context, theta: Sequence[float | None]) -> Draws:
    """Convert the declared parameter to a single posterior draw.

    Coefficients need a value for each column of the design, exchangeable ones a single value for all.
    """
    values = [float(value) for value in theta if value is not None]
    names = context.family.parameters
    columns = context.records.design.shape[1]
    own = 1 if hasattr(context.family, "exchangeable") else columns
    sizes = [own if name in VECTORS else 1 for name in names]
    if len(values) != sum(sizes) or None in theta[: len(values)]:
        expected = ", ".join(f"{name} ({size})" for name, size in zip(names, sizes, strict=True))
        raise ValueError(f"the reference parameter has {len(values)} values, but the family requires {expected}")
    parts = np.split(np.array(values), np.cumsum(sizes)[:-1])
    return {name: np.resize(part, columns)[None] if name in VECTORS else part for name, part in zip(names, parts, strict=True)}
