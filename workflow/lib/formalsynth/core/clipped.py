"""Data of a Stan program that clips the log-likelihood of each record: a sum of products of terms and coefficients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.core.arrays import Array, Index
from formalsynth.core.family import StanData


def clipped_records(
    terms: Callable[[Index], Array], weights: Array, threshold: float | None, group: Index | None = None
) -> StanData:
    """Weighted terms of the records with positive weight; none without a threshold.

    Args:
        terms: function that returns the terms (m, k) of the m records at some places; the last one is an offset, which has the
            coefficient 1.
        weights: (n,) weights of the log-likelihoods.
        threshold: largest absolute value of a weighted log-likelihood; None without clipping.
        group: (m,) row of the coefficients of each record with positive weight, from 0; None if all records have the same.
    """
    kept = np.flatnonzero(weights > 0) if threshold is not None else np.array([], dtype=int)
    return {
        "n": len(kept),
        "terms": weights[kept, None] * terms(kept),
        "group": np.zeros(len(kept), dtype=int) + 1 if group is None else group[: len(kept)] + 1,
        "threshold": 0.0 if threshold is None else threshold,
    }
