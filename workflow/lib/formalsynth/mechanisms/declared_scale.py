"""Weights that decrease with each record's risk, on a scale declared in advance."""

from __future__ import annotations

from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism
from formalsynth.core.weights import scaled_weights


@mechanism(ASYMPTOTIC)
def declared_scale(context: Context, *, scale: PositiveNumber) -> Form:
    """Weights ``clip(1 - risk / scale, 0, 1)`` from the risks of the parent, the unweighted synthesizer, and a declared scale.

    They are LW weights with declared ends, 0 and ``scale``, instead of the smallest and the largest risk, so a record affects
    another's weight only through the unweighted posterior. Under the parent's draws, no weighted log-likelihood exceeds
    ``scale / 4``. ``affected`` counts the weights that are 0. Source: ours.
    """
    weights = scaled_weights(context.parents[0].by_record, scale)
    return Form(weights, Sensitive(weights), affected=int((weights == 0).sum()))
