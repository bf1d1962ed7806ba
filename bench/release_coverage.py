"""Coverage of the intervals of releases, for ten populations outside their model: python bench/release_coverage.py.

Each file of 4,000 rows has one release, and one simulated replicate for its intervals; replicates are pooled over the files. An
analysis counts where the release of a file gives its interval. A coverage below 90 % is significant at a level of 1 % over the
whole table (exact test of Clopper and Pearson, divided by the number of tests). All numbers are in results/release_coverage.csv;
a second run continues there.
"""

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np
import pandas as pd
from page import show
from release_populations import POPULATIONS, Population
from scipy.stats import binom

from formalsynth_release.analyses import names
from formalsynth_release.intervals import Way, judged, student, values
from formalsynth_release.model import Model
from formalsynth_release.schema import Analyses, PublicSchema

RESULTS = Path(__file__).parents[1] / "results"
ROWS, TRUTH, SEED = 4000, 400_000, 99_999
LEAST, LEVEL, MOST = 0.9, 0.01, 0.98
PAIRS = [["x", "y"], ["group", "y"], ["z", "y"], ["x", "z"], ["group", "x"], ["group", "z"]]
SMALLEST = 1e-9
"""Smallest error by which another one is divided: a quantile at a spike has none."""
SLOPE = ": "
"""Mark in the name of a slope."""


def schema_of(population: Population) -> PublicSchema:
    """Return the declarations of a population, with an edge at the threshold of its share."""
    columns = {
        "group": {"type": "category", "categories": list("abcd"), "release": "synthesized"},
        "z": {"type": "category", "categories": list("01234"), "ordered": True, "release": "synthesized"},
        "x": {"type": "number", "decimals": 2, "lower": -5, "upper": 5, "bins": 20, "release": "synthesized"},
        "y": {**population.column, "weight": 2, "edges": [population.threshold]},
    }
    kinds = [[name, "y kind"] for name in ("x", "z", "group") if population.zero]
    return PublicSchema.model_validate({
        "source": "made_up", "protected": "person", "rows_each": 1, "neighbours": "replace",
        "outside_bounds": "clip", "missing": "refuse",
        "zeros": "keep", "outcome": "y", "rows": ROWS, "pairs": [*PAIRS, *kinds], "columns": columns,
    })  # fmt: skip


def analyses_of(population: Population) -> Analyses:
    """Return the declared analyses of a population."""
    shares = [{"column": "y", "below": population.threshold}, {"column": "group", "value": "d"}]
    shares += [{"column": "y", "value": 0}] if population.zero else []
    regressions = [{"predictors": predictors, "log": population.log} for predictors in (["x"], ["x", "z"], ["group"])]
    return Analyses.model_validate({"means": ["x"], "shares": shares, "quantiles": [0.1, 0.5, 0.9], "regressions": regressions})


def pooled(way: Way, files: Iterator[pd.DataFrame], generator: np.random.Generator) -> tuple[np.ndarray, list[Model]]:
    """Release files of one population, and simulate one replicate of each release.

    Pooling these replicates over the files replaces many replicates for each file (Giacomini, Politis and White 2013, Econometric
    Theory 29, 567-589).

    Returns:
        Estimates (4, files, analyses) of files, releases, simulated files and their releases; and the models of the releases.
    """
    estimates, models = [], []
    for rows in files:
        models.append(model := way.fitted(rows, generator))
        again = way.file(model, generator)
        tables = values(way.schema, way.analyses, rows), way.released(model, generator), values(way.schema, way.analyses, again)
        estimates.append([*tables, way.released(way.fitted(again, generator, model), generator)])
    return np.moveaxis(np.array(estimates), 1, 0), models


