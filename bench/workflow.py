"""The workflow as a whole: python bench/workflow.py. It takes about fifteen minutes on two free cores.

It compares jobs of 1 to 100 replicates, and one core with two, and measures the share of a paper's processor time that is not
spent on fitting, measuring and drawing. It runs in a copy of the repository that is removed afterwards.
"""

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from copied import copied
from formalsynth.jobs.logs import ACCOUNT

SCENARIO = "results/paper/range/simulation_n2000"
PAPERS = ("range",)


def main() -> None:
    """Print every table."""
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(folder)
        run(copy, 2, ["results/stan/linear_regression"])
        batches(copy)
        cores(copy)


def batches(copy: Path) -> None:
    """Time 100 replicates with all their synthesizers, by the number of replicates in a job."""
    print("100 replicates of n = 2000, all synthesizers, two cores, by replicates in a job")
    for size in (1, 5, 25, 100):
        shutil.rmtree(copy / SCENARIO, ignore_errors=True)
        wall, processor = run(copy, 2, [f"{SCENARIO}/replicates.csv"], f"batch_size={size}")
        print(f"  {size:4d} a batch: {100 // size:4d} batches, {wall:6.1f} s, {processor:6.1f} processor s", flush=True)


def cores(copy: Path) -> None:
    """Time each paper on one core and on two; print the uses of its processor time."""
    for paper in PAPERS:
        for count in (1, 2):
            for name in ("results/paper", "figures/paper", "logs/paper"):
                shutil.rmtree(copy / name, ignore_errors=True)
            wall, processor = run(copy, count, [paper])
            print(
                f"{paper} at scale paper, {count} core{'s' * (count > 1)}: {wall:.1f} s, {processor:.1f} processor s", flush=True
            )
        start, job, programs = account(copy / "logs" / "paper")
        rest = processor - start - job - programs
        parts = {"CmdStan": programs, "numpy, reading and drawing": job, "starting Python": start, "Snakemake": rest}
        for name, seconds in parts.items():
            print(f"  {seconds:7.1f} processor s  {seconds / processor:5.1%}  {name}")


def account(logs: Path) -> tuple[float, float, float]:
    """Processor seconds of all jobs: start-up, the jobs themselves, and the programs that they ran."""
    line = re.compile(rf"{ACCOUNT} start ([\d.]+), job ([\d.]+), programs ([\d.]+)")
    accounts = [match.groups() for path in logs.rglob("*.log") for match in line.finditer(path.read_text(errors="replace"))]
    start, job, programs = (sum(float(row[k]) for row in accounts) for k in range(3))
    return start, job, programs


def run(copy: Path, count: int, targets: list[str], *config: str) -> tuple[float, float]:
    """Wall and processor seconds of a run."""
    before, start = _processor(), time.perf_counter()
    command = [sys.executable, "-m", "snakemake", "--cores", str(count), *targets]
    done = subprocess.run([*command, *(["--config", *config] if config else [])], cwd=copy, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - start, _processor() - before


def _processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
