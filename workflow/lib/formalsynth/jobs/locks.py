"""Operating system locks that handle killed runs: they release Snakemake's own lock, and end the jobs of a killed run.

Snakemake cannot distinguish a lock in use from one whose owner is dead. The locks here end with their process, however it ends:
they are on descriptors that are never closed. On a file system without locks, only Snakemake's own locking applies.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
import time
from pathlib import Path

PARENT = "FORMALSYNTH_PARENT"
"""Environment variable of a job: the id of the Snakemake process that started it, and the file of locks."""
PATIENCE = 10.0
"""Seconds that the jobs of a killed run are given to end."""
JOBS = "formalsynth.jobs"
"""File of POSIX locks: all jobs share its first byte; a Snakemake process locks the byte at its own process id."""
NOW = fcntl.LOCK_NB


class StillAtWork(RuntimeError):
    """Error if jobs of a killed run, or another run, have not ended yet."""


def hold_parent_lock(folder: Path) -> None:
    """Hold a lock until this process ends; its jobs wait for the lock.

    Each Snakemake process calls this: on a cluster, the parent of a job is the process on its node. The lock is a POSIX lock
    because child processes do not inherit those.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, in the working folder.
    """
    os.environ.pop(PARENT, None)
    path = (folder / JOBS).absolute()
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        fcntl.lockf(_open(path), fcntl.LOCK_EX | NOW, 1, os.getpid())
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
        fcntl.lockf(file, fcntl.LOCK_SH, 1, process)
    except OSError:  # the file system has lost its locks
        return
    with contextlib.suppress(OSError):
        os.write(2, b"Snakemake, which started this job, was killed: the job ends too, without a result\n")
    os._exit(1)


def drop_stale_locks(folder: Path, unlocking: bool = False) -> list[Path]:
    """Remove Snakemake's locks of killed runs, unless another run is alive; return the removed locks.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, in the working folder.
        unlocking: True if Snakemake is about to remove them anyway.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
        StillAtWork: nothing was removed, because jobs of a killed run are still running, or the folder of a live run is to be
            unlocked.
    """
    try:
        folder.mkdir(exist_ok=True)
        file = _open(folder / "formalsynth.lock")
    except OSError as error:
        reason = f"{folder.absolute()} cannot be written to ({error.strerror})"
        raise OSError(error.errno, f"{reason}: run in a folder of your own, or name one with --directory") from error
    try:
        stale = _locks_of_last_run(folder, file) if _alone(file, unlocking) else []
        if stale:
            _wait_for_jobs(folder)
    except (OSError, StillAtWork):
        os.close(file)
        raise
    for path in stale:
        path.unlink()
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_SH)
    return stale


def _alone(file: int, unlocking: bool) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | NOW)
    except BlockingIOError:
        if unlocking:
            raise StillAtWork("another run is active in this folder: it stays locked until that run has ended") from None
        return False
    except OSError:
        return False
    return True


def _locks_of_last_run(folder: Path, file: int) -> list[Path]:
    """Return Snakemake's locks, if the last run was on this machine: some shared file systems lock only within one machine."""
    here = socket.gethostname().encode()
    locks = sorted((folder / "locks").glob("*.lock"))
    if os.pread(file, 1024, 0) == here:
        return locks
    if not locks:
        try:
            os.ftruncate(file, 0)
            os.write(file, here)
        except OSError as error:
            raise OSError(error.errno, f"{folder} cannot be written to ({error.strerror}): nothing was started") from error
    return []


def _wait_for_jobs(folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(FileNotFoundError), open(folder / JOBS, "r+b", buffering=0) as file:
        while True:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | NOW, 1, 0)
                return
            except (BlockingIOError, PermissionError):
                if time.monotonic() > deadline:
                    reason = "jobs of a killed run are still running in this folder"
                    raise StillAtWork(f"{reason}: wait until they have ended, or end them, and run again") from None
            except OSError:
                return None
            time.sleep(0.05)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
