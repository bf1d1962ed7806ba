"""Real data files: register with sources and checksums, and readers."""

from __future__ import annotations

import functools
import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Records
from formalsynth.core.population import Counts
from formalsynth.core.registry import PACKAGE, Registry, is_own
from formalsynth.core.text import DataError

Columns = Mapping[str, NDArray[np.str_]]
"""Columns of a file as text (n,)."""
Contents = Records | Counts | Columns
"""Result of the reader of a file."""
LEAST = 2
"""Smallest number of records of a data set."""
SHIPPED = (PACKAGE / "resources").resolve()
"""Folder of the public data files; datapackage.json describes them."""


@dataclass(frozen=True)
class Dataset:
    """Data file that the workflow can read."""

    file: str
    rows: int | None
    """Number of records; None if the published file is not available and records are counted."""
    sha256: str | None
    """Checksum of the published file; None if unknown."""
    source: str
    """Title and publication of the file, separated by a colon."""
    read: Callable[[Path], Contents]
    licence: str = ""
    """Licence under which the repository contains the file, by its name at opendefinition.org; empty if it does not."""
    holds: Literal["records", "counts", "columns"] = "records"
    """Kind of its content: records of a scenario, published counts for a population, or columns for a study."""
    printed: int | None = None
    """Number of records in a paper, if neither ``rows`` nor a checksum is known: a different number gives a warning."""
    confidential: bool = True
    """True if results computed from it have to stay with its owner; False for a published file."""

    @property
    def shown(self) -> str:
        """Name in reports, without the folder of a custodian's own file on this computer."""
        return Path(self.file).name if Path(self.file).is_absolute() else self.file


FILES: Registry[Dataset] = Registry("data file", "data/*.py")


def find(name: str, folder: str | Path) -> Path | None:
    """Path of a registered file: in ``folder``, in that of FORMALSYNTH_DATA or in the repository; None if missing.

    A file that own code registers is first looked for in the folder of that code, and never in the repository.
    """
    file, module = FILES[name].file, FILES.module(name)
    places = [Path(place) for place in (folder, os.environ.get("FORMALSYNTH_DATA")) if place]
    if is_own(module):
        candidates = [place / file for place in (Path(module).parent, *places)]
    else:
        candidates = [*(place / file for place in places if place.resolve() != SHIPPED.resolve()), *shipped(file)]
    return next((path for path in candidates if os.path.lexists(path)), None)


def shipped(file: str) -> tuple[Path, Path]:
    """Paths where the repository may have a file: as published, and with gzip."""
    return SHIPPED / file, SHIPPED / f"{file}.gz"


def opened(path: Path) -> gzip.GzipFile | BufferedReader:
    """Open a data file for reading, decompressing it if it ends in .gz."""
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")


def load(name: str, folder: str | Path, drop_rows: Sequence[int] = ()) -> Records:
    """Load the records of a registered file, without dropped rows.

    Args:
        name: name of the file in the register.
        folder: folder to search first.
        drop_rows: rows to leave out; the first is 1.

    Raises:
        DataError: the file is missing, is not the published one, or contains impossible values or no records.
    """
    dataset = FILES[name]
    records = contents(name, folder)
    if not isinstance(records, Records):
        raise DataError(f"{dataset.file}: contains {dataset.holds}, not records")
    n = len(records)
    if dataset.rows is not None and n != dataset.rows:
        raise DataError(f"{dataset.file}: contains {n} records, expected {dataset.rows}")
    if len(set(drop_rows)) < len(drop_rows) or max(drop_rows, default=0) > n:
        raise DataError(f"{dataset.file}: drop_rows: given {list(drop_rows)}; allowed: different rows from 1 to {n}")
    keep = np.setdiff1d(np.arange(n), np.asarray(drop_rows, dtype=int) - 1)
    if len(keep) < LEAST:
        raise DataError(f"{dataset.file}: contains {len(keep)} records without the dropped rows; at least {LEAST} are required")
    return records.take(keep)


def check(name: str, folder: str | Path) -> None:
    """Check a registered file; if its checksum is that of the published one, it is not read.

    Raises:
        DataError: the file is missing, is not the published one, or cannot be read.
    """
    dataset = FILES[name]
    if dataset.sha256:
        _checked_path(dataset, name, folder)
    else:
        contents(name, folder)


def sha256s(names: Iterable[str], folder: str | Path) -> dict[str, str]:
    """Compute the current sha256 of registered files, by name; empty for a missing file.

    Raises:
        DataError: one of them cannot be read.
    """
    paths = {name: find(name, folder) for name in names}
    return {name: _sha256(FILES[name], path) if path else "" for name, path in paths.items()}


def check_unchanged(planned: Mapping[str, str], folder: str | Path) -> None:
    """Check that registered files are unchanged since the run was planned.

    Args:
        planned: result of :func:`sha256s` at that time.
        folder: folder to search first.

    Raises:
        DataError: one of them was changed, added or removed since.
    """
    for name, sha256 in sha256s(planned, folder).items():
        if sha256 != planned[name]:
            before, now = (f"sha256 {checksum}" if checksum else "no file" for checksum in (planned[name], sha256))
            raise DataError(f"{FILES[name].file}: {now}, but {before} when the run was planned: give the same command again")


def contents(name: str, folder: str | Path) -> Contents:
    """Read a registered file with its reader.

    Raises:
        DataError: the file is missing, is not the published one, or cannot be read.
    """
    dataset = FILES[name]
    path = _checked_path(dataset, name, folder)
    try:
        return dataset.read(path)
    except DataError:
        raise
    # any other reader error: columns, numbers, an encoding
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"{path}: is not in the form of {dataset.source}: {' '.join(str(error).split())}") from error


def load_counts(name: str, folder: str | Path) -> Counts:
    """Load a published table of value counts: values of each variable and their frequencies.

    Raises:
        DataError: the file is missing, is not the published one, or cannot be read.
    """
    return cast(Counts, contents(name, folder))


def load_columns(name: str, folder: str | Path) -> Columns:
    """Load the columns of a registered file for a study.

    Raises:
        DataError: the file is missing, is not the published one, or cannot be read.
    """
    return cast(Columns, contents(name, folder))


def _checked_path(dataset: Dataset, name: str, folder: str | Path) -> Path:
    path = find(name, folder)
    if path is None:
        raise DataError(f"{dataset.file}: not found in {folder} nor in FORMALSYNTH_DATA")
    sha256 = _sha256(dataset, path)
    if dataset.sha256 and sha256 != dataset.sha256:
        raise DataError(f"{path}: sha256 is {sha256}, the published file has {dataset.sha256}")
    return path


def _sha256(dataset: Dataset, path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: is not a file; expected the published one ({dataset.source})")
    try:
        stat = path.stat()
        return _sha256_once(path.absolute(), stat.st_size, stat.st_mtime_ns)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


@functools.cache
def _sha256_once(path: Path, size: int, mtime_ns: int) -> str:
    """Compute the sha256 of a file's uncompressed content, once for each size and modification time."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
