"""CW weights: records with many others nearby need less protection.

Source: reweight paper (arXiv:2006.01230), Section 2.2 and Algorithm 2.
"""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import Finite, NonNegative, PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC, parents=0, id=10)
def isolation_weighted(context: Context, *, r: PositiveNumber, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """CW weights from the share of records outside a ball of radius ``r x_i`` (reweight paper, Section 2.2)."""
    alpha = isolation_weights(context.records.x, r, c, g)
    return Form(alpha, Sensitive(alpha))


@mechanism(ASYMPTOTIC, parents=0, id=14)
def isolation_weighted_within(context: Context, *, radius: PositiveNumber, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """CW weights from the share of records further away than a radius, in units of the outcome (reweight paper, Section 2.2)."""
    alpha = isolation_weights(context.records.x, radius, c, g, relative=False)
    return Form(alpha, Sensitive(alpha))


def isolation_weights(x: Array, r: float, c: float = 1.0, g: float = 0.0, relative: bool = True) -> Array:
    """Compute CW weights ``clip(c (1 - IR) + g, 0, 1)``.

    Args:
        x: (n,) confidential values.
        r: radius of a record's ball as a share of its value, 0 for a record with value 0; or in units of the outcome.
        c: scale.
        g: shift.
        relative: True if the radius is a share.

    Returns:
        (n,) weights.
    """
    weights: Array = np.clip(c * (1 - isolation_risk(x, r * np.abs(x) if relative else r)) + g, 0, 1)
    return weights


def isolation_risk(x: Array, radius: Array | float) -> Array:
    """Compute ``IR_i``, the share of all n records outside the closed ball of record i: ``|x_j - x_i| > radius_i``.

    A record is inside its own ball, so the risk is at most ``1 - 1 / n``. Distances within rounding of the radius count as
    equal to it, so the boundary is exact for 0.2 times an integer.

    Args:
        x: (n,) confidential values.
        radius: (n,) radius of each record's ball, or one radius for all.

    Returns:
        (n,) risks in [0, 1), in O(n log n).

    Raises:
        ValueError: a radius is negative, or a value or radius is not a number.
    """
    radius = np.broadcast_to(np.asarray(radius, dtype=float), x.shape)
    if not (np.isfinite(x).all() and (radius >= 0).all()):
        raise ValueError("isolation needs finite values and nonnegative radii")
    ordered = np.sort(x)
    reach = radius + 4 * np.finfo(float).eps * (np.abs(x) + radius)
    inside = np.searchsorted(ordered, x + reach, side="right") - np.searchsorted(ordered, x - reach, side="left")
    return 1 - inside / len(x)
