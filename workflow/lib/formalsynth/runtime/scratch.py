"""Folders that a process has for itself: gone when it has ended, or swept away by a later one when it was killed.

Each holds a file that its process has locked. Such a lock goes with its process, however that ends, and also tells of processes
that cannot be asked: those of another machine, or of another container with the same folder.
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
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

LOCK = ".lock"
"""The file in a scratch folder that its process has locked."""
STALE_SECONDS = 24 * 3600
"""Age at which a folder counts as left behind where no lock tells: on a file system without locks."""
SWEEP_AFTER = 'cat > /dev/null; exec rm -rf -- "$0"'
"""A shell's script: it removes the folder that it is told when its input has ended."""
OWN: dict[int, Path] = {}
"""The temporary folder of a process, by its number: a fork has none yet."""


@contextlib.contextmanager
def scratch_folder(parent: Path, stem: str) -> Iterator[Path]:
    """A hidden folder in ``parent`` that no other process takes; those of the same stem that were left behind go first.

    Args:
        parent: made when it is absent.
        stem: what the folder is for.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, stem)
    folder, lock = _taken(parent, stem)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _taken(parent: Path, stem: str) -> tuple[Path, int]:
    """A new folder, and its lock."""
    while True:
        folder = parent / f".{stem}.{socket.gethostname()}-{os.getpid()}-{time.monotonic_ns()}"
        folder.mkdir(mode=0o700)
        try:
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:  # a full disk, say
            folder.rmdir()
            raise
        with contextlib.suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Another process may have swept it away before it was locked.
        if (folder / LOCK).exists():
            return folder, lock
        os.close(lock)


def sweep(parent: Path, stem: str) -> list[Path]:
    """Remove the scratch folders whose stems begin like this and whose processes are gone; return what was removed."""
    removed = []
    for folder in parent.glob(f".{glob.escape(stem)}*.*-[0-9]*-[0-9]*"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:  # its owner has just removed it, or is another user
            if not folder.is_symlink() and _left_behind(folder, stack):
                shutil.rmtree(folder)
                removed.append(folder)
    return removed


def _left_behind(folder: Path, stack: contextlib.ExitStack) -> bool:
    """Whether the process of a folder is gone; if so, nobody else gets its lock before the stack is closed."""
    old = time.time() - folder.stat().st_mtime > STALE_SECONDS
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:  # it is just being made, or removed
        return old
    stack.callback(os.close, lock)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks here
        return old
    return True


def own_temporary_folder() -> None:
    """Let the temporary files of this process and its children stand in a scratch folder, which goes when the process ends.

    However it ends: what is left by one that is killed is removed by a small process that waits for its end. The folder is below
    TMPDIR, or below ``/tmp`` where the name of TMPDIR has spaces, which make and CmdStan cannot work with. A process has one,
    however often it asks: folders within folders would soon have names that are too long for sockets.
    """
    if (had := OWN.get(os.getpid())) and had.is_dir():
        os.environ["TMPDIR"] = tempfile.tempdir = str(had)
        return
    given = tempfile.gettempdir()
    stack = contextlib.ExitStack()
    folder = stack.enter_context(scratch_folder(Path("/tmp" if re.search(r"[\s~]", given) else given), "formalsynth"))
    with contextlib.suppress(OSError):
        stack.enter_context(
            subprocess.Popen(
                ["/bin/sh", "-c", SWEEP_AFTER, str(folder.absolute())], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True, cwd="/",
            )
        )  # fmt: skip
    atexit.register(stack.close)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    OWN[os.getpid()] = folder
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def _end(number: int, frame: FrameType | None) -> None:
    """End in order, so that programs that were started end, too."""
    sys.exit(128 + number)
