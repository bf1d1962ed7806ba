"""Coverage of intervals where no family fits: python bench/outside.py [data sets] [data sets for the family's rule].

Each data set is drawn from a population, most of them outside every family, and counted with noise. Its intervals are compared
with the values of the population. There are two rules:
table: intervals from the noisy table alone (formalsynth.inference.table_intervals), which need no declaration.
family: quantiles over draws of the posterior given the tables, for a family that was declared to be exact although it is not,
unless the test of fit contradicts it. The draws are those of the Stan program, by importance sampling.

Written to bench/tables:
outside.csv: smallest coverage over n and epsilon by the table's rule, with the share of data sets that have an interval.
outside_family.csv: the same by the family's rule.
outside_sizes.csv: both rules, by n and epsilon.
undetected.csv: the shift of a share that the test of fit misses in a tenth of data sets.
Coverages significantly below 90 % are in bold (one-sided exact binomial test, 1 % over all coverages of a rule by Holm's method).
"""

import itertools
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from page import show
from scipy import stats
from scipy.special import expit

from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.core.tables import is_whole, tabled
from formalsynth.inference.density import TablesDensity, importance_draws
from formalsynth.inference.goodness_of_fit import p_value
from formalsynth.inference.intervals import contradicted
from formalsynth.inference.table_intervals import NO_LIMITS, Limits, OutcomeTable
from formalsynth.inference.tables_model import TablesModel

FAMILIES.find()
TABLES = {"table": "outside", "family": "outside_family"}
"""Name of the table of each rule."""
SIZES, EPSILONS = (250, 400, 1000, 2000), (0.5, 1.0)
LEAST, LEVEL = 0.90, 0.01
"""Coverage that no interval may fall short of, and level of the test over the whole table."""
TRUTH = 2_000_000
"""Number of values from which those of a population are computed; their error is below 0.04 standard errors of n = 2000."""
DRAWS, FEWEST = 500, 50
"""Number of posterior draws, and smallest effective number that gives an interval."""
Draw = Callable[[np.random.Generator, int], tuple[Array, Array | None]]
Values = Callable[[np.random.Generator, int], Array]
Errors = Callable[[np.random.Generator, Array], Array]
LOG, X = Bins(math.exp(-3), math.exp(9), 16, True), Bins(-1, 5, 8)
SHARES, COUNTS, NUMBERS = Bins(0, 1, 20), Bins(0, 240, 12), Bins(-4, 8, 16)
POSITIVE, TOP_CODED = Limits(0, math.inf), Limits(0, math.exp(9))


@dataclass(frozen=True)
class Population:
    """A population with the declarations of its tables."""

    family: str
    """Family that a user would declare."""
    outcome: Bins
    limits: Limits
    """Smallest and largest possible value."""
    draw: Draw
    fits: bool = False
    """True if the population is in the family."""

    @cached_property
    def many(self) -> tuple[Array, Array | None]:
        """Values for the truth."""
        return self.draw(np.random.default_rng(1), TRUTH)

    @cached_property
    def edges(self) -> tuple[float, float]:
        """Inner edges nearest to the median and to the 90 % quantile, which define shares."""
        inner = (np.exp(self.outcome.edges) if self.outcome.log else self.outcome.edges)[1:-1]
        below = (np.sort(self.many[0]).searchsorted(inner) + 0.5) / (TRUTH + 1)
        low, high = (float(inner[np.abs(below - level).argmin()]) for level in (0.5, 0.9))
        return low, high

    @cached_property
    def truth(self) -> dict[str, float]:
        """Values of the population."""
        y, x = self.many
        q10, median, q90 = np.quantile(y, [0.1, 0.5, 0.9], method="inverted_cdf")
        low, high = (float((y < edge).mean()) for edge in self.edges)
        named = {"mean": float(y.mean()), "q10": q10, "median": median, "q90": q90, "share": low, "tail share": high}
        if x is not None:
            named["slope"] = float(np.cov(x, np.log(y) if self.outcome.log else y)[0, 1] / x.var())
        return named


def usual_x(g: np.random.Generator, n: int) -> Array:
    """Draw the predictor that noisy tables assume."""
    return g.normal(2, 1, n)


def line(errors: Errors, x: Values = usual_x, limits: Limits = POSITIVE, *, log: bool = True, fits: bool = False) -> Population:
    """Make a population of amounts whose logarithm is 1 + x and an error that may depend on x, or of numbers along a line."""

    def drawn(g: np.random.Generator, n: int) -> tuple[Array, Array]:
        at = x(g, n)
        error = errors(g, at)
        return (np.exp(1 + at + error) if log else at + error), at

    family, outcome = ("lognormal_regression", LOG) if log else ("normal", NUMBERS)
    return Population(family, outcome, limits if log else NO_LIMITS, drawn, fits)


