"""Data sets of the comparison, each with declarations that do not use the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from formalsynth.core import data_files as files
from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.population import POPULATIONS
from formalsynth.core.private import Bins
from formalsynth.core.registry import load as load_modules
from formalsynth.core.tables import NEGATIVE_BINOMIAL, NEGATIVE_BINOMIAL_REGRESSION, POISSON, Tabled, tabled

Draw = Callable[[np.random.Generator], Records]
COUNTS = (POISSON, NEGATIVE_BINOMIAL, NEGATIVE_BINOMIAL_REGRESSION)
"""Kinds of count families."""


@dataclass(frozen=True)
class Task:
    """A data set with the declarations that mechanisms use; declared values may not be chosen by looking at the data."""

    name: str
    label: str
    family: str
    size: int
    """Declared approximate number of records."""
    draw: Draw
    """Function that draws a data set, or reads it."""
    outcome: tuple[float, float, int]
    """Bounds of the outcome, and its number of bins in tables."""
    histogram: tuple[float, float, int]
    """Bounds of the outcome, and its number of bins in a histogram alone."""
    predictor: tuple[float, float, int] = (-1.0, 1.0, 8)
    """Bounds of each predictor, and its number of bins."""
    spread: float = 0.25
    """Smallest standard deviation of the errors of a regression, on the scale of the family."""

    @property
    def tabled(self) -> Tabled:
        """Declarations of the family."""
        declared = tabled(FAMILIES[self.family])
        assert declared is not None
        return declared

    @property
    def log(self) -> bool:
        """True if the family works on logarithms of the outcome."""
        return self.tabled.log

    @property
    def bins(self) -> Bins:
        """Bins of the outcome."""
        low, high, number = self.outcome
        return Bins(low, high, number, self.log)

    @property
    def predictor_bins(self) -> Bins:
        """Bins of each predictor."""
        return Bins(*self.predictor)

    def scaled(self, x: Array) -> Array:
        """Outcome (n,) on the scale of the family."""
        return np.log(x) if self.log else x

    def unscaled(self, values: Array) -> Array:
        """Inverse of :meth:`scaled`."""
        return np.exp(values) if self.log else values

    def rounded(self, records: Records) -> Records:
        """Round synthetic counts to whole numbers; other outcomes are unchanged."""
        return Records(np.rint(records.x), records.design) if self.tabled.kind in COUNTS else records


def three_predictors(generator: np.random.Generator, correlation: float) -> Records:
    """Draw 3000 records with normal predictors: ``x = 2 + z1 - 0.5 z2 + 0.3 z3 + 0.8 noise``."""
    covariance = np.full((3, 3), correlation) + (1 - correlation) * np.eye(3)
    z = generator.multivariate_normal(np.zeros(3), covariance, 3000)
    x = 2 + z @ np.array([1, -0.5, 0.3]) + 0.8 * generator.standard_normal(3000)
    return Records(x, np.column_stack([np.ones(3000), z]))


def _population(name: str, n: int, **parameters: float) -> Draw:
    return lambda generator: POPULATIONS[name].function(generator, n, **parameters)


def _file(name: str) -> Draw:
    return lambda generator: files.load(name, "")


def _three(correlation: float) -> Draw:
    return lambda generator: three_predictors(generator, correlation)


def tasks() -> Mapping[str, Task]:
    """List the data sets by name."""
    for register in (FAMILIES, POPULATIONS):
        register.find()
    load_modules(["formalsynth.data.fatigue", "formalsynth_workflow.papers.reps.files"])
    counts = _population("negative_binomial_mixture", 1000, share=1.0, mu1=100, phi1=10, mu2=100, phi2=10)
    mixture = _population("negative_binomial_mixture", 1000, share=0.2, mu1=100, phi1=5, mu2=100, phi2=20)
    line = _population("lognormal_on_normal", 2000, predictor_mean=2, predictor_sd=1, intercept=1, sigma=1)
    beta = _population("beta", 2000, shape1=0.5, shape2=3)
    normal = (-4.0, 8.0, 14), (-4.0, 8.0, 44), (-3.0, 3.0, 8)
    every = [
        Task("beta", "Beta(0.5, 3), n = 2000", "beta", 2000, beta, (0, 1, 10), (0, 1, 44)),
        Task(
            "lognormal", "Lognormal regression, n = 2000", "lognormal_regression", 2000, line,
            (0.0067379, 59874.1, 16), (0, 1000, 44), (-2, 6, 8),
        ),
        Task("independent", "Three independent predictors, n = 3000", "normal", 3000, _three(0.0), *normal),
        Task("correlated", "Three predictors, correlations 0.5, n = 3000", "normal", 3000, _three(0.5), *normal),
        Task("counts", "Negative binomial, n = 1000", "negative_binomial", 1000, counts, (0, 400, 31), (0, 400, 31)),
        Task("mixture", "Negative binomial mixture, n = 1000", "negative_binomial", 1000, mixture, (0, 400, 31), (0, 400, 31)),
        Task(
            "incomes", "Incomes with zeros, two modes and a tail", "lognormal", 2000, _population("incomes", 2000),
            (1, 1e6, 20), (0, 2e5, 44),
        ),
        Task(
            "cycles", "Fatigue cycles, n = 22", "lognormal", 22, _file("fatigue_cycles"),
            (100, 1e7, 8), (0, 1e6, 10),
        ),
        Task(
            "hours", "Adult hours, n = 32,561", "negative_binomial", 32_000, _file("adult_hours"),
            (0, 100, 20), (-0.5, 99.5, 100),
        ),
        Task(
            "credit", "German credit, amount on duration, n = 1000", "lognormal_regression", 1000, _file("german_amounts"),
            (148.4, 36316.0, 14), (0, 20_000, 44), (0, 72, 9),
        ),
    ]  # fmt: skip
    return {task.name: task for task in every}
