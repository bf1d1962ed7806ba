"""Provenance of a run: the versions, the cost of the jobs and the diagnostics of sampling."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pandas as pd

PACKAGES = (
    "formalsynth", "snakemake", "numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "seaborn", "cmdstanpy",
)  # fmt: skip
"""Packages whose versions can affect the results."""

SUMMARIES = {
    "rhat_max": "max", "ess_bulk_min": "min", "ess_tail_min": "min",
    "divergences": "sum", "treedepth_hits": "sum", "seconds": "sum",
}  # fmt: skip
"""Summary of each diagnostic over the fits."""
ROWS = ["scenario", "replicate", "synthesizer", "seed", "status", "reason", "attempts", *SUMMARIES]
"""Columns of ``replicates.csv`` with sampling diagnostics; only these are read, because a study may have many more."""


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages, and the type of machine."""
    installed = {name: version(name) for name in PACKAGES}
    return {"Python": platform.python_version(), **installed, "machine": f"{platform.system()} {platform.machine()}"}


def costs(folder: Path, kept: Iterable[tuple[str, str]]) -> tuple[pd.DataFrame, float]:
    """Summarize the costs by step, and the time during which at least one job was running.

    Args:
        folder: benchmark files, those of a scenario as ``<step>/<paper>/<scenario>/<rest>.tsv``.
        kept: papers and scenarios of this run; files of other scenarios are left over from earlier runs.

    Returns:
        A row for each step: the number of its jobs, their total and processor time in seconds, and the largest memory use of a
        job in MB, NaN if all jobs were too short to be measured. Second, the time in seconds.
    """
    known, rows = set(kept), []
    for path in sorted(folder.rglob("*.tsv")):
        step, *place = path.relative_to(folder).with_suffix("").parts
        if len(place) < 3 or (place[0], place[1]) in known:
            with open(path, encoding="utf-8", newline="") as file:
                rows += [row | {"step": step, "end": path.stat().st_mtime} for row in csv.DictReader(file, delimiter="\t")]
    jobs = pd.DataFrame(rows, columns=["step", "end", "s", "cpu_time", "max_rss"])
    jobs[["s", "cpu_time", "max_rss"]] = jobs[["s", "cpu_time", "max_rss"]].apply(pd.to_numeric, errors="coerce")
    by_step = jobs.groupby("step", sort=False).agg(
        jobs=("s", "size"), seconds=("s", "sum"), processor_seconds=("cpu_time", "sum"), memory_mb=("max_rss", "max")
    )
    spans = jobs.assign(start=jobs["end"] - jobs["s"]).sort_values(["start", "end"])
    reached = spans["end"].cummax().shift(fill_value=float("-inf"))
    return by_step.reset_index(), float((spans["end"] - spans["start"].clip(lower=reached)).clip(lower=0).sum())


def sampling(table: pd.DataFrame) -> dict[str, float]:
    """Summarize the diagnostics of the fits in rows of ``replicates.csv``; extremes and sums are over those that passed.

    Returns:
        Diagnostics by the names in ``glossary.yaml``, which explains them.
    """
    fits = table[table["attempts"].notna() & (table["rhat_max"].notna() | (table["status"] == "failed"))]
    # Synthesizers that share a fit share its seed.
    fits = fits.drop_duplicates(["scenario", "replicate", "seed"])
    passed, failed = fits[fits["status"] == "ok"], int((fits["status"] == "failed").sum())
    counts = {"fits": len(fits), "refits": int((fits["attempts"] > 1).sum()), "failed": failed}
    return counts | {column: float(passed[column].agg(summary)) for column, summary in SUMMARIES.items()}


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
    for (scenario, synthesizer), group in table.groupby(["scenario", "synthesizer"], sort=False):
        failed = group[group["status"] == "failed"]
        if len(failed):
            lost.append(Loss(str(scenario), str(synthesizer), len(failed), len(group), failed["reason"].fillna("").iloc[0]))
    return lost
