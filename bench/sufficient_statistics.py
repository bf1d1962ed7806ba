"""Intervals from noisy sufficient statistics and from noisy tables, on the same data: python bench/sufficient_statistics.py.

Noisy sufficient statistics are those of Asiaee and Pal 2026 (arXiv:2603.02010): the mean of the clipped statistics with Gaussian
noise, the parameters that have it as their expectation, and a Wald interval whose variance includes that of the noise. Clipping,
noise and calibration are ours, from the description of the method: this is not the authors' program. Both mechanisms protect the
values of one record among n, which is public; Gaussian noise has a delta of 1e-5, noisy tables have none. The bounds of the
statistics were chosen with knowledge of the population. Where no parameters have the noisy statistics there is no interval, which
counts as not covering; widths are medians of the others.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from page import show
from scipy.optimize import root
from scipy.special import digamma, polygamma

from formalsynth.core.arrays import Array, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.gaussian import analytic_sigma
from formalsynth.core.normal import NORMAL_95
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.core.tables import tabled
from formalsynth.inference.density import TablesDensity, importance_draws
from formalsynth.inference.tables_model import TablesModel

DELTA, SEED = 1e-5, 603_02010


@dataclass(frozen=True)
class Case:
    """A family with its population, declarations, and the mean as a function of its parameters."""

    family: str
    label: str
    draw: Callable[[np.random.Generator, int], Array]
    truth: float
    bins: Bins
    statistics: Callable[[Array], Array]
    """Sufficient statistics (n, k) of the values, clipped to declared bounds."""
    width: float
    """Euclidean distance of the bounds' ends."""
    wald: Callable[[Array, float, int], tuple[float, float]]
    """Function from the noisy mean of the statistics, the variance of its noise and n to the mean and its standard error."""


def poisson(noisy: Array, variance: float, n: int) -> tuple[float, float]:
    """Estimate the mean of a Poisson distribution with its standard error."""
    mean = max(float(noisy[0]), 1 / n)
    return mean, float(np.sqrt(mean / n + variance))


def beta(noisy: Array, variance: float, n: int) -> tuple[float, float]:
    """Estimate the mean of a Beta distribution with its standard error."""
    solution = root(lambda log: digamma(np.exp(log)) - digamma(np.exp(log).sum()) - noisy, np.log([0.5, 2.0]))
    if not solution.success:
        return np.nan, np.nan
    a, b = np.exp(solution.x)
    inverse = np.linalg.inv(np.diag(polygamma(1, [a, b])) - polygamma(1, a + b))
    gradient = np.array([b, -a]) / (a + b) ** 2
    return a / (a + b), float(np.sqrt(gradient @ (inverse / n + variance * inverse @ inverse) @ gradient))


CASES = (
    Case("poisson", "Poisson(4)", lambda generator, n: generator.poisson(4, n).astype(float), 4.0, Bins(0, 16, 16),
         lambda x: np.clip(x, 0, 16)[:, None], 16.0, poisson),
    Case("beta", "Beta(0.5, 3)", lambda generator, n: generator.beta(0.5, 3, n), 0.5 / 3.5, Bins(0, 1, 20),
         lambda x: np.clip(np.column_stack([np.log(x), np.log1p(-x)]), [-12, -3], 0), float(np.hypot(12, 3)), beta),
)  # fmt: skip


def by_statistics(case: Case, x: Array, epsilon: float, generator: np.random.Generator) -> tuple[float, float]:
    """Compute the interval from noisy sufficient statistics."""
    sigma = analytic_sigma(case.width / len(x), epsilon, DELTA)
    statistics = case.statistics(x).mean(axis=0)
    mean, error = case.wald(statistics + sigma * generator.standard_normal(len(statistics)), sigma**2, len(x))
    return mean - NORMAL_95 * error, mean + NORMAL_95 * error


def by_tables(case: Case, x: Array, epsilon: float, generator: np.random.Generator) -> tuple[float, float]:
    """Compute the interval from a noisy table, whose claim for replacing a record is twice that for adding one."""
    family, exact, scale = FAMILIES[case.family], Tables.of(intercept_only(x), case.bins, ()), 2 / epsilon
    noisy = exact.with_counts(DiscreteLaplaceCounts(exact.flat, scale).noisy(generator, 1)[0])
    declared = tabled(family)
    assert declared is not None
    model, public = TablesModel(declared), PublicTables(case.bins, (), noisy, scale, epsilon / 2)
    density = TablesDensity(model.stan_data(public, family.priors))
    start = density.point(model.inits(public, density.data))
    draws = model.draws(density.sampled(importance_draws(density, start, generator).points), public)
    low, high = np.quantile(draws["mu" if case.family == "poisson" else "phi"], [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Compare coverage and width."""
    parser = argparse.ArgumentParser(description="Compare intervals from noisy sufficient statistics and from noisy tables.")
    parser.add_argument("--replicates", type=int, default=200)
    replicates = parser.parse_args().replicates
    FAMILIES.find()
    rows = []
    for case in CASES:
        for n in (250, 2000):
            for epsilon in (0.5, 1.0):
                cells = []
                for method in (by_statistics, by_tables):
                    generator = np.random.default_rng(SEED)
                    ends = np.array([method(case, x, epsilon, generator) for x in data_sets(case, n, replicates)])
                    covered = ((ends[:, 0] <= case.truth) & (case.truth <= ends[:, 1])).mean()
                    cells += [f"{covered:.2f}", f"{np.nanmedian(ends[:, 1] - ends[:, 0]):.2g}"]
                rows.append([case.label, n, f"{epsilon:g}", *cells])
    head = ["population", "n", "ε", "statistics: coverage", "statistics: width", "tables: coverage", "tables: width"]
    show("sufficient_statistics", head, rows)


def data_sets(case: Case, n: int, replicates: int) -> list[Array]:
    """Draw the data sets, the same for both methods."""
    generator = np.random.default_rng([SEED, n])
    return [case.draw(generator, n) for _ in range(replicates)]


if __name__ == "__main__":
    main()
