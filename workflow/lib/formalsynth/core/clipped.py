"""Data of a Stan program that clips the log-likelihood of each record: a sum of products of terms and coefficients.

With ranges, a record has the log probability of its range in full, and only the rest of its log-likelihood is clipped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.core.arrays import Array, Index, distinct_rows
from formalsynth.core.family import StanData

OPEN = 1e100
"""End of an open range in a Stan program, in which an infinite one would have undefined derivatives."""


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
        "m": 0,
        **{name: np.empty(0) for name in ("low", "high", "times", "at")},
    }


def clipped_in_ranges(
    data: StanData, weights: Array, low: Array, high: Array, base: Array, rows: Array
) -> tuple[StanData, Index]:
    """Add the distinct ranges of the clipped records to the data, and their numbers of records.

    Args:
        data: data with the terms of the m records of positive weight.
        weights: (n,) likelihood weights.
        low: (n,) lower ends.
        high: (n,) upper ends.
        base: (n,) log probabilities that are subtracted inside the clipped part.
        rows: (m, k) what the probability of a range depends on, besides its ends; ``at`` is its first column.

    Returns:
        data: data in which the records with the same range and row form a group.
        first: (groups,) index of the first of the m records of each group.
    """
    kept, terms = weights > 0, np.array(data["terms"])
    terms[:, -1] += (weights * base)[kept]
    ends = [np.clip(end[kept], -OPEN, OPEN) for end in (low, high)]
    first, group = distinct_rows(np.column_stack([*ends, rows]))
    ranges = {"low": ends[0][first], "high": ends[1][first], "at": rows[first, 0]}
    times = np.bincount(group, weights=weights[kept], minlength=len(first))
    return {**data, **ranges, "times": times, "m": len(first), "terms": terms, "group": group + 1}, first


def clipped_in_ranges_of_groups(data: StanData, weights: Array, low: Array, high: Array, base: Array) -> StanData:
    """Add ranges as :func:`clipped_in_ranges` does to records whose groups determine the probability of a range."""
    ranged, _ = clipped_in_ranges(data, weights, low, high, base, np.asarray(data["group"])[:, None])
    return {**ranged, "at": np.asarray(ranged["at"]).astype(int)}
