"""Loops in C++, compiled when they are first needed; each takes a large part of a study's time in NumPy.

Without a compiler, NumPy or SciPy computes the same: sums several times, neighbours more than fifty times as slowly. ``python -m
formalsynth.core.compiled`` compiles the loops ahead of time, for machines that have no compiler but share the user's cache.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers, Single, blocks
from formalsynth.runtime.cache import keep, kept
from formalsynth.runtime.compiler import command

SOURCE = Path(__file__).with_suffix(".cpp")
KIND = "loops"
"""Kind of the compiled file in the user's cache."""
FLAGS = ("-std=c++17", "-O3", "-shared", "-fPIC", "-ffp-contract=off")
"""Flags of the compiler. Without fused operations, results are the same on every processor."""
FORMS: tuple[tuple[str, ...], ...] = ((), ("-DONE_FORM",))
"""Further flags, in the order in which they are tried: some compilers cannot make a form of a loop for each processor."""
HIGHEST_RANK = 3
"""Largest rank for which :func:`clipped_sums` is compiled; from the next one on, a matrix product is as fast."""
ROWS = 64
"""Number of records in a block of the C++ code."""
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
    loops = library() if 1 <= rank <= HIGHEST_RANK and isinstance(right, np.ndarray) else None
    if loops is not None:
        left, right = (np.ascontiguousarray(factor, dtype=np.float64) for factor in (left, right))
        loops.clipped_sums(left, points, right, records, rank, threshold, sums)
        return sums
    transposed = right.T
    for block in blocks(points if records else 0, records):
        values = left[block] @ transposed
        sums[block] = np.clip(values, -threshold, threshold, out=values).sum(axis=1)
    return sums


def nearest(numbers: Single, codes: Codes, start: Integers, pool_numbers: Single, pool_codes: Codes, k: int) -> Integers | None:
    """Positions (m, k) of the k records of a pool that are nearest to each query; None if the loops cannot be compiled.

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
    (queries, p), (records, q) = numbers.shape, pool_codes.shape
    sizes = numbers.shape[1] == pool_numbers.shape[1] and codes.shape[1] == q <= MOST_FEATURES
    if not sizes or not 1 <= k <= records:
        raise ValueError(f"{k} neighbours among {records} records with {p} numbers and {q} categories are not possible")
    loops = library()
    if loops is None:
        return None
    index = np.empty((queries, k), dtype=np.int64)
    pool = _in_blocks(pool_numbers), _in_blocks(pool_codes)
    loops.nearest(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), start, queries, *pool, records, p, q, k, index)
    if index.min(initial=0) < 0:
        raise ValueError(f"a query has fewer than {k} records at a finite distance")
    return index


def _in_blocks(rows: NDArray[Any]) -> NDArray[Any]:
    """Columns of each block of rows (n, c): (blocks, c, ROWS), the last one filled up with zeros."""
    whole = np.pad(rows, ((0, -len(rows) % ROWS), (0, 0)))
    return np.ascontiguousarray(whole.reshape(len(whole) // ROWS, ROWS, rows.shape[1]).swapaxes(1, 2))


@functools.cache
def library() -> ctypes.CDLL | None:
    """Load the compiled loops; None, with a warning, if that is impossible."""
    made_from = "\n".join([SOURCE.read_text(encoding="utf-8"), *FLAGS, platform.system(), platform.machine()])
    name = f"loops-{hashlib.sha256(made_from.encode()).hexdigest()}.so"
    reason = ""
    for find in (_in_cache, _in_scratch):
        try:
            if loops := find(name):
                return loops
        except (OSError, ValueError) as error:
            reason = str(error)
    warnings.warn(f"loops in C++ cannot be used, so this takes much longer: {reason}", RuntimeWarning, stacklevel=2)
    return None


def _in_cache(name: str) -> ctypes.CDLL | None:
    file = kept(KIND, name) or keep(KIND, name, compile_to)
    return _loaded(file) if file else None


def _in_scratch(name: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        return _loaded(compile_to(Path(folder) / name))


def compile_to(file: Path) -> Path:
    """Compile the loops, check that they can be loaded, and return the file.

    Raises:
        OSError: there is no compiler, or its result cannot be loaded.
        ValueError: the compiler's name cannot be read, or it does not compile the loops.
    """
    for form in FORMS:
        call = [*command(), *FLAGS, *form, str(SOURCE), "-o", str(file)]
        run = subprocess.run(call, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if run.returncode == 0:
            _loaded(file)
            return file
    raise ValueError(f"{command()[0]} ended with code {run.returncode}: {' '.join(run.stderr.split())[:300]}")


def _loaded(file: Path) -> ctypes.CDLL:
    """Load the file and declare the arguments of its functions.

    Raises:
        OSError: the file cannot be loaded, or lacks a function.
    """
    numbers, integers = ndpointer(np.float64, flags="C"), ndpointer(np.int64, flags="C")
    single, categories = ndpointer(np.float32, flags="C"), ndpointer(np.uint8, flags="C")
    count = ctypes.c_int64
    loops = ctypes.CDLL(str(file))
    if not (hasattr(loops, "clipped_sums") and hasattr(loops, "nearest")):
        raise OSError(f"{file} lacks a function")
    loops.clipped_sums.argtypes = [numbers, count, numbers, count, count, ctypes.c_double, numbers]
    loops.nearest.argtypes = [
        single, categories, integers, count,
        single, categories, count, count, count, count, integers,
    ]  # fmt: skip
    return loops


if __name__ == "__main__":
    sys.exit(library() is None)
