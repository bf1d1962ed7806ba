"""Coverage of 95 % intervals from noisy tables: python bench/table_intervals.py [simulations] [processes].

Each simulation draws confidential data, adds noise to their tables, computes the posterior given these tables by importance
sampling (formalsynth.inference.density), and draws 20 synthetic data sets, predictors included, each from its own posterior
draw. The intervals by these rules are compared with the true value in the population:
posterior: quantiles of the quantity over the posterior draws.
m = 1, 5, 20: the combining rule of formalsynth.inference.intervals with the variance over public draws.
bare 5, bare 20: the same without draws, from the data sets only; simulations without an interval are counted separately.
data: the usual interval from the confidential data, without privacy.

The table is written to results/coverage.csv, with a row for each case, n, epsilon, quantity and rule.
"""

import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy import stats

from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.core.tables import tabled
from formalsynth.inference.density import TablesDensity, importance_draws
from formalsynth.inference.intervals import Interval, interval_with_draws, without_draws
from formalsynth.inference.tables_model import TablesModel

FAMILIES.find()
RESULTS = Path(__file__).parents[1] / "results"
SIZES = 500, 2000, 10_000
EPSILONS = 0.5, 1.0, 3.0
SETS = 20
DRAWS = 1000
Z = 1.959964
Values = Mapping[str, Array]
Estimate = tuple[float, float]
"""Estimate and its variance."""


@dataclass(frozen=True)
class Case:
    """A population with the declared bins of its tables."""

    family: str
    outcome: Bins
    predictor: Bins | None
    share_below: float
    """Value that defines one of the quantities, the share of outcomes below it."""
    truth: Values
    """Value (1,) of each parameter."""
    distribution: Callable[[Values], Any]
    """Function from parameters (S,) to the marginal distribution of the outcome, from scipy."""
    draw: Callable[[np.random.Generator, Mapping[str, float], int], tuple[Array, Array]]
    """Draw n outcomes and predictors from one value of the parameters."""

    def quantities(self, values: Values) -> dict[str, Array]:
        """Quantities (S,) of the population at parameters (S,)."""
        distribution = self.distribution(values)
        by_name = {
            "mean": distribution.mean(), "share": distribution.cdf(self.share_below), "median": distribution.ppf(0.5),
            "q90": distribution.ppf(0.9),
        }  # fmt: skip
        return by_name | ({"slope": values["slope"]} if self.predictor else {})

    def estimates(self, y: Array, x: Array) -> dict[str, Estimate]:
        """Estimate each quantity from data, without a model, except for the slope, which is that of the log outcome."""
        n, ordered, below = len(y), np.sort(y), float((y <= self.share_below).mean())
        by_name: dict[str, Estimate] = {"mean": (float(y.mean()), float(y.var() / n)), "share": (below, below * (1 - below) / n)}
        for name, p in (("median", 0.5), ("q90", 0.9)):
            half = Z * math.sqrt(p * (1 - p) * n)
            ends = ordered[[max(math.floor(p * n - half), 0), min(math.ceil(p * n + half), n - 1)]]
            by_name[name] = float(ordered[math.ceil(p * n) - 1]), float((np.diff(ends)[0] / (2 * Z)) ** 2)
        if self.predictor:
            centred, outcome = x - x.mean(), np.log(y)
            slope = float(centred @ outcome / (centred @ centred))
            residual = outcome - outcome.mean() - slope * centred
            by_name["slope"] = slope, float(residual @ residual / (n - 2) / (centred @ centred))
        return by_name


def lognormal_data(generator: np.random.Generator, values: Mapping[str, float], n: int) -> tuple[Array, Array]:
    """Draw a predictor, and the outcome of the regression."""
    x = generator.normal(values["x_mean"], values["x_sd"], n)
    return np.exp(values["intercept"] + values["slope"] * x + values["sigma"] * generator.standard_normal(n)), x


def beta_data(generator: np.random.Generator, values: Mapping[str, float], n: int) -> tuple[Array, Array]:
    """Draw shares."""
    shapes = values["lambda"] * values["phi"], values["lambda"] * (1 - values["phi"])
    return generator.beta(*shapes, size=n), np.empty(0)


def count_data(generator: np.random.Generator, values: Mapping[str, float], n: int) -> tuple[Array, Array]:
    """Draw counts."""
    phi = values["phi"]
    return generator.negative_binomial(phi, phi / (phi + values["mu"]), n).astype(float), np.empty(0)


def lognormal_margin(values: Values) -> Any:
    """Distribution of the outcome with the predictor integrated out."""
    spread = np.sqrt(values["sigma"] ** 2 + (values["slope"] * values["x_sd"]) ** 2)
    return stats.lognorm(spread, scale=np.exp(values["intercept"] + values["slope"] * values["x_mean"]))


CASES = {
    "Beta(0.5, 3)": Case(
        "beta", Bins(0, 1, 20), None, 0.1, {"phi": np.array([1 / 7]), "lambda": np.array([3.5])},
        lambda v: stats.beta(v["lambda"] * v["phi"], v["lambda"] * (1 - v["phi"])), beta_data,
    ),
    "lognormal regression": Case(
        "lognormal_regression", Bins(0.0498, 8103, 16, True), Bins(-1, 5, 8), 20.0,
        {name: np.array([float(value)]) for name, value in
         {"intercept": 1, "slope": 1, "sigma": 1, "x_mean": 2, "x_sd": 1}.items()}, lognormal_margin, lognormal_data,
    ),
    "negative binomial": Case(
        "negative_binomial", Bins(0, 400, 20), None, 80.0, {"mu": np.array([100.0]), "phi": np.array([5.0])},
        lambda v: stats.nbinom(v["phi"], v["phi"] / (v["phi"] + v["mu"])), count_data,
    ),
}  # fmt: skip


