"""Exact distances to the nearest records of a pool.

Compiled loops compare records, first by their categories, then by their numbers (:func:`formalsynth.core.compiled.nearest`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from formalsynth.core import compiled
from formalsynth.core.arrays import Array, Integers, blocks
from formalsynth.core.compiled import Codes
from formalsynth.reps.domain import offsets
from formalsynth_workflow.papers.reps.tables import Encoded

MOST = 256
"""Largest number of values of a categorical feature."""


def nearest(queries: Encoded, pool: Encoded, k: int, levels: Sequence[int] = ()) -> tuple[Array, Integers]:
    """Distances of each query to its k nearest records of the pool, in ascending order, and their positions: (m, k) each.

    Args:
        queries: (m, d) finite numbers, used in single precision.
        pool: (r, d) with at least k records.
        k: number of neighbours, at least 1.
        levels: number of values of each categorical feature, whose columns are the last ones, each with a single 1.

    Raises:
        ValueError: there are too few records, too many categorical features, or numbers that are not finite.
    """
    queries, pool = queries.astype(np.float32), pool.astype(np.float32)
    index = _positions(queries, pool, k, levels)
    distances = np.empty(index.shape)
    for part in blocks(len(index), k * pool.shape[1]):
        difference = queries[part, None] - pool[index[part]].astype(np.float64)
        distances[part] = np.sqrt(np.einsum("mkd,mkd->mk", difference, difference))
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(index, order, axis=1)


def _positions(queries: Encoded, pool: Encoded, k: int, levels: Sequence[int]) -> Integers:
    """Positions (m, k) of the nearest records."""
    (numbers, codes), (pool_numbers, pool_codes) = (_divided(records, levels) for records in (queries, pool))
    # In this order, adjacent records share most categories, and a search begins at the categories of the query.
    keys = _keys(pool_codes)
    order = np.argsort(keys, kind="stable")
    start = np.minimum(np.searchsorted(keys[order], _keys(codes)), len(pool) - 1)
    index = compiled.nearest(numbers, codes, start, pool_numbers[order], pool_codes[order], k)
    return np.asarray(order[index])


def _divided(records: Encoded, levels: Sequence[int]) -> tuple[Encoded, Codes]:
    """Numbers (n, p) and categories (n, q) of encoded records; without categorical features, a column of zeros.

    Raises:
        ValueError: a feature has more than 256 values.
    """
    if max(levels, default=0) > MOST:
        raise ValueError(f"a categorical feature has {max(levels)} values, at most {MOST} are allowed")
    numbers, *features = np.split(records, records.shape[1] - sum(levels) + offsets(levels), axis=1)
    codes = [columns.argmax(axis=1) for columns in features] or [np.zeros(len(records))]
    return numbers, np.stack(codes, axis=1).astype(np.uint8)


def _keys(codes: Codes) -> NDArray[np.bytes_]:
    """Categories of each record as a string (n,)."""
    return codes.view(f"S{codes.shape[1]}")[:, 0]
