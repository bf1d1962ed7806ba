"""Weights that fall with each record's risk on a scale declared in advance."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC)
def declared_scale(context: Context, *, scale: PositiveNumber) -> Form:
    """Weights ``clip(1 - risk / scale, 0, 1)`` from the risks of the parent, the unweighted synthesizer, and a declared scale.

    They are LW weights with declared ends, 0 and ``scale``, in place of the smallest and the largest risk, so no record moves
    another's weight but through the unweighted posterior. Under the parent's draws no weighted log-likelihood exceeds
    ``scale / 4``. ``affected`` counts the weights that are 0. Source: ours.
    """
    weights = scaled_weights(context.parents[0].by_record, scale)
    return Form(weights, Sensitive(weights), affected=int((weights == 0).sum()))


def scaled_weights(risk: Array, scale: float) -> Array:
    """Weights ``clip(1 - risk / scale, 0, 1)``.

    Args:
        risk: (n,) the largest absolute log-likelihood of each record over the draws of the unweighted posterior.
        scale: the risk, in the units of a log-likelihood, from which a record has weight 0.

    Returns:
        (n,) weights in [0, 1]: 1 for a record without risk, 0 for one whose risk is the scale or more.

    Raises:
        ValueError: the scale is not positive, or a risk is negative or not a number.
    """
    if not (scale > 0 and (risk >= 0).all()):
        raise ValueError("declared scales need a positive scale and risks that are not negative")
    weights: Array = np.maximum(1 - np.minimum(risk, scale) / scale, 0)
    return weights
