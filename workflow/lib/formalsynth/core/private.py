"""Private fits: statistics that may be published, and a posterior that is computed from them alone.

A mechanism returns a :class:`PrivateFit`. Its :class:`PublicTables` contain everything passed to the fit: declared bins, noisy
counts and the scale of their noise. A :class:`PublicModel` makes the data of a Stan program from these tables and prior settings,
and from nothing else: neither records nor a context are among its arguments. The exact counts are kept separate, for the audit.

Source of the noise: Ghosh, Roughgarden and Sundararajan 2009 (arXiv:0811.2841).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from formalsynth.core.arrays import Array, Draws, Integers, Records, read_only
from formalsynth.core.family import StanData


@dataclass(frozen=True)
class Bins:
    """Declared bins of equal width; values beyond the bounds fall in the first or last bin."""

    low: float
    high: float
    number: int
    log: bool = False
    """True if the widths are equal on the logarithmic scale."""

    def __post_init__(self) -> None:
        """Check the declaration.

        Raises:
            ValueError: the bounds are not in increasing order, or have no logarithm.
        """
        if not self.low < self.high:
            raise ValueError(f"bins from {self.low:g} to {self.high:g}: the upper bound has to be above the lower one")
        if self.log and not self.low > 0:
            raise ValueError(f"bins from {self.low:g}: a logarithmic scale needs a lower bound above 0")

    @property
    def edges(self) -> Array:
        """Bin edges (number + 1,), on the scale of the bins."""
        return _edges(self.low, self.high, self.number, self.log)

    def of(self, values: Array) -> Integers:
        """Return the bin (n,) of each value: an edge belongs to the bin above it; NaN belongs to the first bin."""
        inner, scaled = self.edges[1:-1], values
        if self.log:
            with np.errstate(divide="ignore", invalid="ignore"):
                scaled = np.log(np.maximum(values, 0))
        place = np.searchsorted(inner, np.where(np.isnan(scaled), -np.inf, scaled), side="right")
        return np.asarray(place, dtype=np.int64)


@lru_cache(maxsize=64)
def _edges(low: float, high: float, number: int, log: bool) -> Array:
    """Bin edges (number + 1,), computed once: a mechanism declares the same bins for every data set."""
    low, high = (math.log(end) if log else end for end in (low, high))
    return np.asarray(read_only(np.linspace(low, high, number + 1)))


def declared_bins(given: Mapping[str, float], log: bool, predictors: int) -> tuple[Bins, tuple[Bins, ...]]:
    """Return the bins of the outcome and of each predictor, as declared by a mechanism's parameters.

    Args:
        given: ``low``, ``high`` and ``bins`` of the outcome, and ``x_low``, ``x_high`` and ``x_bins`` of every predictor.
        log: True if the bins of the outcome are on the logarithmic scale.
        predictors: number of predictors.

    Raises:
        ValueError: bounds are not in increasing order, or have no logarithm.
    """
    outcome = Bins(given["low"], given["high"], int(given["bins"]), log)
    return outcome, (Bins(given["x_low"], given["x_high"], int(given["x_bins"])),) * predictors


SCALES = 1 / 30, 1e12
"""Smallest and largest scale of discrete noise: beyond them, noise in floating point and 64-bit integers would always be 0."""


@dataclass(frozen=True)
class DiscreteLaplaceCounts:
    """Counts to which independent discrete Laplace noise is added: P(noise = k) is proportional to exp(-|k| / scale)."""

    counts: Array
    """Counts (cells,) without noise."""
    scale: float
    """Scale of the noise."""

    def __post_init__(self) -> None:
        """Check the scale, which is declared and not computed from data.

        Raises:
            ValueError: noise of this scale cannot be drawn.
        """
        least, most = SCALES
        if not least <= self.scale <= most:
            raise ValueError(
                f"discrete noise of scale {self.scale:g}: allowed: {least:.3g} to {most:g}, that is, an epsilon of "
                f"{1 / most:g} to {1 / least:g} for each table"
            )

    def noisy(self, generator: np.random.Generator, runs: int) -> Array:
        """Draw noisy counts (runs, cells) as whole numbers: the noise is the difference of two geometric variables."""
        size = (runs, len(self.counts))
        success = -math.expm1(-1 / self.scale)
        noise = generator.geometric(success, size) - generator.geometric(success, size)
        counts: Array = self.counts + noise
        return counts


@dataclass(frozen=True)
class Tables:
    """Counts by bins."""

    outcome: Array
    """(q, bins of the predictor, bins of the outcome), a table for each of q predictors; without any, one single-row table."""
    pairs: Array
    """(q (q - 1) / 2, bins, bins), a table for each pair of predictors, in the order 1-2, 1-3, ..., 2-3."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "outcome", read_only(self.outcome))
        object.__setattr__(self, "pairs", read_only(self.pairs))

    @classmethod
    def of(cls, records: Records, outcome: Bins, predictors: tuple[Bins, ...]) -> Tables:
        """Count the records in the cells of each table; each record is in exactly one cell of each table."""
        column = outcome.of(records.x)
        rows = [bins.of(records.design[:, k + 1]) for k, bins in enumerate(predictors)]
        height = predictors[0].number if predictors else 1
        of_outcome = [_counted(row, column, height, outcome.number) for row in rows or [np.zeros_like(column)]]
        of_pairs = [_counted(first, second, height, height) for first, second in itertools.combinations(rows, 2)]
        return cls(np.array(of_outcome), np.array(of_pairs).reshape(-1, height, height))

    def __len__(self) -> int:
        """Count the tables."""
        return len(self.outcome) + len(self.pairs)

    @property
    def flat(self) -> Array:
        """Counts (cells,) of all tables."""
        return np.concatenate([self.outcome.ravel(), self.pairs.ravel()])

    @property
    def by_column(self) -> Array:
        """Counts (cells,) of all tables, column by column as in Stan."""
        return np.concatenate([self.outcome.swapaxes(1, 2).ravel(), self.pairs.swapaxes(1, 2).ravel()])

    def with_counts(self, flat: Array) -> Tables:
        """Return tables of the same shape with other counts (cells,)."""
        cut = self.outcome.size
        return Tables(flat[:cut].reshape(self.outcome.shape), flat[cut:].reshape(self.pairs.shape))


