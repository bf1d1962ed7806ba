"""Weights from scores and a threshold (REPS paper, Sections 5.2 and 7.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.stages import Risk, weight_map


@weight_map("cap")
def cap_weights(risk: Risk) -> Array:
    """Weights ``min(1, tau / s)``: gradual protection."""
    return np.divide(risk.threshold, risk.scores, out=np.ones_like(risk.scores), where=risk.scores > risk.threshold)


@weight_map("hinge")
def hinge_weights(risk: Risk) -> Array:
    """Weights ``exp(-lam max(0, s - tau))``: stronger protection of extreme scores."""
    return np.exp(-risk.strength * np.maximum(risk.scores - risk.threshold, 0.0))


@weight_map("removal")
def removal_weights(risk: Risk) -> Array:
    """Weights 0 above the threshold and 1 otherwise: hard removal (Section 7.3)."""
    return (risk.scores <= risk.threshold).astype(np.float64)


@weight_map("uniform")
def uniform_weights(risk: Risk) -> Array:
    """Weights 1."""
    return np.ones_like(risk.scores)


@weight_map("random")
def random_weights(risk: Risk) -> Array:
    """Weights of hinge-exp for scores drawn from T, independent of the records: the distribution without the target (Q4).

    Raises:
        ValueError: no scores were drawn.
    """
    if risk.redrawn is None:
        raise ValueError("the weight map random needs scores that are drawn from the tables")
    return hinge_weights(replace(risk, scores=risk.redrawn))
