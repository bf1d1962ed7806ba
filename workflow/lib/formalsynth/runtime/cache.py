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
        if not cache.is_absolute():
            return None
        folder = cache / "formalsynth" / kind
        for new in (folder.parent, folder):  # each with this mode, whatever the umask is
            new.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _own(folder.parent):  # made by an earlier version with the umask's mode; fails if it is another user's
            folder.parent.chmod(0o700)
        usable = _own(folder.parent) and _own(folder) and os.access(folder, os.W_OK)
    except (OSError, RuntimeError):
        return None
    return folder if usable else None


def _own(path: Path) -> bool:
    """Return True if no other user owns or may change this; cached files are run or read, so they must be trusted."""
    status = path.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def cached_file(kind: str, name: str) -> Path | None:
    """Find the cached file; None if there is no complete one."""
    folder = cache_folder(kind)
    if folder is None or not (folder / f".{name}.sha256").exists():
        return None
    try:
        return unbroken(folder / name) if _own(folder / name) else None
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
            partial.chmod(partial.stat().st_mode & ~0o022)  # with umask 002, the group may change new files
    except OSError:
        return None
    return folder / name
