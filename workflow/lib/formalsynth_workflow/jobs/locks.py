"""Operating system locks that handle killed runs: they release Snakemake's own lock, and end the jobs of a killed run.

Snakemake cannot distinguish a lock in use from one whose owner is dead. The locks here are POSIX locks on bytes of one file. They
end with their process, however it ends, and child processes do not inherit them; the file is never closed, which would end them
too. On a file system without locks, only Snakemake's own locking applies.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import threading
import time
from pathlib import Path

PARENT = "FORMALSYNTH_PARENT"
"""Environment variable of a job: the id of the Snakemake process that started it, and the file of locks."""
PATIENCE = 10.0
"""Seconds that the jobs of a killed run are given to end, by default."""
FILE = "formalsynth.locks"
"""File with the machine's name. All jobs share its first byte; a Snakemake process locks the byte after its process id."""
NOW = fcntl.LOCK_NB


class StillAtWork(RuntimeError):
    """Error if jobs of a killed run, or another run, have not ended yet."""


def hold_parent_lock(folder: Path) -> None:
    """Hold a lock until this process ends; its jobs wait for the lock.

    Each Snakemake process calls this: on a cluster, the parent of a job is the process on its node.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, in the working folder.
    """
    os.environ.pop(PARENT, None)
    path = (folder / FILE).absolute()
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        fcntl.lockf(_open(path), fcntl.LOCK_EX | NOW, 1, os.getpid() + 1)
        os.environ[PARENT] = f"{os.getpid()} {path}"


def exit_with_parent() -> None:
    """End this job, without a result, as soon as its Snakemake process ends: config may change after that."""
    process, _, path = os.environ.get(PARENT, "").partition(" ")
    with contextlib.suppress(OSError):
        if process:
            file = _open(Path(path))
            fcntl.lockf(file, fcntl.LOCK_SH | NOW, 1, 0)
            threading.Thread(target=_end_after, args=(int(process), file), daemon=True).start()


def _end_after(process: int, file: int) -> None:
    try:
        fcntl.lockf(file, fcntl.LOCK_SH, 1, process + 1)
    except OSError:  # the file system has lost its locks
        return
    with contextlib.suppress(OSError):
        os.write(2, b"Snakemake, which started this job, was killed: the job ends too, without a result\n")
    os._exit(1)


def drop_stale_locks(folder: Path, unlocking: bool = False, patience: float = PATIENCE) -> list[Path]:
    """Remove Snakemake's locks of killed runs, unless another run is alive; return the removed locks.

    Nothing is removed if the last run was on another machine: some shared file systems lock only within one machine.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, in the working folder.
        unlocking: True if Snakemake is about to remove them anyway.
        patience: seconds that jobs of a killed run are given to end.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
        StillAtWork: nothing was removed, because jobs of a killed run are still running, or the folder of a live run is to be
            unlocked.
    """
    stale, here = sorted((folder / "locks").glob("*.lock")), socket.gethostname().encode()
    try:
        folder.mkdir(exist_ok=True)
        file = _open(folder / FILE)
        ours = os.pread(file, 1024, 0) == here
        if not (ours or stale):
            os.ftruncate(file, 0)
            os.write(file, here)
    except OSError as error:
        reason = f"{folder.absolute()} cannot be written to ({error.strerror}), so nothing was started"
        raise OSError(error.errno, f"{reason}: run in a folder of your own, or name one with --directory") from error
    if not _alone(file, unlocking) or not ours:
        return []
    if stale:
        _wait_for_jobs(file, time.monotonic() + patience)
    for path in stale:
        path.unlink()
    return stale


def _alone(file: int, unlocking: bool) -> bool:
    """Check whether no other Snakemake process works in the folder."""
    try:
        for length, start in ((os.getpid(), 1), (0, os.getpid() + 2)):  # before and after its own byte; 0: to the end
            fcntl.lockf(file, fcntl.LOCK_SH | NOW, length, start)  # shared: jobs of a killed run that notice it share its byte
            fcntl.lockf(file, fcntl.LOCK_UN, length, start)
    except OSError as error:
        if unlocking and error.errno in (errno.EAGAIN, errno.EACCES):
            raise StillAtWork("another run is active in this folder: it stays locked until that run has ended") from None
        return False
    return True


def _wait_for_jobs(file: int, deadline: float) -> None:
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | NOW, 1, 0)
            fcntl.lockf(file, fcntl.LOCK_UN, 1, 0)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                return
        if time.monotonic() > deadline:
            reason = "jobs of a killed run are still running in this folder"
            raise StillAtWork(f"{reason}: wait until they have ended, or end them, and run again")
        time.sleep(0.05)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
