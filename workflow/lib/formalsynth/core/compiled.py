"""Clipped sums and nearest neighbours by loops of :mod:`formalsynth.core.loops`, which is imported when they are first needed.

Neighbours save a fifth of a whole run at scale paper, compared with scikit-learn's exhaustive search. A search for all records of
Adult takes 2 instead of 10 processor seconds, and each of its five replicates has about 25 smaller ones. Sums use the same
compiler, because they take three times as long in NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers, Single, blocks

HIGHEST_RANK = 3
"""Largest rank for which :func:`clipped_sums` is compiled; from the next one on, a matrix product is as fast."""
MOST_FEATURES = 255
"""Largest number of categories of a record for :func:`nearest`."""
Codes = NDArray[np.uint8]


def clipped_sums(left: Array, right: Array, threshold: float) -> Array:
    """Sum ``clip(left[g] . right[i], -threshold, threshold)`` over i: (G,).

    Args:
        left: (G, k).
        right: (n, k), dense or sparse.
        threshold: not negative.

    Raises:
        ValueError: the factors have different ranks, or the threshold is negative or NaN.
    """
    (points, rank), (records, own_rank) = left.shape, right.shape
    if rank != own_rank or not threshold >= 0:
        raise ValueError(f"ranks {rank} and {own_rank} must be equal, and the threshold {threshold} at least 0")
    sums = np.zeros(points)
    if 1 <= rank <= HIGHEST_RANK and isinstance(right, np.ndarray):
        from formalsynth.core.loops import add_clipped

        padding = ((0, 0), (0, HIGHEST_RANK - rank))
        add_clipped(np.ascontiguousarray(np.pad(left, padding).T), np.pad(right, padding), float(threshold), sums)
        return sums
    transposed = right.T
    for block in blocks(points if records else 0, records):
        values = left[block] @ transposed
        sums[block] = np.clip(values, -threshold, threshold, out=values).sum(axis=1)
    return sums


def nearest(numbers: Single, codes: Codes, start: Integers, pool_numbers: Single, pool_codes: Codes, k: int) -> Integers:
    """Positions (m, k) of the k records of a pool that are nearest to each query.

    The squared distance of two records is that of their numbers plus 2 for each category in which they differ.

    Args:
        numbers: (m, p) of the queries.
        codes: (m, q) categories of the queries, with q at most :data:`MOST_FEATURES`.
        start: (m,) positions in the pool at which the search for each query begins; they do not change the distances.
        pool_numbers: (r, p). The search is fastest if records with the same categories are adjacent.
        pool_codes: (r, q).
        k: number of neighbours, at least 1 and at most r; the time grows with it.

    Raises:
        ValueError: a size is not allowed, or a query has fewer than k records at a finite distance.
    """
    from formalsynth.core.loops import search

    (_, p), (records, q) = numbers.shape, pool_codes.shape
    if p != pool_numbers.shape[1] or not codes.shape[1] == q <= MOST_FEATURES or not 1 <= k <= records:
        raise ValueError(f"{k} neighbours among {records} records with {p} numbers and {q} categories are not possible")
    index = np.full((len(numbers), k), -1, dtype=np.int64)
    pool = _in_blocks(pool_numbers), _in_blocks(pool_codes)
    search(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), start, *pool, records, index)
    if index.min(initial=0) < 0:
        raise ValueError(f"a query has fewer than {k} records at a finite distance")
    return index


def _in_blocks(rows: NDArray[Any]) -> NDArray[Any]:
    """Columns of each block of rows (n, c): (blocks, c, ROWS), the last one filled up with zeros."""
    from formalsynth.core.loops import ROWS

    filled = np.pad(rows, ((0, -len(rows) % ROWS), (0, 0)))
    return np.ascontiguousarray(filled.reshape(len(filled) // ROWS, ROWS, rows.shape[1]).swapaxes(1, 2))
