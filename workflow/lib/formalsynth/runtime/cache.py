"""Files cached for the user, shared by all working folders, because recreating them takes a long time.

They are in the folder ``formalsynth`` of the user's cache folder (``XDG_CACHE_HOME``, by default ``~/.cache``). The name of each
file contains a checksum of everything it was made from, so none can be out of date; the folder may be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from formalsynth.runtime.files import sealed, unbroken


def cache_folder(kind: str) -> Path | None:
    """Return the user's own folder for files of one kind; None if the user has no home, or others may write there."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = cache / "formalsynth" / kind
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):
        return None
    # Its files are run or read: a folder that another user can write to cannot be trusted.
    mine = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if cache.is_absolute() and mine and os.access(folder, os.W_OK) else None


def kept(kind: str, name: str) -> Path | None:
    """Find the cached file; None if there is no complete one."""
    folder = cache_folder(kind)
    if folder is None or not (folder / f".{name}.sha256").exists():
        return None
    try:
        return unbroken(folder / name)
    except OSError:
        return None


def keep(kind: str, name: str, write: Callable[[Path], object]) -> Path | None:
    """Cache a file that a function writes to a path; None if that fails, so the file is made again the next time."""
    folder = cache_folder(kind)
    if folder is None:
        return None
    try:
        with sealed(folder / name) as partial:
            write(partial)
    except OSError:
        return None
    return folder / name
