"""Files and folders that only their owner can read, for confidential content."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.files import atomic_write

FOLDER, FILE = 0o700, 0o600
"""Modes of a private folder and of a private file."""


def private_folder(path: Path) -> Path:
    """Make a folder, with its parents, that only its owner can enter, or close an existing one to others."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except RecursionError:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path)) from None
    path.chmod(FOLDER)
    return path


def write_private(path: Path, text: str, mode: int = FILE) -> None:
    """Write a text file that at no time anyone but its owner can read; arguments as in :func:`write_private_bytes`."""
    write_private_bytes(path, text.encode(), mode)


def write_private_bytes(path: Path, content: bytes, mode: int = FILE) -> None:
    """Write a file that at no time anyone but its owner can read; it is on the disk when this returns.

    Args:
        path: the file.
        content: content of the file.
        mode: mode of the finished file; a mode other than owner-only is for a folder that a group shares.
    """
    with atomic_write(path) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
        os.fchmod(descriptor, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    _sync(path.parent)
    with contextlib.suppress(PermissionError):  # the entry of a folder just made for the file
        _sync(path.parent.parent)


def _sync(folder: Path) -> None:
    """Flush a folder's entries to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def forbid_core_dumps() -> None:
    """Prevent this process and those it starts from writing their memory to a file when they crash."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def keep_to_owner(folders: Sequence[str | Path]) -> None:
    """Deny other users access to these folders, and to any file that this process makes from now on; no effect without folders.

    Args:
        folders: folders, made if missing.
    """
    if folders:
        os.umask(0o077)
        forbid_core_dumps()
    for folder in map(Path, folders):
        private_folder(folder)
