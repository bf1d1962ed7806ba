"""Contracts and registers of the three stages: scorers, weight maps and learners (REPS paper, Algorithm 1).

To add one, write a file in the folder of its register. Neighbours are add/remove: a record is replaced with a null record that
contributes nothing; the number of records is declared.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import analytic_sigma, classical_sigma, gaussian_epsilon
from formalsynth.core.registry import Registry
from formalsynth.reps.domain import Domain, MixedRecords

Composition = Literal["joint", "classical", "per_part", "renyi"]
"""Calibration of Gaussian noise for several parts: the smallest noise for one release of all, the classical formula for one
release of all, the classical formula with a share of the budget for each part, or Renyi composition."""


@dataclass(frozen=True)
class Budget:
    """Privacy budget of a stage."""

    epsilon: float
    """Infinite for no noise."""
    delta: float


class Cost(Protocol):
    """Privacy cost of a stage for a record with a given weight, whatever the other records are."""

    def epsilon(self, delta: float, weight: float = 1.0, before: float = 0.0) -> float:
        """Smallest epsilon at ``delta``, for any record of weight at most ``weight``.

        Args:
            delta: in (0, 1).
            weight: in [0, 1].
            before: Gaussian cost mu of the releases before this stage, such as the noisy tables, which are composed with it.
        """
        ...


@dataclass(frozen=True)
class GaussianCost:
    """Cost of Gaussian releases."""

    mu: float
    """Root of the sum of squared sensitivities in units of the noise; infinite without noise."""

    @classmethod
    def of(cls, sensitivity: float, sigma: float) -> GaussianCost:
        """Cost of noise ``sigma`` on a statistic of this L2 sensitivity, which is 0 if nothing is released."""
        return cls(sensitivity / sigma if sigma else math.inf if sensitivity else 0.0)

    def epsilon(self, delta: float, weight: float = 1.0, before: float = 0.0) -> float:
        """Smallest epsilon at ``delta``; arguments as in :meth:`Cost.epsilon`."""
        mu = math.hypot(weight * self.mu if weight > 0 else 0.0, before)
        if mu in (0.0, math.inf):
            return mu
        return gaussian_epsilon(1.0, mu, delta)


def check_weights(weights: Array) -> None:
    """Check weights (n,) before a release: its sensitivity is that of weights in [0, 1].

    Raises:
        ValueError: a weight is outside, or is not a number.
    """
    if not ((weights >= 0) & (weights <= 1)).all():
        raise ValueError("weights: allowed: numbers in [0, 1]")


def sigma_of(parts: int, budget: Budget, composition: Composition = "joint") -> float:
    """Noise of each count for a release of ``parts`` parts of sensitivity 1 each; 0 for an infinite budget or without parts."""
    if parts == 0 or math.isinf(budget.epsilon):
        return 0.0
    if composition == "per_part":
        return classical_sigma(1.0, budget.epsilon / parts, budget.delta / parts)
    if composition == "renyi":
        # The divergences are alpha rho, which gives epsilon = rho + 2 sqrt(rho log(1 / delta)).
        tail = math.log(1 / budget.delta)
        return math.sqrt(parts / 2) / (math.sqrt(tail + budget.epsilon) - math.sqrt(tail))
    return (analytic_sigma if composition == "joint" else classical_sigma)(math.sqrt(parts), budget.epsilon, budget.delta)


class Tables(Protocol):
    """Noisy tables T of stage 1; all functions of them are post-processing."""

    def score(self, records: MixedRecords) -> Array:
        """Scores (n,), nonnegative: each depends on T and on its own record only."""
        ...

    def draw_scores(self, generator: np.random.Generator, n: int) -> Array:
        """Scores (n,) of records drawn from T, for a threshold that does not use the confidential records again."""
        ...


class Scorer(ABC):
    """Stage 1: one or several rounds of Gaussian noise on parts of L2 sensitivity 1 each."""

    rounds: int = 1

    @abstractmethod
    def parts(self, domain: Domain) -> int:
        """Return the number of parts of all rounds, each moved by at most 1 by a record; 0 for a scorer of public data only."""

    @abstractmethod
    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Statistic of a round, without noise, given the noisy tables of the round before."""

    @abstractmethod
    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Tables of a round from its noisy statistic."""


@dataclass(frozen=True)
class Scored:
    """Output of stage 1."""

    tables: Tables
    cost: GaussianCost
    sigma: float


def score(
    scorer: Scorer,
    domain: Domain,
    records: MixedRecords,
    budget: Budget,
    generator: np.random.Generator,
    composition: Composition = "joint",
) -> Scored:
    """Release the noisy tables of a scorer.

    Args:
        scorer: an entry of ``SCORERS``, made with its settings.
        domain: the declared columns.
        records: the confidential records.
        budget: budget of all rounds together.
        generator: source of the noise.
        composition: calibration of the noise; the cost of the result is exact for each.
    """
    parts = scorer.parts(domain)
    sigma = sigma_of(parts, budget, composition)
    tables = None
    for _ in range(scorer.rounds):
        statistic = scorer.statistic(domain, records, tables)
        tables = scorer.tables(domain, statistic + sigma * generator.standard_normal(statistic.shape), tables)
    assert tables is not None
    return Scored(tables, GaussianCost.of(math.sqrt(parts), sigma), sigma)


@dataclass(frozen=True)
class Risk:
    """Input of a weight map: declared settings, T, and quantities of each record that depend on it and on T only."""

    scores: Array = field(repr=False)
    """(n,)."""
    threshold: float
    """Threshold tau of high scores."""
    influence: Array = field(default_factory=lambda: np.empty(0), repr=False)
    """(n,) norm of each record's own contribution with weight 1, relative to the largest that is allowed."""
    strength: float = 1.0
    """Rate lam at which weights decrease."""
    cap: float = 0.5
    """Largest weighted influence of a protected record."""
    redrawn: Array | None = field(default=None, repr=False)
    """(n,) scores of records drawn from T; None without them."""


