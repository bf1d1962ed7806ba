"""Expected time of a run, from Snakemake's benchmarks of earlier jobs."""

from __future__ import annotations

import contextlib
import csv
import functools
import math
import re
import statistics
from collections.abc import Iterable
from pathlib import Path

from formalsynth.runtime.terminal import in_words

BATCH = re.compile(r"seeds\d+-\d+")
"""Name of a folder with a benchmark for each synthesizer of a batch."""


def about(benchmarks: Iterable[Path], cores: int) -> str:
    """Estimate the time of some jobs, in words; empty if there are none.

    Args:
        benchmarks: for each job, the file that its benchmark will be written to.
        cores: number of jobs that run at once.
    """
    times = job_seconds(benchmarks)
    known = [seconds for seconds in times if seconds is not None]
    if not times:
        return ""
    if not known:
        return f"jobs to run: {len(times)}, none of them timed before"
    # Untimed jobs are assumed to take the average of the others; the longest job cannot be split over cores.
    seconds = max(sum(known) * len(times) / len(known) / cores, max(known))
    missing = len(times) - len(known)
    doubt = f", {missing} never timed before" if missing else ""
    return f"about {in_words(seconds)} for the jobs of this run ({len(times)}{doubt}), according to earlier runs"


def job_seconds(benchmarks: Iterable[Path]) -> list[float | None]:
    """Estimate the seconds that each of some jobs will take; None if no job of its step was ever timed.

    Args:
        benchmarks: for each job, its own file from an earlier run. If it is missing, the median of the other batches of its
            scenario, and of its synthesizer if it has one, is used, and otherwise the median of all jobs of its step.
    """
    in_scenario = functools.cache(lambda folder, names: _seconds(folder.glob(names)))
    in_step = functools.cache(lambda folder: _seconds(folder.rglob("*.tsv")))

    def expected(benchmark: Path) -> float | None:
        # <step>/<paper>/<scenario>/<batch>.tsv, <step>/<paper>/<scenario>/<batch>/<synthesizer>.tsv, or <step>/<name>.tsv
        of_synthesizer = BATCH.fullmatch(benchmark.parent.name)
        scenario, names = (benchmark.parents[1], f"*/{benchmark.name}") if of_synthesizer else (benchmark.parent, "*.tsv")
        step = scenario.parents[1] if len(benchmark.parts) > 3 else benchmark.parent
        times = _seconds([benchmark]) or in_scenario(scenario, names) or in_step(step)
        return statistics.median(times) if times else None

    return [expected(benchmark) for benchmark in benchmarks]


def _seconds(paths: Iterable[Path]) -> list[float]:
    """Return the seconds in benchmark files; missing and damaged files are left out."""
    seconds = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError), open(path, encoding="utf-8", newline="") as file:
            seconds += [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
    return [number for number in seconds if math.isfinite(number)]
