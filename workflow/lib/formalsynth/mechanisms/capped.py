"""Weights that cap each record's risk at a declared constant."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC)
def capped(context: Context, *, M: PositiveNumber) -> Form:
    """Weights ``min(1, M / risk)`` from the risks of the parent, the unweighted synthesizer, and a declared constant M.

    Under the parent's draws, no weighted log-likelihood exceeds M; under the draws of the weighted fit, one may. ``affected``
    counts the weights below 1. Source: ours.
    """
    weights = capped_weights(context.parents[0].by_record, M)
    return Form(weights, Sensitive(weights), affected=int((weights < 1).sum()))


def capped_weights(risk: Array, limit: float) -> Array:
    """Compute weights ``min(1, limit / risk)``.

    Args:
        risk: (n,) the largest absolute log-likelihood of each record over the draws of the unweighted posterior.
        limit: M, the largest absolute weighted log-likelihood that a record may have in any of these draws.

    Returns:
        (n,) weights in [0, 1]: 1 for a record without risk, 0 for one whose risk is infinite.

    Raises:
        ValueError: the limit is not positive, or a risk is negative or not a number.
    """
    if not (limit > 0 and (risk >= 0).all()):
        raise ValueError("capped weights need a positive limit and nonnegative risks")
    weights: Array = limit / np.maximum(risk, limit)
    return weights