def alone(family: str, outcome: Bins, limits: Limits, draw: Values, fits: bool = False) -> Population:
    """Make a population without a predictor."""
    return Population(family, outcome, limits, lambda g, n: (draw(g, n).astype(float), None), fits)


def either(g: np.random.Generator, share: float, first: Array, second: Array) -> Array:
    """Select each value from ``first`` with probability ``share``, otherwise from ``second``."""
    return np.where(g.random(len(first)) < share, first, second)


def nb(g: np.random.Generator, n: int, mean: float, phi: float) -> Array:
    """Draw negative binomial counts."""
    return g.negative_binomial(phi, phi / (phi + mean), n)


def normal(g: np.random.Generator, x: Array) -> Array:
    """Draw standard normal errors."""
    return g.standard_normal(len(x))


def rounded_down(values: Array) -> Array:
    """Round amounts down to one significant digit."""
    unit = 10 ** np.floor(np.log10(np.maximum(values, 1e-3)))
    return np.floor(values / unit) * unit


def in_first_bin(g: np.random.Generator, n: int) -> Array:
    """Draw shares from Beta(0.5, 3), and move those below 0.05 to two points of the first bin."""
    y = g.beta(0.5, 3, n)
    return np.where(y < 0.05, either(g, 0.8, np.full(n, 0.049), np.full(n, 0.001)), y)


