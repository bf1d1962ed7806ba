"""Stage 1.5: weights in [0, 1] from outlier scores (REPS paper, Section 5.2 and Appendix B.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Array


def cap_weights(scores: Array, threshold: float) -> Array:
    """Weights ``min(1, tau / s)``: gradual protection. Scores (n,) must be nonnegative."""
    return np.divide(threshold, scores, out=np.ones_like(scores), where=scores > threshold)


def hinge_weights(scores: Array, threshold: float, strength: float) -> Array:
    """Weights ``exp(-lam max(0, s - tau))``: stronger protection of extreme scores."""
    return np.exp(-strength * np.maximum(scores - threshold, 0.0))


def removal_weights(scores: Array, threshold: float) -> Array:
    """Weights 0 above the threshold and 1 otherwise: hard removal (Section 7.3)."""
    return (scores <= threshold).astype(np.float64)


def choose_strength(utility: Mapping[float, float], uniform: float, slack: float) -> float:
    """Return the largest lam whose validation utility is within ``slack`` of uniform weights; the smallest lam if none is.

    The choice uses validation records and is outside the budget. The paper does not specify the choice if no candidate is
    close enough; if utility is low, its tables print the smallest candidate.
    """
    close = [strength for strength, value in utility.items() if value >= uniform - slack]
    return max(close, default=min(utility))
