"""Files that are either complete or missing, and byte-identical for the same content."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.runtime.scratch import scratch_folder

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

FULL = {
    errno.ENOSPC: "the disk is full ({}): make room",
    errno.EDQUOT: "the disk is full ({}): make room",
    errno.EFBIG: "the file would exceed the size limit ({}): raise the limit (ulimit -f)",
}
"""System errors for a full disk, an exhausted quota, and a limit on file sizes, each with its remedy."""
NO_MEMORY = "out of memory"
"""Part of a pandas message that distinguishes this error from that for a damaged table."""
PROBED = 2048
"""Number of values of an array that are compressed on trial."""
WORTH = 0.8
"""Largest ratio of compressed to original size at which an array is compressed."""
FILLED = ".files"
"""File that lists the files a folder was filled with, each with its sha256, in the format of ``sha256sum -c``."""
LISTED = re.compile(r"(?:([0-9a-f]{64})  )?(.+)")
"""Line of the list: a checksum, missing for files that a killed run may have left, and the name."""


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to; the file takes its name only when the block has ended without an error.

    Raises:
        OSError: for example, the disk is full, or the file would exceed the size limit; the message names the file.
    """
    path = Path(path)
    try:
        with scratch_folder(path.parent, path.name) as folder:
            partial = folder / path.name
            yield partial
            partial.replace(path)
    except OSError as error:
        if error.errno not in FULL:
            raise
        because = FULL[error.errno].format(error.strerror)
        raise OSError(error.errno, f"{path} could not be written because {because} and run again") from error


@contextlib.contextmanager
def sealed(path: str | Path) -> Iterator[Path]:
    """Write a file as :func:`atomic_write` does, with a seal by which :func:`unbroken` detects later damage.

    The seal is the file's sha256 in a hidden file in the same folder, ``.NAME.sha256``: a table contains only lines of data, and
    the checksum inside an ``.npz`` does not cover its list of arrays.
    """
    path = Path(path)
    with atomic_write(path) as partial:
        yield partial
        seal = f"{checksum(partial)}  {path.name}\n"
        # If killed from here on, there is a file without a seal, never one with the seal of another file.
        _seal_of(path).unlink(missing_ok=True)
    write_text(_seal_of(path), seal)


def unbroken(path: str | Path) -> Path:
    """Return the path of a :func:`sealed` file if its bytes are those that were written; a file without a seal is trusted.

    Raises:
        OSError: the file is damaged.
    """
    path = Path(path)
    for needed in (path, _seal_of(path)):
        if needed.exists() and not needed.is_file():
            raise _damaged(needed, "it is not a file")
    with contextlib.suppress(FileNotFoundError):
        if _seal_of(path).read_text(encoding="ascii", errors="replace").split()[:1] != [checksum(path)]:
            raise _damaged(path, f"its sha256 is not the one in {_seal_of(path).name}")
    return path


def check_filled(paths: Iterable[str | Path]) -> None:
    """Check that no file is empty, which a power cut can cause.

    Args:
        paths: the files, which may be missing.

    Raises:
        OSError: files are empty; the message names all of them.
    """
    empty = [str(path) for path in dict.fromkeys(map(Path, paths)) if path.is_file() and not path.stat().st_size]
    if empty:
        remedy = f"delete {'them' if len(empty) > 1 else 'it'} and run again"
        raise OSError(f"empty, probably after a power cut: {', '.join(empty)}; {remedy}")


