"""Comparison of mechanisms with published competitors: python -m bench.competitors [--replicates 20] [--out FILE].

Every mechanism uses the same data sets and declarations, and the same total epsilon for adding or removing a record. The
output is a tidy table with one row for each value: task, mechanism, epsilon, replicate, measure, value. Rows of other mechanisms,
tasks and epsilons in the same file are kept, so a long comparison can be made in parts. With ``--write``, summaries go to
bench/tables. OpenDP's tables are left out if ``opendp[mbi]`` is not installed.
"""

from __future__ import annotations

import argparse
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
Row = dict[str, str | float | int]


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(prog="python -m bench.competitors", description="Compare mechanisms with competitors.")
    parser.add_argument("--replicates", type=int, default=20, help="number of data sets for each task")
    parser.add_argument("--costly", type=int, default=COSTLY, help="number of data sets for mechanisms that take many seconds")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 0.5], help="total epsilon, adding or removing a record")
    parser.add_argument("--tasks", nargs="+", default=[], help="names of tasks (default: all)")
    parser.add_argument("--mechanisms", nargs="+", default=[], help="names of mechanisms (default: all)")
    parser.add_argument("--out", type=Path, default=Path("competitors.csv"), help="tidy table to write; its other rows are kept")
    parser.add_argument("--write", action="store_true", help="write the summaries in bench/tables")
    given = parser.parse_args()
    for names, known in ((given.tasks, tasks()), (given.mechanisms, competitors())):
        if unknown := set(names) - set(known):
            parser.error(f"given {', '.join(sorted(unknown))}; allowed: {', '.join(known)}")
    chosen = [task for name, task in tasks().items() if not given.tasks or name in given.tasks]
    mechanisms = {name: entry for name, entry in competitors().items() if not given.mechanisms or name in given.mechanisms}
    for task in chosen:
        for name, entry in mechanisms.items():
            if entry.suits(task):
                number = min(given.replicates, given.costly) if entry.costly else given.replicates
                rows = list(results(task, name, entry, given.epsilon, number))
                _keep(given.out, rows)
                _show(rows)
    if given.write:
        written(pd.read_csv(given.out))
    return 0


def results(task: Task, name: str, entry: Competitor, epsilons: list[float], replicates: int) -> Iterator[Row]:
    """Yield the rows of one mechanism on one task; for a mechanism without privacy, epsilon has no effect and is 0."""
    for epsilon in epsilons if entry.private else [0.0]:
        for replicate in range(replicates):
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
                yield {
                    "task": task.name, "mechanism": name, "epsilon": epsilon, "replicate": replicate, "measure": measure,
                    "value": float(f"{value:.4g}"),
                }  # fmt: skip


def _keep(path: Path, rows: list[Row]) -> None:
    """Replace the rows of the same mechanism, task and epsilon in the file."""
    new = pd.DataFrame(rows)
    keys = ["task", "mechanism", "epsilon"]
    if path.exists():
        old = pd.read_csv(path)
        taken = set(new[keys].itertuples(index=False, name=None))
        kept = [row not in taken for row in old[keys].itertuples(index=False, name=None)]
        new = pd.concat([old[kept], new])
    new.to_csv(path, index=False)


def _show(rows: list[Row]) -> None:
    table = pd.DataFrame(rows).pivot_table(
        index=["task", "mechanism", "epsilon"], columns="measure", values="value", aggfunc="median"
    )
    print(table.round(4).to_string(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
