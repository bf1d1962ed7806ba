"""Families that can be fitted to noisy tables: kinds known to the Stan program ``noisy_tables``, and a family's declarations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from formalsynth.core.arrays import Array, Draws
from formalsynth.core.family import Family
from formalsynth.core.private import Bins

NORMAL, BETA, BETA_REGRESSION, GAMMA, POISSON, NEGATIVE_BINOMIAL, NEGATIVE_BINOMIAL_REGRESSION = range(1, 8)
"""Kinds of families known to the Stan program."""
MOST_NODES = 2000
"""Largest number of counts below the last bin."""


@dataclass(frozen=True)
class Tabled:
    """Declarations of a family that can be fitted to noisy tables."""

    kind: int
    """Kind of the family in the Stan program."""
    priors: tuple[str, ...]
    """Prior settings, in the order that the program expects."""
    of: Callable[[Array, Array], Draws]
    """Function from coefficients (S, p) and spread (S,) to draws of the family's parameters."""
    log: bool = False
    """True if the bins of the outcome have equal widths on the logarithmic scale."""
    predictors: int | None = None
    """Largest number of predictors; None for any."""
    least_spread: str = ""
    """Prior setting that gives the smallest value of the spread; empty for 0."""


def tabled(family: Family) -> Tabled | None:
    """Return a family's declarations for noisy tables; None if it cannot be fitted to them."""
    declared = getattr(family, "tabled", None)
    assert declared is None or isinstance(declared, Tabled)
    return declared


def has_distribution(family: Family) -> bool:
    """Return True if a family without :class:`Tabled` declares interval probabilities: ``distribution = True``."""
    return tabled(family) is None and bool(getattr(family, "distribution", False))


def fits_itself(family: Family, parameters: Mapping[str, float]) -> bool:
    """Return True if the family's own Stan program is sampled for noisy tables, instead of the program ``noisy_tables``."""
    return has_distribution(family) or any(parameters.get(name, 0) for name in ("x_discrete", "x_closed"))


def is_whole(family: Family) -> bool:
    """Return True if a family's outcomes are whole numbers."""
    return not family.outcomes.holds(np.array([0.5]))


def lowest(family: Family) -> float:
    """Lower end of the outcomes of a family: 0 or minus infinity."""
    return -math.inf if family.outcomes.holds(np.array([-1.0])) else 0.0


def check_rows(family: Family, outcome: Bins, predictors: tuple[Bins, ...]) -> None:
    """Check tables of a family that its own program fits.

    Raises:
        ValueError: there is more than one predictor, or the bins contain impossible outcomes.
    """
    if len(predictors) > 1:
        raise ValueError(f"noisy tables of this family allow at most 1 predictor, but the design has {len(predictors)}")
    edges = np.exp(outcome.edges) if outcome.log else outcome.edges
    inside = np.rint(edges[1:-1]) if is_whole(family) else (edges[1:] + edges[:-1]) / 2
    if not family.outcomes.holds(inside):
        raise ValueError(f"noisy tables: bins from {outcome.low:g} to {outcome.high:g}, but outcomes are {family.outcomes.what}")


def check(declared: Tabled, outcome: Bins, predictors: tuple[Bins, ...]) -> None:
    """Check that a family has a model of these tables.

    Raises:
        ValueError: it has none.
    """
    most = declared.predictors
    if most is not None and len(predictors) > most:
        raise ValueError(f"noisy tables of this family allow at most {most} predictors, but the design has {len(predictors)}")
    if outcome.number < 2:
        raise ValueError("noisy tables need at least 2 bins of the outcome")
    if declared.kind in (BETA, BETA_REGRESSION) and not (outcome.edges[1] > 0 and outcome.edges[-2] < 1):
        raise ValueError("noisy tables of proportions need bins from 0 to 1")
    if declared.kind >= POISSON and not 0 < outcome.edges[-2] <= MOST_NODES:
        raise ValueError(f"noisy tables of counts need a last bin that starts above 0 and at {MOST_NODES} or below")


def normal_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a regression with coefficients and standard deviation."""
    return {"beta": coefficient, "sigma": spread}


def beta_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a Beta distribution with mean and precision."""
    return {"phi": expit(coefficient[:, 0]), "lambda": spread}


def beta_regression_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a Beta regression."""
    return {"coefficient": coefficient, "lambda": spread}


def gamma_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a gamma regression."""
    return {"beta": coefficient, "shape": spread}


def poisson_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a Poisson distribution."""
    return {"mu": np.exp(coefficient[:, 0])}


def negative_binomial_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a negative binomial distribution; the spread is 1 / phi."""
    return {"mu": np.exp(coefficient[:, 0]), "phi": 1 / spread}


def negative_binomial_regression_draws(coefficient: Array, spread: Array) -> Draws:
    """Draws of a negative binomial regression; the spread is 1 / phi."""
    return {"beta": coefficient, "phi": 1 / spread}
