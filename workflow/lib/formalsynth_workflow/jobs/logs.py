"""Log of a job: everything that it and its programs print, its last error, and its processor seconds."""

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

from formalsynth.runtime.terminal import drop
from formalsynth_workflow.jobs.locks import exit_with_parent

ACCOUNT = "processor seconds:"
"""Start of the last line in a finished job's log."""
MEMORY = "Out of memory: raise the limit (ulimit -v, or mem_mb on a cluster), or run fewer jobs at once (--cores), and run again"
SELDOM = 100_000
"""Number of new objects after which Python searches for reference cycles: libraries create many and keep them all."""


def log_to(path: str | Path) -> None:
    """Send everything that this process and its children print, including a traceback, to a job's log file.

    The log ends with the processor seconds of the start, of the job itself, and of the programs it ran. If the log cannot be
    written, for example because the disk is full, the error that ends the job goes to the former standard error. From here on,
    the job also ends when Snakemake is killed.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    for stream in filter(None, (sys.stdout, sys.stderr)):  # None if the run was started with them closed
        stream.flush()
    # Never closed, and opened first: if standard output or error was closed, the log takes its number.
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    os.set_inheritable(log, True)
    try:
        former = os.dup(2)
    except OSError:
        former = log
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.excepthook = functools.partial(_report, path, former)
    exit_with_parent()
    atexit.register(_account, _seconds(resource.RUSAGE_SELF))
    gc.set_threshold(SELDOM)
    # At exit, Python would search all modules for cycles several times, taking up to a third of the time they took to load.
    atexit.register(gc.freeze)


def _account(start: float) -> None:
    job, programs = _seconds(resource.RUSAGE_SELF) - start, _seconds(resource.RUSAGE_CHILDREN)
    try:
        print(f"{ACCOUNT} start {start:.2f}, job {job:.2f}, programs {programs:.2f}", flush=True)
    except OSError:  # the disk is full
        drop(sys.stdout)


def _seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def _report(log: str | Path, former: int, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    remedy = f"{MEMORY}\n" if isinstance(error, MemoryError) else ""
    try:
        os.write(2, ("".join(traceback.format_exception(kind, error, trace)) + remedy).encode())
    except OSError as problem:
        os.write(former, f"{error}\n{log} could not be written either: {problem.strerror}\n".encode())
