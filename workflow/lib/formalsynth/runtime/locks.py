"""Snakemake's lock of the working folder, which a run that was killed leaves behind.

Snakemake cannot tell a lock that is in use from one whose owner is dead, and refuses to run until it is told to unlock.
Here each run also holds a lock of the operating system, which goes with its process, however that ends: who gets it for
itself is alone, and may remove what is left of others.
"""

from __future__ import annotations

import contextlib
import fcntl
import socket
from pathlib import Path
from typing import BinaryIO

_held: list[contextlib.ExitStack] = []
"""Open for as long as the process lives."""


def drop_stale_locks(folder: Path) -> list[Path]:
    """Remove the locks of runs that were killed, unless another run is alive; return what was removed.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, of the working folder.

    Raises:
        OSError: the disk is full.
    """
    folder.mkdir(exist_ok=True)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(folder / "formalsynth.lock", "a+b", buffering=0))
        # An error means that another run is alive, or that the file system has no locks: Snakemake's own word counts then.
        alone = False
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        stale = _left_behind(folder, file) if alone else []
        for path in stale:
            path.unlink()
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)
        _held.append(stack.pop_all())
    return stale


def _left_behind(folder: Path, file: BinaryIO) -> list[Path]:
    """Snakemake's locks, if the last run was on this machine: some shared file systems lock for one machine only."""
    file.seek(0)
    last, here = file.read(1024), socket.gethostname().encode()
    locks = sorted((folder / "locks").glob("*.lock"))
    if last == here:
        return locks
    if not locks:
        try:
            file.truncate(0)
            file.write(here)
        except OSError as error:
            raise OSError(error.errno, f"{folder} cannot be written to ({error.strerror}): nothing was started") from error
    return []
