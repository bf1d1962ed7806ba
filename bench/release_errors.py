"""Errors of releases of several columns, compared with OpenDP's tables: python bench/release_errors.py.

Files of made-up households (tests/households.py), by default of 4,000, are released as declared there, and by OpenDP's tables
with a graphical model: tables of the declared pairs, tables of all pairs, and AIM. All use the same levels of each column, draw
values within a level in the same way, and have the same epsilon for replacing a row. The table is printed in Markdown, and all
numbers are in results/release_errors.csv. OpenDP's tables need ``pip install "opendp[mbi]"`` (1.3 GB), without
which they are left out.
"""

import argparse
import functools
import importlib
import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from page import table
from release_coverage import RESULTS, ROWS, SCHEMA, rows_of, schema_of

from formalsynth_release.analyses import estimates
from formalsynth_release.intervals import simulated_noise
from formalsynth_release.levels import MISSING, Levels, levels_of
from formalsynth_release.margins import inside_levels
from formalsynth_release.model import Model
from formalsynth_release.schema import KIND, Analyses
from formalsynth_release.tables import measured
from formalsynth_release.tables_compare import associations

SETS = 2
REGRESSION = Analyses.model_validate({"regressions": [{"predictors": ["age", "education"], "log": True}]})
COLUMNS = {name: levels_of(column) for name, column in SCHEMA.released.items()}
PAIRS = [tuple(pair) for pair in SCHEMA.pairs or []]
"""Declared pairs."""
Draw = Callable[[pd.DataFrame, float, int], list[pd.DataFrame]]
"""Function from a file, epsilon and seed to synthetic data sets."""


def noisy_sums(rows: pd.DataFrame, epsilon: float, seed: int) -> list[pd.DataFrame]:
    """Draw the synthetic data sets of a release."""
    generator = np.random.default_rng(seed)
    schema = schema_of(len(rows))
    model = Model.of(schema, measured(schema, rows, epsilon, functools.partial(simulated_noise, generator, {})))
    return [model.rows(len(rows), generator) for _ in range(SETS)]


def opendp(algorithm: str, rows: pd.DataFrame, epsilon: float, seed: int) -> list[pd.DataFrame]:
    """Draw sets with OpenDP, whose epsilon is for adding or removing a row; replacing one costs twice as much."""
    dp, pl, mbi = (importlib.import_module(name) for name in ("opendp.prelude", "polars", "opendp.extras.mbi"))
    dp.enable_features("contrib")
    places = {name: levels.of(rows[name]) for name, levels in COLUMNS.items()}
    keys = {name: list(range(len(levels) + SCHEMA.columns[name].may_be_missing)) for name, levels in COLUMNS.items()}
    data = {name: np.where(place == MISSING, len(COLUMNS[name]), place) for name, place in places.items()}
    context = dp.Context.compositor(
        data=pl.DataFrame(data).lazy(), privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=epsilon / 2),
        split_evenly_over=1,
    )  # fmt: skip
    query = context.query().contingency_table(keys=keys, algorithm=_algorithm(mbi, algorithm))
    released, generator = query.release(), np.random.default_rng(seed)
    drawn = [released.synthesize(rows=2 * len(rows), method="sample").drop_nulls().to_pandas()[: len(rows)] for _ in range(SETS)]
    return [pd.DataFrame({name: _values(levels, frame[name], generator) for name, levels in COLUMNS.items()}) for frame in drawn]


def _algorithm(mbi: Any, name: str) -> Any:
    """Make AIM with two-column tables, or tables of fixed pairs and of each column that is in no pair."""
    if name == "AIM":
        return mbi.AIM(queries=2)
    declared = {frozenset(column.removesuffix(KIND) for column in pair) for pair in PAIRS}
    chosen = [pair for pair in itertools.combinations(COLUMNS, 2) if name == "all pairs" or frozenset(pair) in declared]
    alone = [(column,) for column in COLUMNS if not any(column in pair for pair in chosen)]
    return mbi.Fixed(queries=[mbi.Count(by=by) for by in [*chosen, *alone]])


