"""Weights that limit the influence of a record (REPS paper, Sections 5.2 and 6.4)."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.least_bias import least_biased_weights
from formalsynth.reps.stages import Risk, weight_map


@weight_map("equalize")
def equalize_weights(risk: Risk) -> Array:
    """Weights ``min(1, c / r)`` with the influence r of the record: no record has a larger weighted influence than c."""
    return least_biased_weights(risk.influence, risk.cap)


@weight_map("targeted")
def targeted_weights(risk: Risk) -> Array:
    """Weights of :func:`equalize_weights` above the threshold and 1 otherwise (Proposition 1)."""
    return least_biased_weights(risk.influence, np.where(risk.scores > risk.threshold, risk.cap, np.inf))


@weight_map("naive")
def naive_weights(risk: Risk) -> Array:
    """Weight c for all records (Remark 2): half the influence is the noise of twice the budget, so nothing is gained."""
    return np.full_like(risk.scores, min(risk.cap, 1.0))
