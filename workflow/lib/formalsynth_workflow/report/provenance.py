"""Provenance of a run: the versions, the cost of the jobs and the diagnostics of sampling."""

from __future__ import annotations

import csv
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

from formalsynth.runtime.files import read_table

PACKAGES = (
    "formalsynth", "snakemake", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "seaborn", "cmdstanpy",
)  # fmt: skip
"""Packages whose versions can affect the results."""

ROWS = [
    "scenario", "replicate", "synthesizer", "seed", "status", "reason", "attempts",
    "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
]  # fmt: skip
"""Columns of ``replicates.csv`` with sampling diagnostics; only these are read, because a study may have many more."""


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages, and the type of machine."""
    installed = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed | {"machine": f"{platform.system()} {platform.machine()}"}


@dataclass(frozen=True)
class Cost:
    """Time and memory of the jobs of one step."""

    step: str
    jobs: int
    seconds: float
    """Total time of the jobs, in seconds."""
    processor_seconds: float
    memory_mb: float
    """Largest memory use of a single job; NaN if all jobs were too short to be measured."""


def costs(folder: Path, kept: Iterable[tuple[str, str]]) -> tuple[list[Cost], float]:
    """Summarize the costs by step, and the time during which at least one job was running.

    Args:
        folder: benchmark files, those of a scenario as ``<step>/<paper>/<scenario>/<rest>.tsv``.
        kept: papers and scenarios of this run; files of other scenarios are left over from earlier runs.
    """
    known = set(kept)
    jobs: dict[str, list[dict[str, float]]] = {}
    spans: list[tuple[float, float]] = []
    for path in sorted(folder.rglob("*.tsv")):
        step, *place = path.relative_to(folder).with_suffix("").parts
        if len(place) > 2 and (place[0], place[1]) not in known:
            continue
        with open(path, encoding="utf-8", newline="") as file:
            rows = [{key: _number(value) for key, value in row.items()} for row in csv.DictReader(file, delimiter="\t")]
        jobs.setdefault(step, []).extend(rows)
        end = path.stat().st_mtime
        spans += [(end - row["s"], end) for row in rows]
    return [_cost(step, rows) for step, rows in jobs.items()], _covered(spans)


def _number(text: str | None) -> float:
    """Read a number of a benchmark file; NaN for the text that it contains if a job was too short to measure."""
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


def _cost(step: str, rows: Sequence[Mapping[str, float]]) -> Cost:
    def known(key: str) -> list[float]:
        return [row[key] for row in rows if not math.isnan(row[key])]

    return Cost(step, len(rows), sum(known("s")), sum(known("cpu_time")), max(known("max_rss"), default=float("nan")))


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Total length of the union of intervals."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def read_rows(path: Path) -> pd.DataFrame:
    """Read the columns of a ``replicates.csv`` that :func:`sampling` and :func:`losses` use.

    Raises:
        OSError: the file is damaged.
    """
    return read_table(path, ROWS)


@dataclass(frozen=True)
class Sampling:
    """Diagnostics of the fits of a paper; :data:`formalsynth_workflow.report.glossary.DIAGNOSTICS` explains its fields."""

    fits: int
    refits: int
    failed: int
    rhat_max: float
    ess_bulk_min: float
    ess_tail_min: float
    divergences: float
    treedepth_hits: float
    seconds: float


def sampling(table: pd.DataFrame) -> Sampling:
    """Summarize the diagnostics of the fits in rows of ``replicates.csv``; extremes and sums are over those that passed."""
    fits = table[table["attempts"].notna() & (table["rhat_max"].notna() | (table["status"] == "failed"))]
    # Synthesizers that share a fit share its seed.
    fits = fits.drop_duplicates(["scenario", "replicate", "seed"])
    passed = fits[fits["status"] == "ok"]
    return Sampling(
        fits=len(fits),
        refits=int((fits["attempts"] > 1).sum()),
        failed=int((fits["status"] == "failed").sum()),
        rhat_max=float(passed["rhat_max"].max()),
        ess_bulk_min=float(passed["ess_bulk_min"].min()),
        ess_tail_min=float(passed["ess_tail_min"].min()),
        divergences=float(passed["divergences"].sum()),
        treedepth_hits=float(passed["treedepth_hits"].sum()),
        seconds=float(passed["seconds"].sum()),
    )


@dataclass(frozen=True)
class Loss:
    """Failed rows of one synthesizer."""

    scenario: str
    synthesizer: str
    failed: int
    rows: int
    """Number of all rows, including failed ones."""
    reason: str
    """Reason for the first failure."""


def losses(table: pd.DataFrame) -> list[Loss]:
    """List the failures among rows of ``replicates.csv``, by scenario and synthesizer."""
    lost = []
    for _, group in table.groupby(["scenario", "synthesizer"], sort=False):
        failed = group[group["status"] == "failed"]
        if len(failed):
            scenario, synthesizer = group[["scenario", "synthesizer"]].iloc[0]
            lost.append(Loss(scenario, synthesizer, len(failed), len(group), failed["reason"].fillna("").iloc[0]))
    return lost
