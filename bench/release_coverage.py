"""Coverage of the intervals of releases by noisy tables.

    python bench/release_coverage.py [RELEASES] [REPLICATES] [EPSILON] [ROWS] [BINS]

Each release uses a new made-up file of households (tests/households.py), by default of 4,000, with 30 bins of income. Its
intervals are for the population from which these files are drawn; the true values are computed from a million rows. Results are
written to results/release_coverage.csv. 100 releases with 100 replicates each take about 45 minutes of processor time.
"""

import functools
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd

from formalsynth_release.analyses import names
from formalsynth_release.intervals import Way, analysed, largest, simulated_noise, values
from formalsynth_release.model import Model
from formalsynth_release.schema import Analyses, PublicSchema, Schema
from formalsynth_release.tables import measured

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import households

ROWS, BINS, SETS, PROCESSES = 4000, 30, 2, 2
RESULTS = Path(__file__).parents[1] / "results"
ANALYSES = Analyses.model_validate({
    "means": ["hours"], "quantiles": [0.5, 0.9, 0.99],
    "shares": [{"column": "income", "value": 0}, {"column": "income", "above": 30_000}, {"column": "income", "missing": True}],
    "regressions": [{"predictors": ["age", "education"], "log": True}, {"predictors": ["age"]}],
})  # fmt: skip
SCHEMA = Schema.model_validate({
    "file": "households.csv", "rows": ROWS, "source": "households", "protected": "household", "rows_each": 1,
    "neighbours": "replace", "outside_bounds": "clip", "missing": "refuse", "zeros": "keep", "outcome": "income",
    "pairs": households.PAIRS, "columns": households.COLUMNS,
}).public  # fmt: skip


def schema_of(rows: int, bins: int = BINS) -> PublicSchema:
    """Return the declarations of a file with this number of rows, and this number of bins of income."""
    income = SCHEMA.columns["income"].model_copy(update={"bins": bins})
    return SCHEMA.model_copy(update={"rows": rows, "columns": {**SCHEMA.columns, "income": income}})


def rows_of(seed: int, number: int, population: str = "households") -> pd.DataFrame:
    """Make the rows of a made-up file, with their types; the population is a function of tests/households.py."""
    text = getattr(households, population)(number, seed).drop(columns="id")
    categories = ["region", "sex", "education"]
    return text.assign(**{name: pd.to_numeric(text[name]) for name in text if name not in categories})


def simulation(epsilon: float, replicates: int, rows: int, bins: int, number: int) -> pd.DataFrame:
    """Simulate one release; return a row for each analysis."""
    schema = schema_of(rows, bins)
    generator = np.random.default_rng([round(1000 * epsilon), number])
    parts = measured(schema, rows_of(10_000 + number, rows), epsilon, functools.partial(simulated_noise, generator, {}))
    model = Model.of(schema, parts)
    sets = [model.rows(rows, generator) for _ in range(SETS)]
    analyses = ANALYSES.model_copy(update={"replicates": replicates})
    way = Way(schema, analyses, epsilon, rows, SETS * rows, model.knots, largest(model.knots > 0))
    results = analysed(way, model, sets, generator)
    return pd.DataFrame([
        {"analysis": name, "estimate": result.estimate, "bias": result.bias, "error": result.error,
         "low": result.interval.low if result.interval else np.nan, "high": result.interval.high if result.interval else np.nan}
        for name, result in results.items()
    ])  # fmt: skip


def main(releases: int = 100, replicates: int = 100, epsilon: float = 2.0, number_of_rows: int = ROWS, bins: int = BINS) -> None:
    """Simulate releases; write and print coverage with its standard error, errors and bias of each analysis."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        of_population = pool.map(rows_of, range(20), [50_000] * 20)
        truth = np.mean([values(SCHEMA, ANALYSES, rows) for rows in of_population], axis=0)
        parts = list(pool.map(functools.partial(simulation, epsilon, replicates, number_of_rows, bins), range(releases)))
    rows, summary = pd.concat(parts), []
    for name, true in zip(names(SCHEMA, ANALYSES), truth, strict=True):
        of_name = rows[rows["analysis"] == name]
        there = of_name.dropna()
        coverage = ((there["low"] <= true) & (true <= there["high"])).mean()
        summary.append({
            "analysis": name, "epsilon": epsilon, "population": true, "coverage": coverage,
            "coverage error": (coverage * (1 - coverage) / max(len(there), 1)) ** 0.5, "without": 1 - len(there) / releases,
            "standard error": there["error"].mean(), "spread": (there["estimate"] - there["bias"]).std(),
            "bias left": (there["estimate"] - there["bias"]).mean() - true, "releases": releases,
        })  # fmt: skip
    table = pd.DataFrame(summary)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "release_coverage.csv", index=False)
    print(table.to_string(index=False, float_format="{:.4g}".format))


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, int, float, int, int), sys.argv[1:], strict=False)))