amounts, counts = partial(alone, "lognormal", LOG), partial(alone, "negative_binomial")
shares = partial(alone, "beta", SHARES, Limits(0, 1))
POPULATIONS: Mapping[str, Population] = {
    "errors that widen with x": line(lambda g, x: (0.5 + expit(2 * (x - 2))) * normal(g, x)),
    "t3 log errors": line(lambda g, x: 0.6 * g.standard_t(3, len(x))),
    "quadratic mean": line(lambda g, x: ((x - 2) ** 2 - 1) / 2 + 0.7 * normal(g, x)),
    "exponential predictor": line(lambda g, x: 0.7 * normal(g, x), lambda g, n: g.exponential(1, n)),
    "two groups": line(lambda g, x: np.minimum(0.7 * normal(g, x), 5), lambda g, n: 1 + 2.0 * (g.random(n) < 0.3), TOP_CODED),
    "skew log errors": line(lambda g, x: g.exponential(0.8, len(x)) - 0.8),
    "mixture of amounts": amounts(POSITIVE, lambda g, n: np.exp(either(g, 0.7, g.normal(1, 0.5, n), g.normal(4, 1, n)))),
    "Pareto tail, top-coded": amounts(TOP_CODED, lambda g, n: np.minimum(2 * g.random(n) ** (-1 / 1.5), TOP_CODED.high)),
    "spike at a minimum": amounts(POSITIVE, lambda g, n: np.maximum(np.exp(g.normal(3, 0.6, n)), math.exp(2.25))),
    "heaped amounts": amounts(
        TOP_CODED, lambda g, n: np.clip(rounded_down(np.exp(g.normal(3, 1.2, n))), 0.05, TOP_CODED.high)
    ),
    "beta-binomial counts": counts(Bins(0, 200, 20), Limits(0, 200), lambda g, n: g.binomial(200, g.beta(2, 4, n))),
    "U-shaped counts": counts(Bins(0, 24, 24), Limits(0, 24), lambda g, n: g.binomial(24, g.beta(0.4, 0.6, n))),
    "zero-inflated counts": counts(COUNTS, POSITIVE, lambda g, n: either(g, 0.25, np.zeros(n), nb(g, n, 80, 5))),
    "bimodal counts": counts(COUNTS, POSITIVE, lambda g, n: either(g, 0.6, g.poisson(40, n), g.poisson(130, n))),
    "counts heaped at bin edges": counts(COUNTS, Limits(0, 1000), lambda g, n: np.minimum(20 * (nb(g, n, 90, 4) // 20), 1000)),
    "bimodal shares": shares(lambda g, n: either(g, 0.6, g.beta(4, 20, n), g.beta(15, 5, n))),
    "heaped shares": shares(lambda g, n: np.clip(np.round(g.beta(2, 3, n), 1), 0.001, 0.999)),
    "two points in a bin": shares(in_first_bin),
    "rare share near 1": shares(lambda g, n: either(g, 0.02, np.full(n, 0.999), g.beta(1, 20, n))),
    "outliers along a line": line(lambda g, x: either(g, 0.05, 5 * normal(g, x), normal(g, x)), log=False),
    "inside: lognormal regression": line(normal, fits=True),
    "inside: normal regression": line(normal, log=False, fits=True),
    "inside: negative binomial": counts(COUNTS, POSITIVE, lambda g, n: nb(g, n, 100, 5), True),
    "inside: beta": shares(lambda g, n: g.beta(0.5, 3, n), True),
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A population with a number of records and an epsilon."""

    population: Population
    n: int
    epsilon: float
    seed: int

    def tables(self, number: int) -> tuple[PublicTables, np.random.Generator]:
        """Noisy tables of a data set, and the source of later randomness."""
        generator = np.random.default_rng([self.seed, self.n, round(1000 * self.epsilon), number])
        y, x = self.population.draw(generator, self.n)
        predictors = () if x is None else (X,)
        design = np.column_stack([np.ones(self.n), *([] if x is None else [x])])
        exact = Tables.of(Records(y, design), self.population.outcome, predictors)
        noisy = exact.with_counts(DiscreteLaplaceCounts(exact.flat, 1 / self.epsilon).noisy(generator, 1)[0])
        return PublicTables(self.population.outcome, predictors, noisy, 1 / self.epsilon, self.epsilon), generator

    def by_table(self, number: int) -> Mapping[str, Limits | None]:
        """Intervals from the noisy table."""
        of, (low, high) = self.population, self.population.edges
        table = OutcomeTable.of(self.tables(number)[0], of.limits, is_whole(FAMILIES[of.family]))
        return {
            "mean": table.mean(), "share": table.share_below(low), "tail share": table.share_below(high),
            "q10": table.quantile(0.1), "median": table.quantile(0.5), "q90": table.quantile(0.9),
        }  # fmt: skip

    def by_family(self, number: int) -> Mapping[str, Limits | None]:
        """Intervals from the posterior of the family."""
        public, generator = self.tables(number)
        family = FAMILIES[self.population.family]
        declared = tabled(family)
        assert declared is not None
        model = TablesModel(declared)
        data = model.stan_data(public, family.priors)
        density = TablesDensity(data)
        try:
            sample = importance_draws(density, density.point(model.inits(public, data)), generator, DRAWS)
        except (ValueError, np.linalg.LinAlgError):
            return {}
        draws = model.draws(density.sampled(sample.points), public)
        if sample.effective < FEWEST or contradicted(p_value(model, public, data, draws)):
            return {}
        x = density.predictor_draws(sample.points) if public.predictors else None
        values = quantities(self.population, draws, x)
        return {name: Limits(*np.quantile(of_draws, [0.025, 0.975])) for name, of_draws in values.items()}

    def covering(self, rule: str, sets: int) -> Iterator[dict[str, object]]:
        """Yield, for each quantity, the numbers of data sets, of intervals and of those that cover."""
        of_sets = [(self.by_table if rule == "table" else self.by_family)(number) for number in range(sets)]
        for name, true in self.population.truth.items():
            if rule == "family" or name != "slope":
                given = [limits for of in of_sets if (limits := of.get(name)) and all(map(math.isfinite, limits))]
                covered = sum(limits.low <= true <= limits.high for limits in given)
                yield {"quantity": name, "sets": sets, "given": len(given), "covered": covered}


def quantities(population: Population, draws: Mapping[str, Array], x: tuple[Array, Array] | None) -> dict[str, Array]:
    """Values (S,) of the quantities at draws."""
    low, high = population.edges
    slope = {}
    if "sigma" in draws:
        beta = draws["beta"]
        mean, spread = beta[:, 0], draws["sigma"]
        if x is not None:
            slope = {"slope": beta[:, 1]}
            mean, spread = mean + beta[:, 1] * x[0][:, 0], np.hypot(spread, beta[:, 1] * x[1][:, 0])
        of = stats.lognorm(spread, scale=np.exp(mean)) if population.outcome.log else stats.norm(mean, spread)
    elif "lambda" in draws:
        of = stats.beta(draws["lambda"] * draws["phi"], draws["lambda"] * (1 - draws["phi"]))
    else:
        of = stats.nbinom(draws["phi"], draws["phi"] / (draws["phi"] + draws["mu"]))
    below = 1 if is_whole(FAMILIES[population.family]) else 0
    named = {"mean": of.mean(), "q10": of.ppf(0.1), "median": of.ppf(0.5), "q90": of.ppf(0.9)}
    return named | {"share": of.cdf(low - below), "tail share": of.cdf(high - below)} | slope


def significant(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose coverage is significantly below LEAST, by Holm's method over all rows with intervals."""
    there = rows[rows.given > 0].copy()
    there["p"] = stats.binom.cdf(there.covered, there.given, LEAST)
    ordered = there.sort_values("p")
    steps = ordered.p.to_numpy() <= LEVEL / (len(ordered) - np.arange(len(ordered)))
    return ordered[np.logical_and.accumulate(steps)]


def percent(rows: pd.DataFrame) -> str:
    """Share of data sets with an interval."""
    return f"{100 * rows.given.sum() / rows.sets.sum():.0f} %"


def by_population(rows: pd.DataFrame) -> pd.DataFrame:
    """Smallest coverage by population and quantity, with the share given."""
    cells: dict[str, dict[str, str]] = {}
    for (population, quantity), part in rows.groupby(["population", "quantity"], sort=False):
        least, mark = (part.covered / part.given).min(), "**" if part.low.any() else ""
        cell = "none" if math.isnan(least) else f"{mark}{least:.2f}{mark} ({percent(part)})"
        cells.setdefault(str(population), {"population": str(population)})[str(quantity)] = cell
    return pd.DataFrame(cells.values()).fillna("")


def by_size(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverages by rule, n and epsilon, over the populations outside of families."""
    lines = []
    for (rule, n, epsilon), part in rows[~rows.fits].groupby(["rule", "n", "epsilon"]):
        coverage = (part.covered / part.given).dropna()
        lines.append({
            "rule": rule, "data sets": part.sets.min(), "n": n, "ε": f"{epsilon:g}", "given": percent(part),
            "smallest coverage": f"{coverage.min():.2f}", "mean coverage": f"{coverage.mean():.2f}",
            "significantly below 0.90": f"{part.low.sum()} of {len(coverage)}",
        })  # fmt: skip
    return pd.DataFrame(lines)


def undetected(sets: int = 5) -> Iterator[dict[str, str]]:
    """Yield the shift of a share that the test of fit misses, and half of the family's interval, for families that fit."""
    for (seed, (name, of)), n, epsilon in itertools.product(enumerate(POPULATIONS.items()), SIZES, EPSILONS):
        if not of.fits:
            continue
        cell, shifts, halves = Cell(of, n, epsilon, seed), [], []
        for number in range(sets):
            public = cell.tables(number)[0]
            table = OutcomeTable.of(public, of.limits)
            bins = int(np.argmax(table.edges >= of.edges[0]))
            shifts.append(table.undetected((np.arange(len(table.counts)) < bins).astype(float), len(public.noisy.flat) - 5))
            if interval := cell.by_family(number).get("share"):
                halves.append((interval.high - interval.low) / 2)
        yield {
            "family": name.removeprefix("inside: "), "n": str(n), "ε": f"{epsilon:g}",
            "shift of a share that passes the test in 10 % of data sets": f"{np.mean(shifts):.2f}",
            "half of the family's interval of the share": f"{np.mean(halves):.2f}",
        }  # fmt: skip


def measured(rule: str, sets: int, n: int, epsilon: float, seed: int) -> pd.DataFrame:
    """Count the intervals of one rule for data sets of one size from one population."""
    name, population = list(POPULATIONS.items())[seed]
    counts = pd.DataFrame(Cell(population, n, epsilon, seed).covering(rule, sets))
    return counts.assign(rule=rule, population=name, fits=population.fits, n=n, epsilon=epsilon)


def main(sets: int = 300, of_family: int = 100) -> None:
    """Measure all cells, write the tables, and print what covers too little."""
    cells = itertools.product((("table", sets), ("family", of_family)), SIZES, EPSILONS, range(len(POPULATIONS)))
    with ProcessPoolExecutor(2) as pool:
        rows = pd.concat(pool.map(measured, *zip(*((*rule, *cell) for rule, *cell in cells), strict=True)), ignore_index=True)
    rows["low"] = False
    for rule in TABLES:
        rows.loc[significant(rows[rows.rule == rule]).index, "low"] = True
    tables = {name: by_population(rows[rows.rule == rule]) for rule, name in TABLES.items()}
    for name, table in (tables | {"outside_sizes": by_size(rows), "undetected": pd.DataFrame(undetected())}).items():
        show(name, list(table), table.to_numpy().tolist())
    print(rows[rows.low].to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
