"""Files and folders that only their owner can read: for what is confidential."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.files import whole

FOLDER, FILE = 0o700, 0o600
"""Modes of a private folder and of a private file."""


def private_folder(path: Path) -> Path:
    """A folder that only its owner can enter; it is made, with its parents, where it is absent, and closed where it was open."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except RecursionError:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path)) from None
    path.chmod(FOLDER)
    return path


def write_private(path: Path, text: str) -> None:
    """Write a text file that only its owner can read, at no moment anyone else."""
    write_private_bytes(path, text.encode())


def write_private_bytes(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, at no moment anyone else."""
    with whole(path) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)


def open_to_others(path: Path) -> bool:
    """Whether somebody else than the owner can read a file or enter a folder."""
    return bool(path.stat().st_mode & 0o077)


def keep_to_owner(folders: Sequence[str | Path]) -> None:
    """Let nobody else read these folders, nor any file that this process makes from now on; nothing where none is named.

    Args:
        folders: made where they are absent.
    """
    if folders:
        os.umask(0o077)
    for folder in map(Path, folders):
        private_folder(folder)
