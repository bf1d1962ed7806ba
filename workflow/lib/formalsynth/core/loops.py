"""Loops that Numba compiles when they are first called, and caches for the user; :mod:`formalsynth.core.compiled` calls them.

Fused operations are not used, so results are the same on every processor. Inner loops are over arrays whose length is known to be
positive, which the compiler turns into vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers, Single

PART = 128
"""Number of records that are summed before they are added to the total, so that rounding errors stay small."""
POINTS = 256
"""Number of points for which sums are computed at once."""
ROWS = 64
"""Number of records of the pool in a block."""
EPSILON, SMALLEST = np.finfo(np.float32).eps, np.finfo(np.float32).tiny
Codes = NDArray[np.uint8]


def _loop(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        return njit(cache=True)(function)
    except RuntimeError:  # there is no folder for its cache
        return njit(function)


@_loop
def add_clipped(left: Array, right: Array, threshold: float, sums: Array) -> None:
    """Add clipped products of (3, G) and (n, 3) factors to the sums (G,)."""
    for start in range(0, len(sums), POINTS):
        total = sums[start : start + POINTS]
        x, y, z = left[0, start : start + POINTS], left[1, start : start + POINTS], left[2, start : start + POINTS]
        for first in range(0, len(right), PART):
            part = np.zeros(len(total))
            for a, b, c in right[first : first + PART]:
                for g in range(len(total)):
                    value = x[g] * a + y[g] * b + z[g] * c
                    value = -threshold if value < -threshold else value
                    part[g] += threshold if value > threshold else value
            total += part


@_loop
def search(
    numbers: Single, codes: Codes, start: Integers, pool_numbers: Single, pool_codes: Codes, records: int, index: Integers
) -> None:  # fmt: skip
    """Write the positions of the nearest records of a pool into the index (m, k), which is -1 before.

    The limit for distances in single precision exceeds the k-th distance by their rounding error, so no neighbour is lost.
    """
    columns, k = numbers.shape[1], index.shape[1]
    best, differ, squared = np.empty(k), np.empty(ROWS, np.uint8), np.empty(ROWS, np.float32)
    for q in range(len(numbers)):
        best[:] = np.inf
        limit = np.float32(np.inf)
        for step in range(len(pool_codes)):
            block = (start[q] // ROWS + step) % len(pool_codes)
            _count_differences(codes[q], pool_codes[block], differ)
            if np.float32(2) * np.float32(differ.min()) > limit:
                continue
            _square_distances(numbers[q], pool_numbers[block], differ, squared)
            for i in range(min(ROWS, records - block * ROWS)):
                if squared[i] <= limit:
                    exact = _squared_distance(numbers[q], pool_numbers[block], differ[i], i)
                    if exact < best[k - 1]:
                        _insert(exact, block * ROWS + i, best, index[q])
                        limit = np.float32(best[k - 1] * (1 + (columns + 8) * EPSILON) + (columns + 1) * SMALLEST)


@_loop
def _count_differences(code: Codes, codes: Codes, differ: Codes) -> None:
    """Count the categories in which each record of a block differs from the query."""
    differ[:] = 0
    for j in range(len(code)):
        own, others = code[j], codes[j]
        for i in range(ROWS):
            differ[i] = np.uint8(differ[i] + np.uint8(others[i] != own))


@_loop
def _square_distances(query: Single, numbers: Single, differ: Codes, squared: Single) -> None:
    """Compute squared distances of a block's records in single precision."""
    for i in range(ROWS):
        squared[i] = np.float32(2) * np.float32(differ[i])
    for j in range(len(query)):
        number, values = query[j], numbers[j]
        for i in range(ROWS):
            squared[i] += (values[i] - number) ** 2


@_loop
def _squared_distance(query: Single, numbers: Single, differ: int, i: int) -> float:
    """Compute the squared distance of one record in double precision."""
    squared = 2.0 * differ
    for j in range(len(query)):
        squared += (np.float64(numbers[j, i]) - np.float64(query[j])) ** 2
    return squared


@_loop
def _insert(squared: float, record: int, best: Array, index: Integers) -> None:
    """Insert a neighbour in the place of the last one; the neighbours stay sorted."""
    place = len(best) - 1
    while place > 0 and best[place - 1] > squared:
        best[place], index[place] = best[place - 1], index[place - 1]
        place -= 1
    best[place], index[place] = squared, record
