"""How long a run will take, from the benchmarks that Snakemake kept of earlier jobs."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable
from pathlib import Path


def job_seconds(benchmark: Path) -> float | None:
    """How long a job is likely to take.

    Args:
        benchmark: its own file of an earlier run. Where there is none, the median of those beside it counts, which are of other
            batches of its scenario, and then that of all jobs of its step.

    Returns:
        Seconds; None where no job of its step was ever timed.
    """
    own = _seconds([benchmark])
    beside = own or _seconds(benchmark.parent.glob("*.tsv"))
    # <step>/<paper>/<scenario>/<batch>.tsv, or <step>/<name>.tsv
    above = benchmark.parents[2] if len(benchmark.parts) > 3 else benchmark.parent
    found = beside or _seconds(above.rglob("*.tsv"))
    return statistics.median(found) if found else None


def about(benchmarks: Iterable[Path], cores: int) -> str:
    """How long jobs will take together, in words; empty where there are none.

    Args:
        benchmarks: of each job, the file that its benchmark will be written to.
        cores: how many jobs are at work at once.
    """
    found = [job_seconds(path) for path in benchmarks]
    known = [seconds for seconds in found if seconds is not None]
    if not found:
        return ""
    if not known:
        return f"jobs to run: {len(found)}, none of them timed before"
    # What was never timed is taken to be as long as the others are on average.
    seconds = max(sum(known) * len(found) / len(known) / cores, max(known))
    missing = len(found) - len(known)
    doubt = f", {missing} never timed before" if missing else ""
    return f"about {_in_words(seconds)} for the jobs of this run ({len(found)}{doubt}), as earlier runs tell"


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
