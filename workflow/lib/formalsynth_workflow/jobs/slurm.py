"""Status command of Slurm. If it fails, the plugin of Snakemake is silent and waits for jobs that may have ended."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

COMMANDS = {
    "sacct": ["sacct", "-X", "--parsable2", "--clusters=all", "--noheader", "--format=JobIdRaw,State", "--starttime=now"],
    "squeue": ["squeue", "--noheader", "--states=all", "--format=%i|%T", "--name=none"],
}
"""Commands like those of the plugin, by the values of its option, which list no job."""
ADVICE = {
    "sacct": "it needs Slurm's accounting; without that, give --slurm-status-command=squeue",
    "squeue": "it needs Slurm's controller",
}
"""Requirement of each command, and the alternative."""
ATTEMPTS = 3
"""Number of failures in a row that count."""
PAUSE, EVERY = 2.0, 60.0
"""Seconds between attempts before a run, and during one."""


class NoStatusError(Exception):
    """Slurm's status command fails, so the end of a job would go unnoticed."""


def check_status(name: str, pause: float = PAUSE) -> None:
    """Try a status command before anything is submitted.

    Args:
        name: value of the plugin's option, ``sacct`` or ``squeue``.
        pause: seconds between attempts.

    Raises:
        NoStatusError: it has failed several times.
    """
    for attempt in range(ATTEMPTS):
        time.sleep(pause if attempt else 0.0)
        reason = _failure(name)
        if not reason:
            return
    raise NoStatusError(f"--slurm-status-command={name}: {reason}: {ADVICE[name]}")


def watch_status(name: str, every: float = EVERY) -> threading.Event:
    """Try a status command during the run, and write a line on standard error for each few failures in a row.

    Returns:
        The event that ends it.
    """
    stop = threading.Event()
    threading.Thread(target=_watch, args=(name, every, stop), daemon=True).start()
    return stop


def _watch(name: str, every: float, stop: threading.Event) -> None:
    failures = 0
    while not stop.wait(every):
        reason = _failure(name)
        failures = failures + 1 if reason else 0
        if failures and failures % ATTEMPTS == 0:
            words = f"WARNING: the status of jobs is unknown: {reason} ({failures} times in a row): {ADVICE[name]}"
            print(words, file=sys.stderr, flush=True)


def _failure(name: str) -> str:
    """Run a status command; return the reason if it fails, otherwise an empty text."""
    try:
        done = subprocess.run(COMMANDS[name], capture_output=True, text=True, timeout=EVERY, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name} does not answer ({error})"
    return f"{name} ends with exit code {done.returncode} ({done.stderr.strip()})" if done.returncode else ""
