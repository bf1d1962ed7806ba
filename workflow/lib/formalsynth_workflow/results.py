"""One table of all results of a run, over papers and studies, and the Monte Carlo error of its means.

``snakemake --cores 2 write_results`` writes it. ``read().groupby(["mechanism", "n"])["epsilon"].mean()`` is then the mean epsilon
by mechanism and sample size; ``python -m formalsynth_workflow.results results/paper --plan-mcse 0.02`` prints the number of
replicates that a target error needs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.text import DataError
from formalsynth.runtime.files import read_table
from formalsynth_workflow.jobs.inputs import ScenarioColumns

if TYPE_CHECKING:
    import pandas as pd

FILE = "results.csv"
"""Name of the table, in the folder of a scale."""
GROUP = ["paper", "scenario", "n", "synthesizer", "mechanism", "parameters"]
"""Columns that identify a cell of the table; the replicates of a cell are repetitions."""
LEAST = 2
"""Smallest number of replicates with a standard deviation."""


def table_of(collected: Iterable[tuple[pd.DataFrame, ScenarioColumns]]) -> pd.DataFrame:
    """Table with every row of every scenario, and columns for family, mechanism and its parameters.

    Args:
        collected: the replicates of each scenario, with its columns.
    """
    import pandas as pd

    parts = []
    for table, scenario in collected:
        ids = table["synthesizer"]
        texts = {
            id: ", ".join(f"{name}={value:g}" for name, value in values.items()) for id, values in scenario.parameters.items()
        }
        place = list(table).index("synthesizer") + 1
        table.insert(place, "mechanism", ids.map(scenario.mechanisms).fillna(""))
        table.insert(place + 1, "parameters", ids.map(texts).fillna(""))
        table.insert(place + 2, "family", scenario.family)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def read(folder: str | Path = "results/paper", failed: bool = False) -> pd.DataFrame:
    """Results of a run: a row for each replicate and synthesizer of every scenario; rows of the data have no mechanism.

    Args:
        folder: results of one scale.
        failed: if True, include the rows of failed replicates.

    Raises:
        FileNotFoundError: the table is missing; the message names the command that makes it.
        DataError: the table lacks columns.
    """
    path = Path(folder) / FILE
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: make it with snakemake --cores 2 write_results")
    table = read_table(path)
    missing = [name for name in ("status", "mechanism", "parameters", "family") if name not in table]
    if missing:
        raise DataError(f"{path}: missing columns: {', '.join(missing)}: make it with snakemake --cores 2 write_results")
    for column in ("mechanism", "parameters", "family"):
        table[column] = table[column].fillna("")
    return table if failed else table[table["status"] == "ok"].reset_index(drop=True)


def replicates_needed(table: pd.DataFrame, target: float, column: str = "epsilon", relative: bool = False) -> pd.DataFrame:
    """Compute the number of replicates for a given Monte Carlo standard error of the mean of a column.

    Args:
        table: result of :func:`read`.
        target: the target standard error, in the unit of the column.
        column: column of the table.
        relative: if True, the target is a share of the mean.

    Returns:
        A row for each cell with at least two replicates: its replicates, mean and error, and the number needed for the target.

    Raises:
        ValueError: the table has no such column, or the target is not positive.
    """
    if column not in table:
        raise ValueError(f"no column {column}; allowed: {', '.join(map(str, table))}")
    if not target > 0:
        raise ValueError(f"target: given {target}; allowed: a number above 0")
    cells = table.dropna(subset=[column]).groupby(GROUP, sort=False)[column].agg(["count", "mean", "std"]).reset_index()
    cells = cells[cells["count"] >= LEAST].reset_index(drop=True)
    aims = cells["mean"].abs() * target if relative else target
    cells["mcse"] = cells["std"] / cells["count"] ** 0.5
    cells["needed"] = [
        max(LEAST, math.ceil(share)) if math.isfinite(share) else 0 for share in (cells["std"] / aims).astype(float) ** 2
    ]
    return cells.rename(columns={"count": "replicates"}).drop(columns="std")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, which prints the number of replicates that each cell needs for a Monte Carlo error."""
    parser = argparse.ArgumentParser(
        prog="python -m formalsynth_workflow.results",
        description="Number of replicates that each cell needs for a Monte Carlo error.",
    )
    parser.add_argument("folder", nargs="?", default="results/paper", help="results of one scale (default: results/paper)")
    parser.add_argument("--plan-mcse", type=float, required=True, metavar="ERROR", help="target standard error of the mean")
    parser.add_argument("--column", default="epsilon", help="column of the mean (default: epsilon)")
    parser.add_argument("--relative", action="store_true", help="ERROR is a share of the mean")
    options = parser.parse_args(arguments)
    try:
        needed = replicates_needed(read(options.folder), options.plan_mcse, options.column, options.relative)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    shown = needed.drop(columns=["mechanism", "parameters"])
    print(shown.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    print("Set replicates in config: existing replicates are kept, and only additional ones are run.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
