"""What a model family offers to the rest of the core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from formalsynth.allowed import Allowed

Array = NDArray[np.float64]
Records = Mapping[str, Array]
"""One confidential data set: ``x`` (n,) the outcome and ``design`` (n, p) the predictors, constant included."""
Draws = Mapping[str, Array]
"""Posterior draws: each parameter with the S draws along its first axis."""
BLOCK = 1 << 15
"""Elements of a block: its few arrays fit into the cache, and the memory that one block leaves serves the next. With larger
ones it goes back to the system and is fetched again, which takes longer than the arithmetic."""


class Predictor(Protocol):
    """Whatever turns draws into synthetic values."""

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """One predictive value for each draw and record, at the record's predictors: (S, n)."""


class Family(Predictor, Protocol):
    """A likelihood with its prior: the Stan program that samples it and the arithmetic on its draws."""

    program: str
    """Name of the Stan program in ``stan/``."""
    parameters: tuple[str, ...]
    """Stan variables that leave the sampler as draws."""
    priors: Mapping[str, float]
    """Prior settings with their defaults."""

    censors: bool
    """Whether the program can clip each record's weighted log-likelihood."""
    outcomes: Allowed
    """Which values (n,) its records may have."""

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> dict[str, Any]:
        """Data of the Stan program for the pseudo posterior with likelihood weights (n,), clipped at the threshold."""

    def inits(self, stan_data: Mapping[str, Any]) -> dict[str, Any]:
        """A starting point in the bulk of the posterior."""

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Low-rank factors A (S, k) and B (n, k) of the log-likelihood: ``f[s, i] = A[s] . B[i]``."""

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """``log P(lower_i < x_i <= upper_i | theta_s)`` as an (S, n) array."""


def take(draws: Draws, index: Any) -> dict[str, Array]:
    """The draws at ``index`` along the first axis."""
    return {name: values[index] for name, values in draws.items()}


def count(draws: Draws) -> int:
    """S, how many draws there are."""
    return len(next(iter(draws.values())))


def blocks(n_draws: int, n: int) -> Iterator[slice]:
    """Slices of the draws that make blocks of about :data:`BLOCK` elements over n records."""
    size = max(1, BLOCK // max(n, 1))
    for start in range(0, n_draws, size):
        yield slice(start, min(start + size, n_draws))
