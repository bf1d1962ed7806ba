"""Processor time and memory of a finished run: python <clone>/bench/accounts.py [scale] [--write], in the run's folder.

Processor seconds come from the account at the end of each job's log, memory from Snakemake's benchmarks.
--write writes the tables to docs/PERFORMANCE.md of the clone.
"""

import argparse
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from page import table, write_table

from formalsynth_workflow.jobs.logs import ACCOUNT

SECONDS = re.compile(rf"{ACCOUNT} start ([\d.]+), job ([\d.]+), programs ([\d.]+)")
OF_PAPERS = ("simulate", "fit", "measure", "audit", "study", "collect", "collect_study", "judge", "plot", "tabulate")
"""Rules whose logs are in one folder per paper, inside the folder of the rule."""
OURS = "cost"
"""Key of our own study."""
PARTS = ("starting Python", "the jobs: bounds, weights, audits, drawing", "Stan programs")
"""Parts of a job's account, in their order there."""
Accounts = Mapping[str, tuple[float, float, float]]


def accounts(logs: Path) -> Accounts:
    """Sum the processor seconds of start-up, jobs and programs by paper; jobs without a paper have the key ``""``."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for path in sorted(logs.rglob("*.log")):
        if lines := SECONDS.findall(path.read_text(encoding="utf-8", errors="replace")):
            rule, *keys = path.relative_to(logs).with_suffix("").parts
            paper = keys[0] if rule in OF_PAPERS else ""
            for k, seconds in enumerate(lines[-1]):
                sums[paper][k] += float(seconds)
    return {paper: (parts[0], parts[1], parts[2]) for paper, parts in sums.items()}


def memory(benchmarks: Path) -> dict[str, float]:
    """Largest resident megabytes of a job, by rule."""
    largest: dict[str, float] = {}
    for folder in sorted(path for path in benchmarks.iterdir() if path.is_dir()):
        values = [float(row["max_rss"]) for path in folder.rglob("*.tsv") for row in _rows(path) if row["max_rss"] != "NA"]
        if values:
            largest[folder.name] = max(values)
    return largest


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def by_part(given: Accounts) -> list[list[str]]:
    """Build a table of each part's share, for the papers and for our own study."""
    columns = [[parts for paper, parts in given.items() if paper not in ("", OURS)], [given[OURS]] if OURS in given else []]
    totals = [sum(map(sum, column)) for column in columns]
    rows = [
        [part, *(f"{100 * sum(parts[k] for parts in column) / total:.0f} %" if total else "" for column, total in
                 zip(columns, totals, strict=True))]
        for k, part in enumerate(PARTS)
    ]  # fmt: skip
    return [["processor time", "papers", OURS], *rows, ["seconds", *(f"{total:.0f}" for total in totals)]]


def by_paper(given: Accounts) -> list[list[str]]:
    """Build a table of each paper's seconds."""
    rows = [[f"`{paper}`", f"{sum(parts):.0f}", f"{parts[2]:.0f}"] for paper, parts in sorted(given.items()) if paper]
    return [["paper", "processor seconds", "of them Stan programs"], *rows]


def main() -> None:
    """Print the tables of a run; with --write, write them to bench/tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scale", nargs="?", default="paper")
    parser.add_argument("--write", action="store_true", help="write the tables to bench/tables")
    options = parser.parse_args()
    logs, benchmarks = Path("logs", options.scale), Path("benchmarks", options.scale)
    if not (logs.is_dir() and benchmarks.is_dir()):
        sys.exit(f"{logs}, {benchmarks}: not found; give the scale of a finished run, and run this in the run's folder")
    given = accounts(logs)
    megabytes = sorted(memory(benchmarks).items(), key=lambda item: -item[1])
    largest = [["rule", "MB"], *([f"`{rule}`", f"{value:.0f}"] for rule, value in megabytes[:6])]
    for name, (head, *rows) in {"processor_time": by_part(given), "papers": by_paper(given), "memory": largest}.items():
        print(table(head, rows), end="\n\n")
        if options.write:
            write_table(name, head, rows)


if __name__ == "__main__":
    main()
