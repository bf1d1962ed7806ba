"""Cost of planning a large study: python bench/many.py [replicates]. A dry run, nothing is fitted.

Every simulated scenario of the papers has that many replicates (10,000 when none is given), in jobs of 100 and of 1000.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from copied import copied


def main() -> None:
    """Print jobs, seconds and memory of each dry run."""
    replicates = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(folder)
        multiply(copy / "config" / "papers", replicates)
        for size in (1000, 100):
            command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules", "--cores", "2"]
            start = time.perf_counter()
            run = subprocess.run([*command, "--config", f"batch_size={size}"], cwd=copy, capture_output=True, text=True)
            seconds = time.perf_counter() - start
            jobs = re.search(r"^total\s+(\d+)", run.stdout, re.MULTILINE)
            if not jobs:
                sys.exit(run.stdout[-2000:] + run.stderr[-2000:])
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
            print(
                f"{replicates} replicates, {size} a job: {jobs[1]} jobs, {seconds:.0f} s, {peak:.0f} MB at most so far",
                flush=True,
            )


def multiply(papers: Path, replicates: int) -> None:
    """Give every scenario with replicates that many."""
    for path in papers.glob("*.yaml"):
        paper = yaml.safe_load(path.read_text(encoding="utf-8"))
        for scenario in paper["scenarios"].values():
            if scenario.get("replicates", 1) > 1:
                scenario["replicates"] = replicates
        path.write_text(yaml.safe_dump(paper, sort_keys=False, allow_unicode=True), encoding="utf-8")


if __name__ == "__main__":
    main()
