"""What a run that was killed leaves behind: Snakemake's lock of the working folder, and jobs that are still at work.

Snakemake cannot tell a lock that is in use from one whose owner is dead, and refuses to run until it is told to unlock.
Here each run also holds a lock of the operating system, which goes with its process, however that ends: who gets it for
itself is alone, and may remove what is left of others.

Jobs hold a lock, too, and end as soon as that of their Snakemake is free: what they would go on to write may be of a config
that has changed since.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
import time
from pathlib import Path
from typing import BinaryIO

LEADER = "FORMALSYNTH_LEADER"
"""Environment variable that tells a job which process started it: that one's number, and the file with its lock."""
PATIENCE = 10.0
"""Seconds in which the jobs of a killed run end by themselves, where they can tell that it was killed."""

JOBS = "formalsynth.jobs"
"""File of locks: its first byte is held by all jobs together, the one behind a process's number by the leader of its jobs."""
_held: list[contextlib.ExitStack] = []
"""Open for as long as the process lives."""


class StillAtWork(RuntimeError):
    """Jobs of a run that was killed have not ended yet."""


def lead_jobs(folder: Path) -> None:
    """Let the jobs that this process starts end when it ends, however that is.

    To be called by every Snakemake process: on a cluster the one that starts a job is on the job's node. Where the file system
    has no locks, jobs are left alone. The locks are those of POSIX, which no child process inherits.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, of the working folder.
    """
    os.environ.pop(LEADER, None)
    path, process = (folder / JOBS).absolute(), os.getpid()
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(open(path, "a+b", buffering=0))
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, process)
            _held.append(stack.pop_all())
        os.environ[LEADER] = f"{process} {path}"


def follow_leader() -> None:
    """End this job, without keeping anything of it, when the Snakemake that started it has ended; needs :func:`lead_jobs`."""
    process, _, path = os.environ.get(LEADER, "").partition(" ")
    with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
        if process:
            file = stack.enter_context(open(path, "r+b", buffering=0))
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 0)
            threading.Thread(target=_end_after, args=(int(process), file), daemon=True).start()
            _held.append(stack.pop_all())


def _end_after(process: int, file: BinaryIO) -> None:
    try:
        fcntl.lockf(file, fcntl.LOCK_SH, 1, process)
    except OSError:  # the file system has lost its locks
        return
    with contextlib.suppress(OSError):
        os.write(2, b"Snakemake, which started this job, was killed: the job ends, too, and keeps nothing\n")
    os._exit(1)


def drop_stale_locks(folder: Path, unlocking: bool = False) -> list[Path]:
    """Remove the locks of runs that were killed, unless another run is alive; return what was removed.

    Args:
        folder: Snakemake's own folder, ``.snakemake``, of the working folder.
        unlocking: whether Snakemake is going to remove them whatever is said here.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
        StillAtWork: nothing was removed, since jobs of a run that was killed are at work, or another run is and the folder is to
            be unlocked.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(exist_ok=True)
            file = stack.enter_context(open(folder / "formalsynth.lock", "a+b", buffering=0))
        except OSError as error:
            reason = f"{folder.absolute()} cannot be written to ({error.strerror})"
            raise OSError(error.errno, f"{reason}: run in a folder of yours, or name one with --directory") from error
        # An error means that another run is alive, or that the file system has no locks: Snakemake's own word counts then.
        alone = False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            if unlocking:
                raise StillAtWork("another run is at work in this folder: it stays locked until that run has ended") from None
        except OSError:
            pass
        stale = _left_behind(folder, file) if alone else []
        if stale:
            _wait_for_jobs(folder)
        for path in stale:
            path.unlink()
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_SH)
        _held.append(stack.pop_all())
    return stale


def _wait_for_jobs(folder: Path) -> None:
    """Wait until no job holds its lock.

    Raises:
        StillAtWork: it takes too long.
    """
    deadline = time.monotonic() + PATIENCE
    with contextlib.suppress(FileNotFoundError), open(folder / JOBS, "r+b", buffering=0) as file:
        while True:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0)
                return
            except (BlockingIOError, PermissionError):
                if time.monotonic() > deadline:
                    reason = "jobs of a run that was killed are still at work in this folder"
                    raise StillAtWork(f"{reason}: wait for their end, or end them, and run again") from None
            except OSError:  # no locks here
                return
            time.sleep(0.05)


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
