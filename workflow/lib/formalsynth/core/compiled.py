"""Loops in C++, compiled when they are first needed; each takes a large part of a study's time in NumPy.

Without a compiler, NumPy or SciPy computes the same several times more slowly. ``python -m formalsynth.core.compiled`` compiles
the loops ahead of time, for machines that have no compiler but share the user's cache.
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

from formalsynth.core.arrays import Array, Integers, blocks
from formalsynth.runtime.cache import keep, kept
from formalsynth.runtime.compiler import compiler

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
Single = NDArray[np.float32]
Codes = NDArray[np.uint8]


def clipped_sums(left: Array, right: Array, threshold: float) -> Array:
    """Sum ``clip(left[g] . right[i], -threshold, threshold)`` over i: (G,).

    Args:
        left: (G, k).
        right: (n, k); it may be sparse if k is large.
        threshold: not negative.
    """
    (points, rank), records = left.shape, right.shape[0]
    sums = np.zeros(points)
    loops = library() if 1 <= rank <= HIGHEST_RANK else None
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
        codes: (m, q) categories of the queries, with q at most 255.
        start: (m,) positions in the pool at which the search for each query begins; they do not change the distances.
        pool_numbers: (r, p). The search is fastest if records with the same categories are adjacent.
        pool_codes: (r, q).
        k: number of neighbours, at most r.
    """
    loops = library()
    if loops is None:
        return None
    (queries, p), (records, q) = numbers.shape, pool_codes.shape
    index = np.empty((queries, k), dtype=np.int64)
    pool = _in_blocks(pool_numbers), _in_blocks(pool_codes)
    loops.nearest(np.ascontiguousarray(numbers), np.ascontiguousarray(codes), start, queries, *pool, records, p, q, k, index)
    return index


def _in_blocks(rows: NDArray[Any]) -> NDArray[Any]:
    """Columns of each block of rows (n, c): (blocks, c, ROWS), the last one filled up with zeros."""
    whole = np.pad(rows, ((0, -len(rows) % ROWS), (0, 0)))
    return np.ascontiguousarray(whole.reshape(-1, ROWS, rows.shape[1]).swapaxes(1, 2))


@functools.cache
def library() -> ctypes.CDLL | None:
    """Load the compiled loops; None, with a warning, if that is impossible."""
    made_from = "\n".join([SOURCE.read_text(encoding="utf-8"), *FLAGS, platform.system(), platform.machine()])
    name = f"loops-{hashlib.sha256(made_from.encode()).hexdigest()}.so"
    try:
        cached = kept(KIND, name) or keep(KIND, name, compile_to)
        if cached is not None:
            return _loaded(cached)
        with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
            compile_to(Path(folder) / name)
            return _loaded(Path(folder) / name)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = str(getattr(error, "stderr", None) or error).strip().splitlines()[0]
        remedy = f"install {compiler()}, or name a compiler in CXX"
        warnings.warn(f"loops in C++ are not used, so this takes longer ({reason}): {remedy}", RuntimeWarning, stacklevel=2)
        return None


def compile_to(file: Path) -> None:
    """Compile the loops.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: it does not compile them.
    """
    for form in FORMS:
        command = [compiler(), *FLAGS, *form, str(SOURCE), "-o", str(file)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return
    run.check_returncode()


def _loaded(file: Path) -> ctypes.CDLL:
    """Load the file and declare the arguments of its functions."""
    numbers, integers = ndpointer(np.float64, flags="C"), ndpointer(np.int64, flags="C")
    single, categories = ndpointer(np.float32, flags="C"), ndpointer(np.uint8, flags="C")
    count = ctypes.c_int64
    loops = ctypes.CDLL(str(file))
    loops.clipped_sums.argtypes = [numbers, count, numbers, count, count, ctypes.c_double, numbers]
    loops.nearest.argtypes = [
        single, categories, integers, count,
        single, categories, count, count, count, count, integers,
    ]  # fmt: skip
    return loops


if __name__ == "__main__":
    sys.exit(library() is None)