def _counted(row: Integers, column: Integers, height: int, width: int) -> Array:
    """Count (height, width) the records by row and column."""
    return np.bincount(row * width + column, minlength=height * width).astype(float).reshape(height, width)


@dataclass(frozen=True)
class PublicTables:
    """Noisy tables and their declarations: everything that leaves the confidential side."""

    outcome: Bins
    predictors: tuple[Bins, ...]
    """Bins of each predictor except the constant."""
    noisy: Tables
    """Noisy counts."""
    scale: float
    """Scale of the discrete Laplace noise of each cell."""
    epsilon: float
    """Epsilon of all tables together when a record is added or removed."""


class PublicModel(Protocol):
    """Posterior given public tables."""

    @property
    def program(self) -> str:
        """Name of the Stan program in ``stan/``."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Stan variables that the sampler returns."""

    def stan_data(self, public: PublicTables, priors: Mapping[str, float]) -> StanData:
        """Build the data of the Stan program.

        Raises:
            ValueError: the model does not allow these tables.
        """

    def inits(self, public: PublicTables, stan_data: StanData) -> StanData:
        """Choose a starting point in the bulk of the posterior."""

    def draws(self, sampled: Draws, public: PublicTables) -> Draws:
        """Convert the sampler's output to draws of the family's parameters.

        Raises:
            ValueError: there are too few effective draws.
        """

    def refined(self, sampled: Draws, public: PublicTables) -> PublicModel | None:
        """Return a model to sample instead of this one; None if these draws are good enough."""

    def discrepancy(self, public: PublicTables, stan_data: StanData, draws: Draws) -> tuple[Array, int]:
        """Compute expected counts (cells,) at the best fit, in the order of ``by_column``, and count free values."""


@dataclass(frozen=True)
class PrivateFit:
    """Result of a mechanism that publishes noisy tables and fits its family to them."""

    public: PublicTables
    model: PublicModel
    counts: DiscreteLaplaceCounts
    """Counts without noise, with all tables in one row: for the audit only."""

    @property
    def epsilon(self) -> float:
        """Epsilon when a record is added or removed."""
        return self.public.epsilon
