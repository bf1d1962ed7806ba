"""Cost of planning a large study: python bench/many.py [replicates]. In a dry run, nothing is fitted.

Every simulated scenario of the papers has that many replicates (default 10,000), in batches of the planned size and of 1000.
"""

import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from copied import copied
from page import show


def main(replicates: int = 10_000) -> None:
    """Write jobs, processor seconds and memory of each dry run."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(folder)
        multiply(copy / "config" / "papers", replicates)
        for size, config in (("1000", ["--config", "batch_size=1000"]), ("as planned", [])):
            command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules", "--cores", "2"]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run([*command, *config], cwd=copy, capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            jobs = re.search(r"^total\s+(\d+)", run.stdout, re.MULTILINE)
            if not jobs:
                sys.exit(run.stdout[-2000:] + run.stderr[-2000:])
            rows.append([f"{replicates:,}", size, f"{int(jobs[1]):,}", f"{seconds:.0f}", f"{after.ru_maxrss / 1024:.0f}"])
    show("many", ["replicates of each scenario", "replicates in a batch", "jobs", "processor seconds", "MB"], rows)


def multiply(papers: Path, replicates: int) -> None:
    """Set this number of replicates in every scenario that has replicates."""
    for path in papers.glob("*.yaml"):
        paper = yaml.safe_load(path.read_text(encoding="utf-8"))
        for scenario in paper["scenarios"].values():
            if scenario.get("replicates", 1) > 1:
                scenario["replicates"] = replicates
        path.write_text(yaml.safe_dump(paper, sort_keys=False, allow_unicode=True), encoding="utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
