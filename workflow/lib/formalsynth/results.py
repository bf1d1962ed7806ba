"""One table of all results of a run, over papers and studies, and what it says of Monte Carlo error.

``snakemake --cores 2 write_results`` writes it. ``read().groupby(["mechanism", "n"])["epsilon"].mean()`` is then the mean epsilon
by mechanism and sample size; ``python -m formalsynth.results results/paper --plan-mcse 0.02`` says how many replicates a target
error needs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.model import JobInput
from formalsynth.data.files import DataError
from formalsynth.runtime.files import read_table

if TYPE_CHECKING:
    import pandas as pd

FILE = "results.csv"
"""Name of the table, in the folder of a scale."""
GROUP = ["paper", "scenario", "n", "synthesizer", "mechanism", "parameters"]
"""What tells the cells of the table apart, of which replicates are repetitions."""
LEAST = 2
"""Replicates from which a spread can be told."""


class ToldScenario(JobInput):
    """What the table says of a scenario beside its replicates."""

    family: str
    """Empty where a study runs it."""
    mechanisms: dict[str, str]
    """By synthesizer or arm: its mechanism, or the name of the arm."""
    parameters: dict[str, dict[str, float]]


def table_of(collected: Iterable[tuple[pd.DataFrame, ToldScenario]]) -> pd.DataFrame:
    """The one table: every row of every scenario, with the family, the mechanism and its parameters beside the synthesizer.

    Args:
        collected: the replicates of each scenario, with what is told of it.
    """
    import pandas as pd

    parts = []
    for table, told in collected:
        ids = table["synthesizer"]
        texts = {id: ", ".join(f"{name}={value:g}" for name, value in given.items()) for id, given in told.parameters.items()}
        place = list(table).index("synthesizer") + 1
        table.insert(place, "mechanism", ids.map(told.mechanisms).fillna(""))
        table.insert(place + 1, "parameters", ids.map(texts).fillna(""))
        table.insert(place + 2, "family", told.family)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)


def read(folder: str | Path = "results/paper", failed: bool = False) -> pd.DataFrame:
    """The results of a run: a row for each replicate and synthesizer of every scenario; rows of the data have no mechanism.

    Args:
        folder: results of one scale.
        failed: whether rows of failed replicates are among them.

    Raises:
        FileNotFoundError: the table is not there; the message says how to make it.
        DataError: it is another table.
    """
    path = Path(folder) / FILE
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: make it with snakemake --cores 2 write_results")
    table = read_table(path)
    absent = [name for name in ("status", "mechanism", "parameters", "family") if name not in table]
    if absent:
        raise DataError(f"{path}: has no column {', '.join(absent)}: make it with snakemake --cores 2 write_results")
    for column in ("mechanism", "parameters", "family"):
        table[column] = table[column].fillna("")
    return table if failed else table[table["status"] == "ok"].reset_index(drop=True)


def replicates_needed(table: pd.DataFrame, target: float, column: str = "epsilon", relative: bool = False) -> pd.DataFrame:
    """How many replicates give the mean of a column a Monte Carlo standard error.

    Args:
        table: as :func:`read` gives it.
        target: the standard error to reach, in the unit of the column.
        column: column of the table.
        relative: whether the target is a share of the mean.

    Returns:
        A row for each cell with a spread to tell: its replicates, mean and error, and how many are needed for the target.

    Raises:
        ValueError: the table has no such column, or the target is not positive.
    """
    if column not in table:
        raise ValueError(f"no column {column}; there are {', '.join(table)}")
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
    """Command line: how many replicates each cell needs for a Monte Carlo error."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.results", description="What results say of Monte Carlo error.")
    parser.add_argument("folder", nargs="?", default="results/paper", help="results of one scale (default: results/paper)")
    parser.add_argument("--plan-mcse", type=float, required=True, metavar="ERROR", help="standard error of the mean to reach")
    parser.add_argument("--column", default="epsilon", help="column whose mean is meant (default: epsilon)")
    parser.add_argument("--relative", action="store_true", help="ERROR is a share of the mean")
    options = parser.parse_args(arguments)
    try:
        needed = replicates_needed(read(options.folder), options.plan_mcse, options.column, options.relative)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    shown = needed.drop(columns=["mechanism", "parameters"])
    print(shown.to_string(index=False, float_format=lambda value: f"{value:.4g}"))
    print("Give replicates in config; those that are there are kept, and only the further ones are run.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
