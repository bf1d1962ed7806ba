"""E7: settings and scripts of the reweight paper's supplement."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy import optimize, stats

from formalsynth.errata.check import Comparison, Interval, Reading, exactly, numeric_check

SHARE, MEAN = 0.2, 100.0
"""Share of the first component, and mean of both components, as in Section 3.1 and Supplement 5."""


@dataclass(frozen=True)
class Supplement:
    """Dispersions of the mixture, and the smallest value of 1/φ in the Stan program."""

    phi: tuple[float, float]
    lowest: float


@numeric_check(
    "E7",
    printed=Reading("φ = 5 and 5; 1/φ ~ Cauchy(0, 5) without a lower bound", Supplement((5.0, 5.0), -math.inf)),
    derived=Reading("φ = 5 and 20; 1/φ ~ Cauchy(0, 5) above 0", Supplement((5.0, 20.0), 0.0)),
)
def settings_of_the_supplement(formula: Supplement) -> Sequence[Comparison]:
    """Quantiles of the mixture, and the mass of the prior on valid dispersions."""
    prior = stats.cauchy(0.0, 5.0)
    mass = float(prior.sf(0.0) / prior.sf(formula.lowest)) if math.isfinite(formula.lowest) else float(prior.sf(0.0))
    how = "printed in Table 1: interval of the data"
    return [
        Comparison("15 % quantile of the mixture", exactly(_quantile(0.15, formula.phi)), Interval(70.0, 75.0), how),
        Comparison("90 % quantile of the mixture", exactly(_quantile(0.9, formula.phi)), Interval(132.0, 140.0), how),
        Comparison("prior mass of 1/φ above 0", exactly(mass), exactly(1.0), "a dispersion must be positive"),
    ]


def _quantile(share: float, phi: tuple[float, float]) -> float:
    """Quantile of the mixture, from its distribution function, interpolated linearly between whole numbers."""
    parts = [stats.nbinom(size, size / (size + MEAN)) for size in phi]

    def mixture(x: float) -> float:
        return float(SHARE * parts[0].cdf(x) + (1 - SHARE) * parts[1].cdf(x))

    return float(optimize.bisect(lambda x: _between(mixture, x) - share, 0.0, 20 * MEAN, xtol=1e-6))


def _between(distribution: Callable[[float], float], x: float) -> float:
    low = math.floor(x)
    return distribution(low - 1.0) * (low + 1 - x) + distribution(float(low)) * (x - low)
