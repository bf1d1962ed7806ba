"""Bounds of simulated data sets by sample size: python bench/contraction.py. It writes bench/tables/contraction.csv.

``tests/errata/test_contraction.py`` compares them with the limit law; about 20 seconds of processor time.
"""

import math

import numpy as np
from page import show
from risk_data import DATA, DataSet

from formalsynth.audit.limit_law import law
from formalsynth.audit.risks import RISK_POPULATIONS, RiskPopulation
from formalsynth.core.arrays import Array
from formalsynth.core.weights import lipschitz_weights, scaled_weights

SIZES = {100: 500, 1000: 500, 10_000: 400, 100_000: 250}
"""Number of simulated data sets, keyed by their number of records."""
SCALE, EPSILON = 10.0, 4.0
"""Declared scale of the weights, and ε of the censored likelihood."""
GUMBEL_SD = 1.05
"""Standard error of the sample sd of Gumbel variables (kurtosis 5.4), in units of ``sd / sqrt(R)``."""
COLUMNS = ("min-max, true parameter", "min-max", "declared scale", "censored")
HEAD = ("population", "n", "a", "law", *COLUMNS)


def simulated(population: RiskPopulation, n: int, number: int) -> dict[str, Array]:
    """Bounds (R,) of a number of data sets, for each of :data:`COLUMNS`."""
    generator = np.random.default_rng([16, RISK_POPULATIONS.index(population), n])
    bounds = np.array([_bounds(DATA[population.name].draw(generator, n)) for _ in range(number)])
    return dict(zip(COLUMNS, bounds.T, strict=True))


def _bounds(data: DataSet) -> tuple[float, ...]:
    """Bounds of one data set, in the order of :data:`COLUMNS`."""
    true, risk = data.true_risk, data.risk(np.ones_like(data.true_risk))
    alpha, scaled = lipschitz_weights(risk), scaled_weights(risk, SCALE)
    largest = [(lipschitz_weights(true) * true).max(), (alpha * data.risk(alpha)).max(), (scaled * data.risk(scaled)).max()]
    return *map(float, largest), min(float(risk.max()), EPSILON / 2)


def sd_with_error(bounds: Array) -> tuple[float, float]:
    """Compute the standard deviation of bounds (R,), with its Monte Carlo standard error."""
    sd = float(bounds.std(ddof=1))
    return sd, GUMBEL_SD * sd / math.sqrt(len(bounds))


def main() -> None:
    """Print and write median and standard deviation of the bound for each population, sample size and kind of weights."""
    rows = []
    for population in RISK_POPULATIONS:
        for n, number in SIZES.items():
            limit, columns = law(population, n), simulated(population, n, number).values()
            cells = [f"{np.median(bounds):.2f}, {'{:.3f} ± {:.3f}'.format(*sd_with_error(bounds))}" for bounds in columns]
            rows.append([population.name, f"{n:,}", f"{limit.a:.2f}", f"{limit.median:.2f}, {limit.sd:.3f}", *cells])
    show("contraction", HEAD, rows)


if __name__ == "__main__":
    main()
