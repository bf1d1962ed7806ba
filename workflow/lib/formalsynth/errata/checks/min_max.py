"""Contraction of bounds: min-max weights, weights with a declared scale, and a censored likelihood."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.limit_law import law
from formalsynth.audit.risks import RISK_POPULATIONS, DataSet, RiskPopulation
from formalsynth.core.arrays import Array
from formalsynth.core.weights import lipschitz_weights, scaled_weights
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check
from formalsynth.errata.exact_draws import min_max_bound, simulated_records

SIZES = {100: 500, 1000: 500, 10_000: 400, 100_000: 250}
"""Number of simulated data sets, keyed by their number of records."""
FIRST, LAST = 1000, 100_000
"""Sample sizes at which spread and median are compared; the first is that of the papers."""
SCALE, EPSILON = 10.0, 4.0
"""Declared scale of the weights, and ε of the censored likelihood."""
REGRESSION, DRAWN = "lognormal regression", 150
"""Name of the population with predictors, and its number of data sets with posterior draws."""
GUMBEL_SD = 1.05
"""Standard error of the sample sd of Gumbel variables (kurtosis 5.4), in units of ``sd / sqrt(R)``."""
COLUMNS = ("min-max, true parameter", "min-max", "declared scale", "censored")


@dataclass(frozen=True)
class Bounds:
    """Bounds of R data sets of one size: R values for each of :data:`COLUMNS`."""

    columns: tuple[Array, ...]

    def median(self, column: str) -> float:
        """Median of one column."""
        return float(np.median(self._of(column)))

    def sd(self, column: str) -> tuple[float, float]:
        """Compute the standard deviation of one column, with its Monte Carlo standard error."""
        sd = float(self._of(column).std(ddof=1))
        return sd, GUMBEL_SD * sd / math.sqrt(len(self._of(column)))

    def _of(self, column: str) -> Array:
        return self.columns[COLUMNS.index(column)]


@dataclass(frozen=True)
class Contraction:
    """Spread at the larger size, predicted from that at the smaller size, and predicted growth of the median."""

    sd: Callable[[RiskPopulation, float], float]
    growth: Callable[[RiskPopulation], float]


def _root_n(population: RiskPopulation, first: float) -> float:
    return first / math.sqrt(LAST / FIRST)


def _law_sd(population: RiskPopulation, first: float) -> float:
    return law(population, LAST).sd


def _law_growth(population: RiskPopulation) -> float:
    return law(population, LAST).median - law(population, FIRST).median


def drawn(n: int) -> Array:
    """Bounds of :data:`DRAWN` data sets of the regression, with 1000 draws of both exact posteriors instead of modes."""
    generator = np.random.default_rng([17, n])
    return np.array([min_max_bound(simulated_records(generator, n), generator, 1000) for _ in range(DRAWN)])


def table() -> Iterator[str]:
    """Lines of the table: every size of every population, with the limit law."""
    head = f"{'n':>8} {'a':>5} {'law':>12} {COLUMNS[0]:>24} {COLUMNS[1]:>18} {COLUMNS[2]:>18} {COLUMNS[3]:>18}"
    for population in RISK_POPULATIONS:
        yield f"  {population.name}: median and sd of Δ (± Monte Carlo error of the sd)"
        yield "  " + head
        for n in SIZES:
            bounds, limit = simulated(population, n), law(population, n)
            cells = [f"{bounds.median(name):.3f}  {bounds.sd(name)[0]:.3f} ± {bounds.sd(name)[1]:.3f}" for name in COLUMNS]
            yield f"  {n:>8} {limit.a:5.2f} {f'{limit.median:.3f}  {limit.sd:.3f}':>12} {cells[0]:>24}" + "".join(
                f" {cell:>18}" for cell in cells[1:]
            )

    yield f"  {REGRESSION}, min-max weights with 1000 draws of both exact posteriors, {DRAWN} data sets"
    for n in list(SIZES)[:-1]:
        from_draws = drawn(n)
        sd = float(from_draws.std(ddof=1))
        yield f"  {n:>8} {np.median(from_draws):.3f}  {sd:.3f} ± {GUMBEL_SD * sd / math.sqrt(DRAWN):.3f}"


@numeric_check(
    "contraction",
    table=lambda: list(table()),
    printed=Reading("bounds contract onto one value at the rate n^(−1/2)", Contraction(_root_n, lambda _: 0.0)),
    derived=Reading(
        "Δ = M² / (4 (M − m)), M = b_n + a G with G a Gumbel variable: sd to a π / (4 √6) = 0.32 a, median as (a/4) log n",
        Contraction(_law_sd, _law_growth),
    ),
)
def bounds_of_min_max_weights(formula: Contraction) -> Sequence[Comparison]:
    """Bounds of LW weights over data sets, from n = 1000 to 100,000: spread and growth of the median."""
    rows = []
    for population in RISK_POPULATIONS:
        first, last = simulated(population, FIRST), simulated(population, LAST)
        sd, error = last.sd("min-max")
        spread, how = formula.sd(population, first.sd("min-max")[0]), f"{SIZES[LAST]} simulated data sets, both fits"
        rows += [
            Comparison(f"{population.name}: sd at n = {LAST:,}", exactly(spread), near(sd, 4 * error), how),
            Comparison(
                f"{population.name}: growth of the median", exactly(formula.growth(population)), _growth(first, last), how
            ),
        ]
    return [*rows, *_contracting()]


def _growth(first: Bounds, last: Bounds) -> Interval:
    """Difference of two medians, each with an error of ``1.25 sd / sqrt(R)``, and 0.05 for the error of the fits."""
    errors = [1.25 * bounds.sd("min-max")[0] / math.sqrt(SIZES[n]) for bounds, n in ((first, FIRST), (last, LAST))]
    return near(last.median("min-max") - first.median("min-max"), 4 * math.hypot(*errors) + 0.05)


def _contracting() -> Iterator[Comparison]:
    """Comparisons for a declared scale without predictors and a censored likelihood; both contract under either reading."""
    for population in RISK_POPULATIONS:
        first, last = simulated(population, FIRST), simulated(population, LAST)
        if population.name != REGRESSION:
            ratio = last.sd("declared scale")[0] / first.sd("declared scale")[0]
            what = f"{population.name}: sd ratio, declared scale"
            yield Comparison(
                what, Interval(0.0, 0.25), exactly(ratio), "n^(−1/2) gives 0.1; the bounds contract under both readings"
            )
        censored = exactly(last.sd("censored")[0])
        yield Comparison(f"{population.name}: sd, censored", exactly(0.0), censored, f"Δ = ε/2 = {EPSILON / 2:g} always")


@functools.cache
def simulated(population: RiskPopulation, n: int) -> Bounds:
    """Bounds of simulated data sets, as many as in :data:`SIZES`."""
    generator = np.random.default_rng([16, RISK_POPULATIONS.index(population), n])
    rows = np.array([_bounds(population.draw(generator, n)) for _ in range(SIZES[n])])
    return Bounds(tuple(rows.T))


def _bounds(data: DataSet) -> tuple[float, float, float, float]:
    """Bounds of one data set, in the order of :data:`COLUMNS`."""
    true = data.true_risk
    risk = data.risk(np.ones_like(true))
    alpha, scaled = lipschitz_weights(risk), scaled_weights(risk, SCALE)
    return (
        float((lipschitz_weights(true) * true).max()),
        float((alpha * data.risk(alpha)).max()),
        float((scaled * data.risk(scaled)).max()),
        min(float(risk.max()), EPSILON / 2),
    )