def _seal_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def checksum(path: Path) -> str:
    """Compute the sha256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: str | Path, reason: object) -> OSError:
    return OSError(f"{path} is damaged ({reason}): delete it and run again")


@contextlib.contextmanager
def filled_folder(path: str | Path) -> Iterator[Path]:
    """Yield a folder to fill; its files are moved to their places only when the block has ended without an error.

    The target folder may contain other files, which stay: only files on the list of an earlier call are removed.
    """
    path = Path(path)
    with scratch_folder(path.parent, path.name) as folder:
        partial = folder / path.name
        partial.mkdir()
        yield partial
        names = sorted(str(file.relative_to(partial)) for file in partial.rglob("*") if file.is_file())
        made = {name: checksum(partial / name) for name in names}
        path.mkdir(exist_ok=True)
        before = _listed(path)
        # If killed from here on, every file of ours is on the list.
        write_text(path / FILLED, "".join(f"{name}\n" for name in before | made))
        for name in made:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (partial / name).replace(path / name)
        for name in before.keys() - made.keys():
            (path / name).unlink(missing_ok=True)
        write_text(path / FILLED, "".join(f"{total}  {name}\n" for name, total in made.items()))


def check_folder(path: str | Path) -> None:
    """Check that the files of a folder filled by :func:`filled_folder` have the bytes that were written.

    Raises:
        OSError: files are missing or damaged; the message names all of them.
    """
    path = Path(path)
    files = {path / name: total for name, total in _listed(path).items() if total}
    damaged = [str(file) for file, total in files.items() if not file.is_file() or checksum(file) != total]
    if damaged:
        raise OSError(f"missing or changed since they were written: {', '.join(damaged)}; delete {path} and run again")


def _listed(folder: Path) -> dict[str, str | None]:
    """Return the files that an earlier call put into a folder, with their sha256 if known; names that lead out are dropped."""
    with contextlib.suppress(FileNotFoundError):
        lines = (folder / FILLED).read_text(encoding="utf-8").splitlines()
        entries = [match for line in lines if line.isprintable() and (match := LISTED.fullmatch(line))]
        return {name: total for total, name in (entry.groups() for entry in entries) if _inside(folder, name)}
    return {}


def _inside(folder: Path, name: str) -> bool:
    """Return True if a name is inside a folder, and does not lead out of it, for example through a link."""
    above = (folder / name).parent.resolve()
    return Path(name).name != "" and ".." not in Path(name).parts and above.is_relative_to(folder.resolve())


def check_folders(*names: str) -> None:
    """Check that names of folders are not used for anything else.

    Raises:
        OSError: something else has that name.
    """
    for path in map(Path, names):
        if (path.is_symlink() or path.exists()) and not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{path.absolute()} is not a folder: move it away, and run again")


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays as an ``.npz``; arrays are compressed if that saves space."""
    import numpy as np

    with sealed(path) as partial, zipfile.ZipFile(partial, "w", compresslevel=1) as file:
        for name, values in arrays.items():
            file.compression = zipfile.ZIP_DEFLATED if _shrinks(values) else zipfile.ZIP_STORED
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(values), allow_pickle=False)


def _shrinks(values: np.ndarray) -> bool:
    """Check on the start of an array whether compression saves space: it does for equal weights and counts, not for draws."""
    beginning = values.reshape(-1)[:PROBED].tobytes()
    return len(zlib.compress(beginning, 1)) < WORTH * len(beginning)


def read_arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Read an ``.npz`` written by :func:`write_arrays`.

    Raises:
        OSError: the file is damaged, or cannot be read.
        MemoryError: there is not enough memory.
    """
    import numpy as np

    unbroken(path)
    with _reading(path), np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    others = [name for name, values in arrays.items() if not isinstance(values, np.ndarray)]
    if others:  # numpy returns bytes for a member that is not an array
        raise _damaged(path, f"{others[0]} is not an array")
    return arrays


@contextlib.contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Distinguish a damaged file from one that the system refuses to read, or that does not fit into memory."""
    try:
        yield
    except Exception as error:  # zipfile, zlib, numpy and pandas each raise their own error for a damaged file
        number = error.errno if isinstance(error, OSError) else None
        if isinstance(error, MemoryError) or number == errno.ENOMEM or NO_MEMORY in str(error):
            raise MemoryError(f"{path} could not be read: {error or NO_MEMORY}") from error
        if number not in (None, errno.EINVAL):
            raise
        raise _damaged(path, error) from error


def read_table(path: str | Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table written by :func:`write_table`, or some of its columns, with exactly the numbers that were written.

    Ids of synthesizers are text, even if all rows have an id such as ``True`` or ``inf``.

    Raises:
        OSError: the file is damaged, or cannot be read.
        MemoryError: there is not enough memory.
    """
    import pandas as pd

    unbroken(path)
    with _reading(path):
        asked = None if columns is None else list(columns)
        return pd.read_csv(path, usecols=asked, dtype={"synthesizer": "str"}, keep_default_na=False, na_values=[""])


def write_table(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as CSV; numbers keep all their digits."""
    with sealed(path) as partial:
        table.to_csv(partial, index=False, lineterminator="\n")


def write_text(path: str | Path, text: str) -> None:
    """Write a text file."""
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8")


def is_folder(path: str | Path) -> bool:
    """Return True if a folder exists; an invalid path does not."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def is_file(path: str | Path) -> bool:
    """Return True if a file exists; an invalid path does not."""
    try:
        return Path(path).is_file()
    except OSError:
        return False