def coverage(name: str, epsilon: float, files: int) -> Iterator[dict[str, object]]:
    """Yield the coverage of each analysis of a population."""
    population = POPULATIONS[name]
    schema, analyses = schema_of(population), analyses_of(population)
    truth = values(schema, analyses, population.rows(TRUTH, SEED))
    way, generator = Way(schema, analyses, epsilon, ROWS, 2 * ROWS, 0), np.random.default_rng(round(1000 * epsilon))
    files_of = (population.rows(ROWS, crc32(name.encode()) + seed) for seed in range(files))
    (own, released, simulated, again), models = pooled(way, files_of, generator)
    bias, error = (again - simulated).mean(axis=0), (again - released).std(axis=0, ddof=1)
    given, reasons = np.zeros((files, len(truth)), dtype=bool), [""] * len(truth)
    covered = given.copy()
    for file, (model, estimate) in enumerate(zip(models, released, strict=True)):
        for k, of_name in enumerate(judged(way, model, estimate, bias, error, student(files)).values()):
            given[file, k], reasons[k] = not of_name.reason, of_name.reason or reasons[k]
            covered[file, k] = bool(of_name.interval and of_name.interval[0] <= truth[k] <= of_name.interval[1])
    for k, analysis in enumerate(names(schema, analyses)):
        yield {
            "population": name, "epsilon": epsilon, "analysis": analysis, "files": files, "given": int(given[:, k].sum()),
            "covered": int(covered[:, k].sum()), "reason": reasons[k], "truth": truth[k],
            "bias left": (released[:, k].mean() - truth[k] - bias[k]) / max(error[k], SMALLEST),
            "error": error[k] / max(own[:, k].std(ddof=1), SMALLEST),
        }  # fmt: skip


def write_summary(rows: pd.DataFrame) -> None:
    """Write a table by population and one by epsilon, and print what covers too little or too much.

    An analysis counts if most files have its interval.
    """
    rows = rows.assign(slope=rows.analysis.str.contains(SLOPE), coverage=rows.covered / rows.given.where(rows.given > 0))
    low = rows[binom.cdf(rows.covered, rows.given, LEAST) * (rows.given > 0).sum() < LEVEL]
    rows["mostly"] = rows.given >= rows.files / 2
    kinds = {(name, epsilon): part for (name, epsilon), part in rows.groupby(["population", "epsilon"], sort=False)}
    lines = [
        [name, f"{epsilon:g}", *(cell for slope in (True, False) for cell in _cells(part[part.slope == slope]))]
        for (name, epsilon), part in kinds.items()
    ]
    show("release_coverage", ["population", "ε", "slopes", "their coverage", "other analyses", "coverage"], lines)
    by_epsilon = [
        [
            f"{epsilon:g}",
            int(part.files.max()),
            *_cells(part[part.slope]),
            *_cells(part[~part.slope]),
            (low.epsilon == epsilon).sum(),
        ]
        for epsilon, part in sorted(rows.groupby("epsilon"))
    ]
    head = ["ε", "files", "slopes", "their coverage", "other analyses", "coverage", f"significantly below {LEAST:.0%}"]
    show("release_intervals", head, by_epsilon)
    shown = ["population", "epsilon", "analysis", "given", "covered", "bias left", "error"]
    print(low[shown].to_string(index=False, float_format="{:.2f}".format))
    above = [
        f"{row.population}, {row.epsilon:g}: {row.analysis}" for row in rows[rows.mostly & (rows.coverage > MOST)].itertuples()
    ]
    print(f"Above {MOST:.0%}: {'; '.join(above) or 'none'}.")


def _cells(rows: pd.DataFrame) -> list[str]:
    """Count the analyses with an interval in most files, and give their smallest and largest coverage."""
    coverage = rows.coverage[rows.mostly]
    return [f"{len(coverage)} of {len(rows)}", f"{coverage.min():.0%} to {coverage.max():.0%}" if len(coverage) else "–"]


def main(files: int, epsilons: list[float], populations: list[str]) -> None:
    """Simulate all populations that are not in the results yet, and write the table."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "release_coverage.csv"
    rows = pd.read_csv(path).query("files == @files") if path.exists() else pd.DataFrame(columns=["population", "epsilon"])
    for epsilon, name in itertools.product(epsilons, populations):
        if not ((rows["population"] == name) & (rows["epsilon"] == epsilon)).any():
            rows = pd.concat([rows, pd.DataFrame(coverage(name, epsilon, files))])
            rows.to_csv(path, index=False)
            print(f"{name}, epsilon {epsilon:g}", flush=True)
    write_summary(rows)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--files", type=int, default=100, help="files of each population (default: %(default)s)")
    arguments.add_argument("--epsilon", type=float, nargs="+", default=[1.0, 2.0], help="epsilons (default: 1 2)")
    arguments.add_argument(
        "--populations", nargs="+", choices=POPULATIONS, default=list(POPULATIONS), help="populations (default: all)"
    )
    options = arguments.parse_args()
    main(options.files, options.epsilon, options.populations)
