"""Scratch folders of a process: removed when it ends, or by a later process if it was killed.

Each contains a file that its process has locked. Such a lock ends with its process, however that ends, even if the folder is seen
from another machine or container.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import glob
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

LOCK = ".lock"
"""File in a scratch folder that is locked by its process."""
STALE_SECONDS = 24 * 3600
"""Age at which a folder counts as abandoned if locks cannot show it, on a file system without locks."""
OWN: dict[int, Path] = {}
"""Temporary folder of a process, by its process id: a fork has none yet."""


@contextlib.contextmanager
def scratch_folder(parent: Path, stem: str) -> Iterator[Path]:
    """Make a hidden folder in ``parent`` that no other process uses; abandoned ones of the same stem are removed first.

    Args:
        parent: parent folder, made if missing.
        stem: purpose of the folder.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, stem)
    folder, lock = _locked_folder(parent, stem)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder(parent: Path, stem: str) -> tuple[Path, int]:
    while True:
        folder = parent / f".{stem}.{socket.gethostname()}-{os.getpid()}-{time.monotonic_ns()}"
        folder.mkdir(mode=0o700)
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # a full disk, for example
            folder.rmdir()
            raise
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / LOCK).exists():  # otherwise, another process swept it before it was locked
            return folder, lock
        os.close(lock)


def sweep(parent: Path, stem: str) -> list[Path]:
    """Remove the scratch folders whose stems start with ``stem`` and whose processes have ended; return the removed folders."""
    removed = []
    for folder in parent.glob(f".{glob.escape(stem)}*.*-[0-9]*-[0-9]*"):
        # An error means that its owner has just removed it, or that it belongs to another user.
        with contextlib.suppress(OSError):
            if not folder.is_symlink() and _is_abandoned(folder):
                shutil.rmtree(folder)
                removed.append(folder)
    return removed


def _is_abandoned(folder: Path) -> bool:
    """Return True if the process of a folder has ended."""
    old = time.time() - folder.stat().st_mtime > STALE_SECONDS
    try:
        with open(folder / LOCK, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:  # it is being made or removed at this moment, or it is somebody's own
        return old and not any(folder.iterdir())
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return old
    return True


def own_temporary_folder() -> None:
    """Give this process, and the programs it starts, a temporary folder of its own.

    The folder is removed when the process ends; if it is killed, by the next process that calls this. It is below ``/tmp`` if
    TMPDIR contains spaces, which make and CmdStan cannot handle. A process has one, however often it calls this: nested folders
    would soon have names that are too long for sockets.
    """
    folder = OWN.get(os.getpid())
    if not (folder and folder.is_dir()):
        parent = tempfile.gettempdir()
        stack = contextlib.ExitStack()
        folder = stack.enter_context(scratch_folder(Path("/tmp" if re.search(r"[\s~]", parent) else parent), "formalsynth"))
        atexit.register(stack.close)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) == signal.SIG_DFL:  # an orderly exit: programs it started end too
                signal.signal(number, lambda number, frame: sys.exit(128 + number))
        OWN[os.getpid()] = folder
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