def _values(levels: Levels, drawn: pd.Series, generator: np.random.Generator) -> pd.Series:
    """Draw values within drawn levels, as in a release; the level after the last one means a missing value."""
    place = drawn.to_numpy(dtype=int)
    there, place = place < len(levels), np.minimum(place, len(levels) - 1)
    share, counts = generator.random(len(place)), np.bincount(place[there], minlength=len(levels)) / max(there.sum(), 1)
    return pd.Series(levels.values(place, inside_levels(levels, counts, place, share))).mask(~there)


METHODS: dict[str, Draw] = {
    "a release": noisy_sums,
    **{f"OpenDP, {name}": functools.partial(opendp, name) for name in ("declared pairs", "all pairs", "AIM")},
}


def results_of(rows: pd.DataFrame) -> pd.Series:
    """Compute an analyst's results: associations of the declared pairs, shares, quantiles, and slopes of log income."""
    income, named = rows["income"], estimates(SCHEMA, REGRESSION, rows)
    pairs = associations(SCHEMA, rows, PAIRS)
    return pd.Series(
        {("pairs", f"{first} by {second}"): value for (first, second), value in zip(PAIRS, pairs, strict=True)}
        | {("zeros", ""): (income == 0).mean(), ("losses", ""): (income < 0).mean(), ("missing", ""): income.isna().mean()}
        | {(f"q{level}", ""): income.quantile(level / 100) for level in (90, 99)}
        | {("slope", name.split(": ")[1]): value for name, (value, _) in named.items() if ": " in name}
    )


def errors_of(rows: pd.DataFrame, sets: list[pd.DataFrame]) -> pd.Series:
    """Compute differences from the file's results: relative for quantiles, in standard errors of the file for slopes."""
    file, slopes = results_of(rows), estimates(SCHEMA, REGRESSION, rows).items()
    errors = {name.split(": ")[1]: error for name, (_, error) in slopes if ": " in name}
    scale = [
        errors[name] if kind == "slope" else value if kind in ("q90", "q99") else 1.0 for (kind, name), value in file.items()
    ]
    return (pd.concat([results_of(drawn) for drawn in sets], axis=1).mean(axis=1) - file) / scale


def summary(errors: pd.DataFrame) -> list[str]:
    """Format a method's table cells from errors (files, results): median, largest root mean square, and mean absolute errors."""
    size = errors.abs().mean()
    largest = np.sqrt((errors["pairs"] ** 2).mean())
    return [
        f"{np.median(errors['pairs'].abs()):.3f}", f"{largest.max():.3f} ({largest.idxmax()})",
        ", ".join(f"{size[kind].item():.3f}" for kind in ("zeros", "losses", "missing")),
        ", ".join(f"{size[kind].item():.1%}" for kind in ("q90", "q99")), ", ".join(f"{value:.1f}" for value in size["slope"]),
    ]  # fmt: skip


def main(files: int, epsilons: Sequence[float], methods: Sequence[str], population: str, number_of_rows: int) -> None:
    """Print the table and write all numbers."""
    there = importlib.util.find_spec("mbi") is not None
    lines, parts = [], {}
    for name, epsilon in itertools.product([name for name in methods if there or not name.startswith("OpenDP")], epsilons):
        files_of = [rows_of(20_000 + number, number_of_rows, population) for number in range(files)]
        started = time.process_time()
        errors = pd.DataFrame([errors_of(rows, METHODS[name](rows, epsilon, number)) for number, rows in enumerate(files_of)])
        lines.append([name, f"{epsilon:g}", *summary(errors), f"{(time.process_time() - started) / files:.0f}"])
        parts[name, epsilon] = errors
        print(lines[-1], file=sys.stderr, flush=True)
    RESULTS.mkdir(exist_ok=True)
    pd.concat(parts, names=["method", "epsilon", "file"]).to_csv(RESULTS / "release_errors.csv")
    head = ["method", "ε", "pairs: median", "largest", "zeros, losses, missing", "q90, q99", "slopes: age, education", "s"]
    print(table(head, lines))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--files", type=int, default=10, help="number of files (default: %(default)s)")
    arguments.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 2.0, 4.0], help="epsilons (default: 1 2 4)")
    arguments.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="methods (default: all)")
    arguments.add_argument("--population", choices=["households", "workers"], default="households", help="rows of the files")
    arguments.add_argument("--rows", type=int, default=ROWS, help="rows of a file (default: %(default)s)")
    options = arguments.parse_args()
    main(options.files, options.epsilon, options.methods, options.population, options.rows)
