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
from typing import IO

_held: list[IO[str]] = []
"""Open for as long as the process lives."""


def drop_stale_locks(folder: Path) -> list[Path]:
    """Remove the locks of runs that were killed, unless another run is alive; return what was removed.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, of the working folder.
    """
    folder.mkdir(exist_ok=True)
    file = open(folder / "formalsynth.lock", "a+")  # noqa: SIM115
    _held.append(file)
    stale: list[Path] = []
    # An error means that another run is alive, or that the file system has no locks: Snakemake's own word counts then.
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stale = _left_behind(folder, file)
        for path in stale:
            path.unlink()
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)
    return stale


def _left_behind(folder: Path, file: IO[str]) -> list[Path]:
    """Snakemake's locks, if the last run was on this machine: some shared file systems lock for one machine only."""
    file.seek(0)
    last, here = file.read(), socket.gethostname()
    locks = sorted((folder / "locks").glob("*.lock"))
    if locks and last != here:
        return []
    file.truncate(0)
    file.write(here)
    file.flush()
    return locks
