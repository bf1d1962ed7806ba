"""Processor time and memory of a finished run: python <clone>/bench/accounts.py [scale], in the run's folder.

Processor seconds come from the account at the end of each job's log, memory from Snakemake's benchmarks.
"""

import re
import sys
from pathlib import Path

import pandas as pd
from page import show

from formalsynth_workflow.jobs.logs import ACCOUNT

SECONDS = re.compile(rf"{ACCOUNT} start ([\d.]+), job ([\d.]+), programs ([\d.]+)")
OF_PAPERS = ("simulate", "fit", "measure", "audit", "study", "collect", "collect_study", "judge", "plot", "tabulate")
"""Rules whose logs are in one folder per paper, inside the folder of the rule."""
OURS = "cost"
"""Key of our own study."""
PARTS = ("starting Python", "the jobs: bounds, weights, audits, drawing", "Stan programs")
"""Parts of a job's account, in their order there."""


def accounts(logs: Path) -> pd.DataFrame:
    """Sum the processor seconds of each part by paper; jobs without a paper are left out."""
    rows = {}
    for path in sorted(path for rule in OF_PAPERS for path in (logs / rule).rglob("*.log")):
        if lines := SECONDS.findall(path.read_text(encoding="utf-8", errors="replace")):
            rows[path.relative_to(logs).parts[1], path] = list(map(float, lines[-1]))
    return (
        pd.DataFrame.from_dict(rows, orient="index", columns=list(PARTS)).groupby(lambda key: key[0].removesuffix(".log")).sum()
    )


def memory(benchmarks: Path) -> pd.Series:
    """Largest resident megabytes of a job, by rule."""
    tables = {path: pd.read_csv(path, sep="\t")["max_rss"].max() for path in sorted(benchmarks.rglob("*.tsv"))}
    return pd.Series(tables).groupby(lambda path: path.relative_to(benchmarks).parts[0]).max().dropna()


def main(scale: str = "paper") -> None:
    """Write the tables of a run."""
    seconds = accounts(Path("logs", scale))
    ours = {"papers": seconds.drop(index=OURS, errors="ignore").sum(), OURS: seconds.reindex([OURS]).sum()}
    shares = [[part, *(f"{100 * sums[part] / sums.sum():.0f} %" for sums in ours.values())] for part in PARTS]
    show("processor_time", ["processor time", *ours], [*shares, ["seconds", *(f"{sums.sum():.0f}" for sums in ours.values())]])
    papers = [[f"`{paper}`", f"{parts.sum():.0f}", f"{parts[PARTS[2]]:.0f}"] for paper, parts in seconds.iterrows()]
    show("papers", ["paper", "processor seconds", "of them Stan programs"], papers)
    largest = memory(Path("benchmarks", scale)).nlargest(6)
    show("memory", ["rule", "MB"], [[f"`{rule}`", f"{value:.0f}"] for rule, value in largest.items()])


if __name__ == "__main__":
    main(*sys.argv[1:])
