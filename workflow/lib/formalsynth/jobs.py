"""What every job does first, and what it says last."""

from __future__ import annotations

import atexit
import os
import resource
import sys
from pathlib import Path

ACCOUNT = "processor seconds:"
"""How the last line of a finished job's log begins."""


def log_to(path: str | Path) -> None:
    """Send everything that this process and its children print, a traceback included, to a job's log file.

    The log ends with the processor seconds that went into starting, into the job itself, and into the programs it ran.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    atexit.register(_account, _seconds(resource.RUSAGE_SELF))


def _account(start: float) -> None:
    job, programs = _seconds(resource.RUSAGE_SELF) - start, _seconds(resource.RUSAGE_CHILDREN)
    print(f"{ACCOUNT} start {start:.2f}, job {job:.2f}, programs {programs:.2f}")


def _seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime
