"""Estimated time of a finished run on more cores: python <clone>/bench/schedule.py [scale] [paper ...], in its folder.

The graph is the workflow's, and a job's duration is the processor time in its log. A job starts when the jobs that it needs
have ended and a core is free; the job with the longest path to the end starts first. ``--delay 30`` adds 30 seconds to each job,
for Snakemake and a scheduler to start it and to notice its end; the default is 0.

``--replicates 10000`` estimates a larger study from the same logs: every scenario with replicates has that many, in the
batches that the plan would define, and each replicate takes as long as the average replicate of the finished run.
"""

import argparse
import heapq
import math
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from formalsynth.plan.load import plan_of
from formalsynth.plan.paper import Plan
from formalsynth.runtime.logs import ACCOUNT

ROOT = Path(__file__).parents[1]
CORES = (1, 2, 4, 8, 16, 100)
NODE = re.compile(r'^\s*(\d+)\[label = "(.*?)"', re.MULTILINE)
EDGE = re.compile(r"^\s*(\d+) -> (\d+)", re.MULTILINE)
SECONDS = re.compile(rf"{ACCOUNT} start ([\d.]+), job ([\d.]+), programs ([\d.]+)")
WILDCARDS = {
    "compile_program": ("program",),
    "run_batch": ("paper", "scenario", "batch"),
    "run_study": ("paper", "scenario", "batch"),
    "collect_batches": ("paper", "scenario"),
    "collect_study": ("paper", "scenario"),
    "judge_claims": ("paper",),
}
"""Wildcards of rules, in the order in which they form the names of logs."""
Needs = Mapping[str, Sequence[str]]


def main() -> None:
    """Print the time for each number of cores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scale", nargs="?", default="paper")
    parser.add_argument("papers", nargs="*")
    parser.add_argument("--replicates", type=int, help="estimate a run with this many replicates")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that each job waits for Snakemake and a scheduler")
    given = parser.parse_args()
    labels, needs = graph(given.scale, given.papers)
    seconds = {job: duration(Path("logs", given.scale), label_of(job, labels, needs)) for job in labels}
    untimed = sum(seconds[job] == 0 for jobs in batches_of(labels, needs).values() for job in jobs)
    if untimed:
        print(f"{untimed} batches have no log and count as 0 s")
    if given.replicates:
        plan = plan_of(Path("config") if Path("config").is_dir() else ROOT / "config", scale=given.scale)
        seconds, needs = enlarged(seconds, needs, batches_of(labels, needs), plan, given.replicates)
    processor = sum(seconds.values())
    seconds = {job: duration + given.delay for job, duration in seconds.items()}
    way = ways(seconds, needs)
    print(f"{len(seconds)} jobs, {processor:.0f} processor s, the longest path through them {max(way.values()):.0f} s")
    for cores in CORES:
        print(f"  {cores:3d} cores: {schedule(seconds, needs, way, cores):6.1f} s")


def graph(scale: str, papers: Sequence[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Jobs of a run: label of each job, and the jobs that it needs."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--forceall", "--dag"]
    config = [f"scale={scale}", *([f"papers=[{','.join(papers)}]"] if papers else [])]
    drawn = subprocess.run([*command, "--config", *config], stdout=subprocess.PIPE, text=True, check=True).stdout
    labels = dict(NODE.findall(drawn))
    needs: dict[str, list[str]] = {job: [] for job in labels}
    for needed, job in EDGE.findall(drawn):
        needs[job].append(needed)
    return labels, needs


def batches_of(labels: Mapping[str, str], needs: Needs) -> dict[tuple[str, str], list[str]]:
    """Jobs that run batches, by paper and scenario."""
    batches: dict[tuple[str, str], list[str]] = {}
    for job in labels:
        rule, values = label_of(job, labels, needs)
        if rule in ("run_batch", "run_study"):
            batches.setdefault((values["paper"], values["scenario"]), []).append(job)
    return batches


def enlarged(
    seconds: Mapping[str, float], needs: Needs, batches: Mapping[tuple[str, str], list[str]], plan: Plan, replicates: int
) -> tuple[dict[str, float], dict[str, list[str]]]:
    """Durations and needs in a run with more replicates, whose batches replace those of the finished run."""
    seconds = dict(seconds)
    replaced: dict[str, list[str]] = {}
    added: dict[str, tuple[float, list[str]]] = {}
    for (paper, id), jobs in batches.items():
        scenario = plan.papers[paper].scenarios[id]
        if scenario.replicates > 1:
            per_replicate = sum(seconds.pop(job) for job in jobs) / scenario.replicates
            size = max(scenario.batch_size, math.ceil(replicates / plan.config.batches_max))
            names = [f"{paper} {id} {k}" for k in range(math.ceil(replicates / size))]
            added |= {
                name: (per_replicate * min(size, replicates - k * size), list(needs[jobs[0]])) for k, name in enumerate(names)
            }
            replaced |= dict.fromkeys(jobs, names)
    seconds |= {name: duration for name, (duration, _) in added.items()}
    larger = {
        job: list(dict.fromkeys(new for old in needs[job] for new in replaced.get(old, [old]))) for job in needs if job in seconds
    }
    return seconds, larger | {name: those for name, (_, those) in added.items()}


def label_of(job: str, labels: Mapping[str, str], needs: Needs) -> tuple[str, dict[str, str]]:
    """Rule and wildcards of a job; Snakemake's label omits wildcards that a job shares with the jobs it needs."""
    rule, *wildcards = labels[job].split("\\n")
    wildcard_values: dict[str, str] = {}
    for needed in needs[job]:
        wildcard_values |= label_of(needed, labels, needs)[1]
    return rule, wildcard_values | dict(wildcard.split(": ", 1) for wildcard in wildcards)


def duration(logs: Path, label: tuple[str, dict[str, str]]) -> float:
    """Processor seconds of a job, from its log; 0 for a job without a log."""
    rule, values = label
    names = rule.split("_", 2) if rule.startswith("show_") else [rule, *(values[name] for name in WILDCARDS.get(rule, ()))]
    path = logs.joinpath(*names[:-1], f"{names[-1]}.log")
    accounts = SECONDS.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    return sum(map(float, accounts[-1])) if accounts else 0.0


def ways(seconds: Mapping[str, float], needs: Needs) -> dict[str, float]:
    """Seconds from the start of each job to the end of the run if no job waits for a core."""
    needed_by: dict[str, list[str]] = {job: [] for job in seconds}
    for job, those in needs.items():
        for needed in those:
            needed_by[needed].append(job)
    longest: dict[str, float] = {}

    def way(job: str) -> float:
        if job not in longest:
            longest[job] = seconds[job] + max(map(way, needed_by[job]), default=0.0)
        return longest[job]

    return {job: way(job) for job in seconds}


def schedule(seconds: Mapping[str, float], needs: Needs, way: Mapping[str, float], cores: int) -> float:
    """Seconds until all jobs have ended."""
    waiting = {job: set(those) for job, those in needs.items()}
    needed_by: dict[str, list[str]] = {job: [] for job in needs}
    for job, those in needs.items():
        for needed in those:
            needed_by[needed].append(job)
    ready = [(-way[job], job) for job, those in waiting.items() if not those]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < cores:
            job = heapq.heappop(ready)[1]
            heapq.heappush(running, (now + seconds[job], job))
        now, ended = heapq.heappop(running)
        for job in needed_by[ended]:
            waiting[job].remove(ended)
            if not waiting[job]:
                heapq.heappush(ready, (-way[job], job))
    return now


if __name__ == "__main__":
    main()
