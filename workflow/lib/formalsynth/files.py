"""Files that are either whole or absent, and the same bytes for the same content."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd


@contextlib.contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """A path to write to; the file takes its name only when the block has ended without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        partial = Path(folder, path.name)
        yield partial
        partial.replace(path)


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays as an ``.npz``."""
    with whole(path) as partial:
        np.savez(partial, **arrays)


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Read an ``.npz`` of :func:`write_arrays`.

    Raises:
        OSError: the file is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:  # zipfile, zlib and numpy each have their own complaint about a damaged file
        raise OSError(f"{path} is damaged ({error}): delete it and run again") from error


def read_parents(fits: Sequence[str], measures: Sequence[str]) -> dict[str, dict[str, np.ndarray]]:
    """Fit and measure arrays of the fits that a job builds on, by the id in their file names."""
    pairs = zip(fits, measures, strict=True)
    return {Path(fit).name.removesuffix(".fit.npz"): read_arrays(fit) | read_arrays(measure) for fit, measure in pairs}


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table of :func:`write_table` with the very numbers that were written.

    Raises:
        OSError: the file is damaged.
    """
    try:
        return pd.read_csv(path, float_precision="round_trip", keep_default_na=False, na_values=[""])
    except (ValueError, pd.errors.ParserError) as error:
        raise OSError(f"{path} is damaged ({error}): delete it and run again") from error


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as CSV; numbers keep all their digits."""
    with whole(path) as partial:
        table.to_csv(partial, index=False, lineterminator="\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file."""
    with whole(path) as partial:
        partial.write_text(text, encoding="utf-8")
