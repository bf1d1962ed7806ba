"""How long a run will take and how much of it is left, from the benchmarks that Snakemake kept of jobs."""

from __future__ import annotations

import csv
import functools
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

SELDOM = 60.0
"""Seconds between two lines about what is left."""


def job_seconds(benchmarks: Iterable[Path]) -> list[float | None]:
    """How long each of some jobs is likely to take.

    Args:
        benchmarks: of each job, its own file of an earlier run. Where there is none, the median of those beside it counts, which
            are of other batches of its scenario, and then that of all jobs of its step.

    Returns:
        Seconds; None where no job of its step was ever timed.
    """
    beside = functools.cache(lambda folder: _seconds(folder.glob("*.tsv")))
    below = functools.cache(lambda folder: _seconds(folder.rglob("*.tsv")))

    def one(benchmark: Path) -> float | None:
        # <step>/<paper>/<scenario>/<batch>.tsv, or <step>/<name>.tsv
        step = benchmark.parents[2] if len(benchmark.parts) > 3 else benchmark.parent
        found = _seconds([benchmark]) or beside(benchmark.parent) or below(step)
        return statistics.median(found) if found else None

    return [one(benchmark) for benchmark in benchmarks]


def about(benchmarks: Iterable[Path], cores: int) -> str:
    """How long jobs will take together, in words; empty where there are none.

    Args:
        benchmarks: of each job, the file that its benchmark will be written to.
        cores: how many jobs are at work at once.
    """
    found = job_seconds(benchmarks)
    known = [seconds for seconds in found if seconds is not None]
    if not found:
        return ""
    if not known:
        return f"jobs to run: {len(found)}, none of them timed before"
    seconds = _together(known, len(found), cores)
    missing = len(found) - len(known)
    doubt = f", {missing} never timed before" if missing else ""
    return f"about {_in_words(seconds)} for the jobs of this run ({len(found)}{doubt}), as earlier runs tell"


def tell_what_is_left(remaining: Callable[[], Sequence[Path]], cores: int, every: float = SELDOM) -> threading.Thread:
    """Say every minute, on standard error, how long the jobs that are left will take; until none is, or the process ends.

    Args:
        remaining: of each job that has not ended, the file that its benchmark will be written to.
        cores: how many jobs are at work at once.
        every: seconds between two lines.
    """

    def tell() -> None:
        while True:
            time.sleep(every)
            try:
                benchmarks = list(remaining())
            except RuntimeError:
                continue  # a job ended while they were counted
            if not benchmarks:
                return
            known = [seconds for seconds in job_seconds(benchmarks) if seconds is not None]
            if known:
                words = _in_words(_together(known, len(benchmarks), cores))
                print(
                    f"about {words} left, for {len(benchmarks)} {'job' if len(benchmarks) == 1 else 'jobs'}",
                    file=sys.stderr,
                    flush=True,
                )

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    return thread


def _together(known: Sequence[float], jobs: int, cores: int) -> float:
    """Seconds of some jobs; those that were never timed are taken to be as long as the others are on average."""
    return max(sum(known) * jobs / len(known) / cores, max(known))


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _seconds(paths: Iterable[Path]) -> list[float]:
    """The seconds in benchmark files; those that are cut short or not there have none."""
    found = []
    for path in filter(Path.is_file, paths):
        try:
            with open(path, encoding="utf-8", newline="") as file:
                found += [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found