def named(density: TablesDensity, model: TablesModel, points: Array) -> dict[str, Array]:
    """Return the parameters (S,) of the family and of its predictor by name."""
    sampled = density.sampled(points)
    draws = dict(model.tabled.of(sampled["coefficient"], sampled.get("spread", np.ones(len(points)))))
    if "beta" not in draws:
        return draws
    mean, sd = density.predictor_draws(points)
    beta = draws["beta"]
    return {"intercept": beta[:, 0], "slope": beta[:, 1], "sigma": draws["sigma"], "x_mean": mean[:, 0], "x_sd": sd[:, 0]}


def posterior(case: Case, y: Array, x: Array, epsilon: float, generator: np.random.Generator) -> dict[str, Array]:
    """Draw parameters (DRAWS,) from the posterior given noisy tables."""
    family = FAMILIES[case.family]
    declared = tabled(family)
    assert declared is not None
    model, predictors = TablesModel(declared), (case.predictor,) if case.predictor else ()
    exact = Tables.of(Records(y, np.column_stack([np.ones(len(y)), *([x] if predictors else [])])), case.outcome, predictors)
    scale = len(exact) / epsilon
    noisy = DiscreteLaplaceCounts(exact.flat, scale).noisy(generator, 1)[0]
    public = PublicTables(case.outcome, predictors, exact.with_counts(noisy), scale, epsilon)
    data = model.stan_data(public, family.priors)
    density = TablesDensity(data)
    sample = importance_draws(density, density.point(model.inits(public, data)), generator, DRAWS)
    return named(density, model, sample.points)


def simulation(name: str, n: int, epsilon: float, number: int) -> list[tuple[Any, ...]]:
    """Rows of quantity, rule, low, high for one simulation; NaN if the rule gives no interval."""
    case, generator = CASES[name], np.random.default_rng([list(CASES).index(name), n, round(1000 * epsilon), number])
    y, x = case.draw(generator, {key: float(value[0]) for key, value in case.truth.items()}, n)
    draws = posterior(case, y, x, epsilon, generator)
    quantities = case.quantities(draws)
    chosen = generator.choice(DRAWS, SETS, replace=False)
    sets = [case.estimates(*case.draw(generator, {key: float(v[s]) for key, v in draws.items()}, n)) for s in chosen]
    rows: list[tuple[Any, ...]] = []
    for quantity, of_data in case.estimates(y, x).items():
        values = quantities[quantity]
        rows.append((quantity, "posterior", *np.quantile(values, [0.025, 0.975])))
        estimates, variances = np.array([of_set[quantity] for of_set in sets]).T
        given: dict[str, Interval | None] = {
            f"m = {m}": interval_with_draws(estimates[:m], variances[:m], float(values.var())) for m in (1, 5, 20)
        }
        given |= {f"bare {m}": without_draws(estimates[:m], variances[:m]) for m in (5, 20)}
        given["data"] = Interval(of_data[0], math.sqrt(of_data[1]))
        rows += [(quantity, rule, *((i.low, i.high) if i else (math.nan, math.nan))) for rule, i in given.items()]
    return rows


def cell(name: str, n: int, epsilon: float, numbers: range) -> pd.DataFrame:
    """Rows of some simulations of one case, n and epsilon."""
    rows = [(number, *row) for number in numbers for row in simulation(name, n, epsilon, number)]
    return pd.DataFrame(rows, columns=["simulation", "quantity", "rule", "low", "high"]).assign(case=name, n=n, epsilon=epsilon)


def summary(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield coverage, its standard error, mean width, and the share without an interval, by case, n, epsilon, quantity, rule."""
    keys = ["case", "n", "epsilon", "quantity", "rule"]
    for values, part in rows.groupby(keys, sort=False):
        row = dict(zip(keys, values, strict=True))
        case = CASES[row["case"]]
        true = float(case.quantities(case.truth)[row["quantity"]][0])
        there = part[part.low.notna()]
        coverage = float(((there.low <= true) & (true <= there.high)).mean()) if len(there) else math.nan
        error = math.sqrt(coverage * (1 - coverage) / max(len(there), 1))
        yield row | {
            "coverage": round(coverage, 4), "error": round(error, 4), "width": float((there.high - there.low).mean()),
            "without": 1 - len(there) / len(part), "simulations": len(part),
        }  # fmt: skip


def main(simulations: int, processes: int) -> None:
    """Simulate every case, n and epsilon, write the table after each, and print coverage by rule."""
    written: list[dict[str, Any]] = []
    with ProcessPoolExecutor(processes) as pool:
        for name, n, epsilon in itertools.product(CASES, SIZES, EPSILONS):
            parts = [range(first, min(first + 50, simulations)) for first in range(0, simulations, 50)]
            of_parts = pool.map(cell, *([value] * len(parts) for value in (name, n, epsilon)), parts)
            written += summary(pd.concat(of_parts, ignore_index=True))
            RESULTS.mkdir(exist_ok=True)
            pd.DataFrame(written).to_csv(RESULTS / "coverage.csv", index=False)
            table = pd.DataFrame(written[-7 * 5 :]).query("case == @name and n == @n and epsilon == @epsilon")
            print(f"{name}, n = {n}, epsilon {epsilon:g}", flush=True)
            print(table.pivot_table(index="quantity", columns="rule", values="coverage", sort=False).to_string(), flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["2000", "2"][len(sys.argv) - 1 :])[:2]))
