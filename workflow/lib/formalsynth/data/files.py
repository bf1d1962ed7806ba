"""Real data: where each file comes from, how it is found, checked and read."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Records
from formalsynth.core.population import Counts
from formalsynth.core.registry import Registry, is_own
from formalsynth.core.text import Sentence
from formalsynth.runtime.files import whole

Columns = Mapping[str, NDArray[np.str_]]
"""Columns of a file, each as the text (n,) that it holds."""
Contents = Records | Counts | Columns
"""What the reader of a file makes of it."""
LEAST = 2
"""Records that a data set needs at least."""


class DataError(Sentence):
    """A data file cannot be used; the message names the file and what is wrong."""


@dataclass(frozen=True)
class Dataset:
    """A data file that the workflow can read."""

    file: str
    rows: int | None
    """Records that it gives; None where the published file is not at hand and they are counted."""
    sha256: str | None
    """Checksum of the published file; None where it is not known."""
    source: str
    """Where the file is published."""
    read: Callable[[Path], Contents]
    url: str = ""
    """Where the very file can be downloaded; empty where it has to be fetched by hand."""
    holds: Literal["records", "counts", "columns"] = "records"
    """What it holds: the records of a scenario, published counts that a population draws from, or columns for a study."""
    printed: int | None = None
    """Records that a paper says it gives, where neither ``rows`` nor a checksum is known: another number is warned of."""
    confidential: bool = True
    """Whether what is computed from it has to stay with its owner; not so where the file is published."""

    @property
    def shown(self) -> str:
        """Its name in reports: without the folder of this computer that a custodian's own file is in."""
        return Path(self.file).name if Path(self.file).is_absolute() else self.file


FILES: Registry[Dataset] = Registry("data file", "data/*.py", "papers/*/files*.py")


def find(name: str, folder: str | Path) -> Path | None:
    """Where a registered file is, in ``folder`` or where FORMALSYNTH_DATA points; None when absent.

    One that own code registers is looked for beside that code first.
    """
    file, module = FILES[name].file, FILES.module(name)
    places = [*([Path(module).parent] if is_own(module) else []), Path(folder)]
    if os.environ.get("FORMALSYNTH_DATA"):
        places.append(Path(os.environ["FORMALSYNTH_DATA"]))
    return next((place / file for place in places if os.path.lexists(place / file)), None)


def is_folder(path: str | Path) -> bool:
    """Whether a folder is there; what cannot be the path of one is none."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def is_file(path: str | Path) -> bool:
    """Whether a file is there; what cannot be the path of one is none."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def load(name: str, folder: str | Path, drop_rows: Sequence[int] = ()) -> Records:
    """Records of a registered file, without the rows that are left out.

    Args:
        name: name of the file in the register.
        folder: where it is looked for before FORMALSYNTH_DATA.
        drop_rows: rows to leave out; the first is 1.

    Raises:
        DataError: the file is absent, is not the published one, or holds impossible values or no records.
    """
    dataset = FILES[name]
    records = contents(name, folder)
    if not isinstance(records, Records):
        raise DataError(f"{dataset.file}: holds {dataset.holds}, not records")
    found = len(records)
    if dataset.rows is not None and found != dataset.rows:
        raise DataError(f"{dataset.file}: gives {found} records, expected {dataset.rows}")
    if len(set(drop_rows)) < len(drop_rows) or max(drop_rows, default=0) > found:
        raise DataError(f"{dataset.file}: drop_rows: given {list(drop_rows)}; allowed: different rows from 1 to {found}")
    keep = np.setdiff1d(np.arange(found), np.asarray(drop_rows, dtype=int) - 1)
    if len(keep) < LEAST:
        raise DataError(f"{dataset.file}: gives {len(keep)} records without the dropped rows; at least {LEAST} are needed")
    return records.take(keep)


def check(name: str, folder: str | Path) -> None:
    """Check a registered file; one whose checksum is that of the published file need not be read.

    Raises:
        DataError: the file is absent, is not the published one, or cannot be read.
    """
    dataset = FILES[name]
    if dataset.sha256:
        _checked_path(dataset, name, folder)
    else:
        contents(name, folder)


