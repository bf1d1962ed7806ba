"""Comparison of mechanisms with published competitors: python -m bench.competitors [--replicates 20] [--out FILE].

Every mechanism uses the same data sets and declarations, and the same total epsilon for adding or removing a record. The
output is a tidy table with one row for each value: task, mechanism, epsilon, replicate, measure, value. Other rows of the same
file are kept, so a long comparison can be made in parts. Summaries go to bench/tables. OpenDP's tables are left out if
``opendp[mbi]`` is not installed.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from .competitors import Competitor, Trial, competitors
from .measures import failed, measures
from .tables import written
from .tasks import Task, tasks

COSTLY = 5
"""Largest number of replicates for a mechanism whose runs take many seconds."""
KEYS = ["task", "mechanism", "epsilon", "replicate", "measure"]


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m bench.competitors", description="Compare mechanisms with competitors.")
    parser.add_argument("--replicates", type=int, default=20, help="number of data sets for each task")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 0.5], help="total epsilon, adding or removing a record")
    parser.add_argument("--tasks", nargs="+", default=list(tasks()), choices=tasks(), help="data sets (default: all)")
    parser.add_argument("--mechanisms", nargs="+", default=list(competitors()), choices=competitors(), help="default: all")
    parser.add_argument("--out", type=Path, default=Path("competitors.csv"), help="tidy table to write; its other rows are kept")
    given = parser.parse_args()
    for task, name in itertools.product(given.tasks, given.mechanisms):
        entry = competitors()[name]
        if entry.suits(tasks()[task]):
            number = min(given.replicates, COSTLY) if entry.costly else given.replicates
            rows = pd.DataFrame(results(tasks()[task], name, entry, given.epsilon, number), columns=[*KEYS, "value"])
            table = pd.concat([pd.read_csv(given.out), rows]) if given.out.exists() else rows
            table.drop_duplicates(KEYS, keep="last").to_csv(given.out, index=False)
            print(rows.groupby(KEYS[:3] + KEYS[4:])["value"].median().unstack().round(4).to_string(), flush=True)
    written(pd.read_csv(given.out))
    return 0


def results(task: Task, name: str, entry: Competitor, epsilons: list[float], replicates: int) -> Iterator[list[object]]:
    """Yield the rows of one mechanism on one task; for a mechanism without privacy, epsilon has no effect and is 0."""
    for epsilon, replicate in itertools.product(epsilons if entry.private else [0.0], range(replicates)):
        records = task.draw(np.random.default_rng([1, zlib.crc32(task.name.encode()), replicate]))
        words = [2, zlib.crc32(f"{task.name} {name}".encode()), replicate, round(1e6 * epsilon)]
        trial = Trial(task, records, epsilon, replicate, np.random.default_rng(words))
        start = time.perf_counter()
        try:
            values = measures(task, records, task.rounded(entry.run(trial)))
        except ValueError as error:
            print(f"{task.name} {name} {epsilon:g} {replicate}: {error}", file=sys.stderr)
            values = failed()
        values["seconds"] = round(time.perf_counter() - start, 3)
        for measure, value in values.items():
            yield [task.name, name, epsilon, replicate, measure, float(f"{value:.4g}")]


if __name__ == "__main__":
    sys.exit(main())