@dataclass(frozen=True)
class WeightMap:
    """Map from risk to weights in [0, 1]."""

    function: Callable[[Risk], Array]
    alone: bool
    """True if a weight depends on T and on its own record only, so the other weights stay when a record is removed."""


class Model(Protocol):
    """A generator of records."""

    def sample(self, generator: np.random.Generator, n: int) -> MixedRecords:
        """Draw n records; the random numbers do not depend on the parameters, so models are compared with equal draws."""
        ...

    def log_density(self, records: MixedRecords) -> Array:
        """Log density (n,) of records, up to a constant that is the same for all models of the class."""
        ...


@dataclass(frozen=True)
class Learned:
    """Output of stage 2."""

    model: Model
    cost: Cost


class Learner(Protocol):
    """Stage 2: a private fit to weighted records. A learner is a frozen dataclass whose fields are its settings."""

    def influence(self, domain: Domain, records: MixedRecords) -> Array:
        """Largest norm (n,) of each record's contribution with weight 1, relative to the clipping norm: in [0, 1]."""
        ...

    def fit(
        self, domain: Domain, records: MixedRecords, weights: Array, budget: Budget, generator: np.random.Generator
    ) -> Learned:
        """Fit a generator.

        Args:
            domain: the declared columns.
            records: the confidential records.
            weights: (n,) in [0, 1]; each depends on the noisy tables and on its own record only.
            budget: budget of a record of weight 1; an infinite epsilon means no noise.
            generator: source of all randomness of the fit.
        """
        ...


SCORERS: Registry[Callable[..., Scorer]] = Registry("scorer", "reps/scorers/*.py")
"""Classes of scorers; their fields are their settings."""
WEIGHT_MAPS: Registry[WeightMap] = Registry("weight map", "reps/weight_maps/*.py")
LEARNERS: Registry[Callable[..., Learner]] = Registry("learner", "reps/learners/*.py")
"""Classes of learners; their fields are their settings."""


def weight_map(name: str, *, alone: bool = True) -> Callable[[Callable[[Risk], Array]], Callable[[Risk], Array]]:
    """Register a function as a weight map under a name."""

    def register(function: Callable[[Risk], Array]) -> Callable[[Risk], Array]:
        WEIGHT_MAPS.add(name, WeightMap(function, alone), function.__module__)
        return function

    return register