def sha256s(names: Iterable[str], folder: str | Path) -> dict[str, str]:
    """Sha256 of registered files as they are now, by name; empty for one that is absent.

    Raises:
        DataError: one of them cannot be read.
    """
    paths = {name: find(name, folder) for name in names}
    return {name: _sha256(FILES[name], path) if path else "" for name, path in paths.items()}


def check_unchanged(planned: Mapping[str, str], folder: str | Path) -> None:
    """Check that registered files are the ones that the run was planned with.

    Args:
        planned: what :func:`sha256s` said of them.
        folder: where they are looked for before FORMALSYNTH_DATA.

    Raises:
        DataError: one of them has changed, come or gone since.
    """
    for name, found in sha256s(planned, folder).items():
        if found != planned[name]:
            before, now = (f"sha256 {one}" if one else "no file" for one in (planned[name], found))
            raise DataError(f"{FILES[name].file}: {now}, but {before} when the run was planned: give the same command again")


def contents(name: str, folder: str | Path) -> Contents:
    """What the reader of a registered file makes of it.

    Raises:
        DataError: the file is absent, is not the published one, or cannot be read.
    """
    dataset = FILES[name]
    path = _checked_path(dataset, name, folder)
    try:
        return dataset.read(path)
    except DataError:
        raise
    # whatever else a reader stumbles over: columns, numbers, an encoding
    except (OSError, ValueError, LookupError) as error:
        raise DataError(f"{path}: is not in the form of {dataset.source}: {' '.join(str(error).split())}") from error


def load_counts(name: str, folder: str | Path) -> Counts | None:
    """Published table of value counts: for each variable its values and how often they occur; None when absent.

    Raises:
        DataError: the file is there but is not the published one.
    """
    return cast(Counts, contents(name, folder)) if find(name, folder) else None


def load_columns(name: str, folder: str | Path) -> Columns:
    """Columns of a registered file that a study reads.

    Raises:
        DataError: the file is absent, is not the published one, or cannot be read.
    """
    return cast(Columns, contents(name, folder))


def fetch(name: str, folder: str | Path) -> str:
    """Download a data file into ``folder`` unless it is there; what happened, as a sentence.

    Raises:
        DataError: the download fails or is not the published file.
    """
    import urllib.request

    dataset = FILES[name]
    if find(name, folder):
        return f"{dataset.file}: there already"
    if not dataset.url:
        return f"{dataset.file}: to be fetched by hand ({dataset.source}); put it into {folder}"
    try:
        with urllib.request.urlopen(dataset.url, timeout=60) as response:
            content = response.read()
    except OSError as error:
        raise DataError(f"{dataset.file}: {dataset.url} cannot be read ({error}); put the file into {folder} by hand") from error
    found = hashlib.sha256(content).hexdigest()
    if found != dataset.sha256:
        raise DataError(f"{dataset.file}: sha256 of the download is {found}, the published file has {dataset.sha256}")
    with whole(Path(folder) / dataset.file) as partial:
        partial.write_bytes(content)
    return f"{dataset.file}: downloaded"


def _checked_path(dataset: Dataset, name: str, folder: str | Path) -> Path:
    path = find(name, folder)
    if path is None:
        raise DataError(f"{dataset.file}: not found in {folder} nor in FORMALSYNTH_DATA")
    found = _sha256(dataset, path)
    if dataset.sha256 and found != dataset.sha256:
        raise DataError(f"{path}: sha256 is {found}, the published file has {dataset.sha256}")
    return path


def _sha256(dataset: Dataset, path: Path) -> str:
    if not path.is_file():
        raise DataError(f"{path}: is no file; expected the published one ({dataset.source})")
    try:
        known = path.stat()
        return _sha256_once(path.absolute(), known.st_size, known.st_mtime_ns)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


@functools.cache
def _sha256_once(path: Path, size: int, mtime_ns: int) -> str:
    """Sha256 of a file, looked up once for each state of it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
