"""Data of a Stan program that clips the log-likelihood of each record: a sum of products of terms and coefficients."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array, Index
from formalsynth.core.family import StanData


def clipped_records(terms: Array, weights: Array, threshold: float | None, group: Index | None = None) -> StanData:
    """Weighted terms of the records with positive weight; none without a threshold.

    Args:
        terms: (n, k) terms of each record; the last one is an offset, which has the coefficient 1.
        weights: (n,) weights of the log-likelihoods.
        threshold: largest absolute value of a weighted log-likelihood; None without clipping.
        group: (n,) row of the coefficients of each record, from 0; None if all records have the same.
    """
    kept = weights > 0 if threshold is not None else np.zeros(len(weights), dtype=bool)
    rows = np.zeros(len(weights), dtype=int) if group is None else group
    return {
        "n": int(kept.sum()),
        "terms": (weights[:, None] * terms)[kept],
        "group": rows[kept] + 1,
        "threshold": 0.0 if threshold is None else threshold,
    }
