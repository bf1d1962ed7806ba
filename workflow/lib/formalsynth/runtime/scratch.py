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
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SCRATCH, LOCK = ".scratch", ".lock"
"""End of the name of a scratch folder, and the file in it that is locked by its process."""
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
    folder = Path(tempfile.mkdtemp(SCRATCH, f".{stem}.", parent))
    try:
        with open(folder / "unlocked", "wb") as lock:
            with contextlib.suppress(OSError):  # a file system without locks, where nothing is swept
                fcntl.flock(lock, fcntl.LOCK_EX)
                Path(lock.name).rename(folder / LOCK)  # not before it is locked: it would be swept
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path, stem: str) -> list[Path]:
    """Remove the scratch folders whose stems start with ``stem`` and whose processes have ended; return the removed folders."""
    removed = []
    for folder in parent.glob(f".{glob.escape(stem)}*{SCRATCH}"):
        # An error means that it is in use, that its owner has just made or removed it, or that it belongs to another user.
        with contextlib.suppress(OSError):
            if not folder.is_symlink():
                with open(folder / LOCK, "r+b") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
                removed.append(folder)
    return removed


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
