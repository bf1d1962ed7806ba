"""What every job does first, and what it says last."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import resource
import sys
import traceback
from pathlib import Path
from types import TracebackType

from formalsynth.runtime.locks import follow_leader

ACCOUNT = "processor seconds:"
"""How the last line of a finished job's log begins."""
MEMORY = (
    "Memory was short: raise the limit (ulimit -v, or mem_mb on a cluster), or run fewer jobs at once (--cores), and run again"
)
SELDOM = 100_000
"""New objects after which Python looks for cycles among them. Loading a library makes many, all to be kept."""


def log_to(path: str | Path) -> None:
    """Send everything that this process and its children print, a traceback included, to a job's log file.

    The log ends with the processor seconds that went into starting, into the job itself, and into the programs it ran.
    Where it cannot be written, because the disk is full say, the error that ends the job goes to where it would have gone
    without a log. From here on the job also ends when Snakemake is killed.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        _lead_somewhere(number)
        if stream is not None:  # as it is where the run was started without
            stream.flush()
    sys.excepthook = functools.partial(_report, path, os.dup(2))
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    follow_leader()
    atexit.register(_account, _seconds(resource.RUSAGE_SELF))
    gc.set_threshold(SELDOM)
    # At its end Python would go through all modules for cycles, several times: up to a third of the time they took to load.
    atexit.register(gc.freeze)


def _lead_somewhere(number: int) -> None:
    """Open a descriptor that is closed, so that no other file gets its number."""
    try:
        os.fstat(number)
    except OSError:
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)


def _account(start: float) -> None:
    job, programs = _seconds(resource.RUSAGE_SELF) - start, _seconds(resource.RUSAGE_CHILDREN)
    print(f"{ACCOUNT} start {start:.2f}, job {job:.2f}, programs {programs:.2f}")


def _seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _report(
    log: str | Path, elsewhere: int, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    remedy = f"{MEMORY}\n" if isinstance(error, MemoryError) else ""
    try:
        os.write(2, ("".join(traceback.format_exception(kind, error, trace)) + remedy).encode())
    except OSError as problem:
        os.write(elsewhere, f"{error}\n{log} could not be written either: {problem.strerror}\n".encode())
