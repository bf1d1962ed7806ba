"""Stage 1.5: from outlier scores to weights in [0, 1] (REPS paper, Section 5.2 and Appendix B.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from formalsynth.core.arrays import Array


def cap_weights(scores: Array, threshold: float) -> Array:
    """``min(1, tau / s)``: gradual protection. Scores (n,) must not be negative."""
    return np.divide(threshold, scores, out=np.ones_like(scores), where=scores > threshold)


def hinge_weights(scores: Array, threshold: float, strength: float) -> Array:
    """``exp(-lam max(0, s - tau))``: sharper protection of extreme scores."""
    return np.exp(-strength * np.maximum(scores - threshold, 0.0))


def removal_weights(scores: Array, threshold: float) -> Array:
    """0 above the threshold and 1 below: hard removal (Section 7.3)."""
    return (scores <= threshold).astype(np.float64)


def choose_strength(utility: Mapping[float, float], uniform: float, slack: float) -> float:
    """The largest lam whose validation utility is within ``slack`` of uniform weights; the smallest if there is none.

    The choice looks at validation records and is outside the budget. The paper does not say what happens when no
    candidate is close enough; its tables print the smallest candidate where utility is poor.
    """
    close = [strength for strength, value in utility.items() if value >= uniform - slack]
    return max(close, default=min(utility))
