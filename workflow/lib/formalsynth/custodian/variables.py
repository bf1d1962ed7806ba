"""Variables of pairs: scores and indicators of the levels of a column."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace

import numpy as np

from formalsynth.core.arrays import Array, Integers

STEPS = 20
"""Scores are whole numbers from -STEPS to STEPS."""
OUTERMOST = 1.5
"""Largest distance from the mean that a score distinguishes, in standard deviations. Larger ones would need more noise."""
LEAST = 1e-6
"""Smallest share of a level of a variable, and smallest variance."""


@dataclass(frozen=True)
class Function:
    """Functions of the levels of a column that have few different values."""

    column: str
    codes: Integers
    """(levels,) index of the values of each level."""
    values: Array
    """(codes, k) values of k functions."""

    @property
    def squared(self) -> Function:
        """Squares of the functions."""
        return replace(self, values=self.values**2)

    @property
    def with_squares(self) -> Function:
        """The functions, and their squares."""
        return replace(self, values=np.hstack([self.values, self.values**2]))

    def shares(self, shares: Array) -> Array:
        """Add up the shares (levels,) of levels with the same values."""
        return np.asarray(np.bincount(self.codes, shares, len(self.values)), dtype=float)


@dataclass(frozen=True)
class Variable:
    """Member of a pair: a column, or the kind of its values."""

    name: str
    column: str
    places: Integers
    """(levels,) place of each level of the column among those of the variable, from 0 on; below 0 where it has none."""
    scores: Integers | None
    """(places,) scores of the places, from -STEPS to STEPS; None for categories without an order."""
    shares: Array
    """(levels,) shares of the levels of the column."""

    @property
    def ordered(self) -> bool:
        """True if its places have an order."""
        return self.scores is not None

    @property
    def complete(self) -> bool:
        """True if each row has one of its categories."""
        return not self.ordered and bool((self.places >= 0).all())

    @functools.cached_property
    def own(self) -> Array:
        """Shares of its places among the values that have one."""
        return shares_among(self.places, self.shares)

    @property
    def largest(self) -> int:
        """Largest absolute value of its indicators."""
        return STEPS if self.ordered else 1

    @functools.cached_property
    def indicators(self) -> Integers:
        """Scores (levels, 1) of the levels of the column, or indicators (levels, places) of categories; 0 where it has none."""
        if self.scores is not None:
            return np.where(self.places < 0, 0, self.scores[self.places])[:, None]
        return np.asarray(self.places[:, None] == np.arange(len(self.own)), dtype=np.int64)

    @functools.cached_property
    def distinct(self) -> tuple[Integers, Integers]:
        """Different indicators (codes, k), and the index (levels,) of those of each level."""
        values, codes = np.unique(self.indicators, axis=0, return_inverse=True)
        return np.asarray(values, dtype=np.int64), np.asarray(codes.ravel(), dtype=np.int64)

    @functools.cached_property
    def function(self) -> Function:
        """Indicators as numbers of at most 1."""
        values, codes = self.distinct
        return Function(self.column, codes, values / self.largest)

    @property
    def spread(self) -> float:
        """Standard deviation of its values among the rows that have one, times their share.

        That of categories is the one with which noise has its average effect: a rare category is affected more, by fewer rows.
        """
        there = self.function.shares(np.where(self.places >= 0, self.shares, 0.0))
        total = max(float(there.sum()), LEAST)
        variances = self.function.squared.values.T @ there / total - (self.function.values.T @ there / total) ** 2
        share = np.ones(1) if self.ordered else self.own
        return total / math.sqrt(float(share @ (1 / np.maximum(variances, LEAST))))


def shares_among(places: Integers, shares: Array) -> Array:
    """Add up shares (levels,) by place, among the levels that have one; none is 0."""
    there = places >= 0
    among = np.maximum(np.bincount(places[there], weights=shares[there]), LEAST)
    return np.asarray(among / among.sum())


def scores_of(positions: Array, shares: Array) -> Integers:
    """Compute scores (places,): positions relative to the mean, cut at OUTERMOST standard deviations; their mean is about 0.

    Args:
        positions: (places,) positions of the places on the declared scale.
        shares: (places,) shares of the places.
    """
    distances = positions - shares @ positions
    most = OUTERMOST * math.sqrt(max(float(shares @ distances**2), LEAST**2))
    cut = np.clip(distances, -most, most)
    centred: Array = cut - shares @ cut
    largest = np.maximum(np.abs(centred).max(), LEAST)
    return np.asarray(np.rint(STEPS * centred / largest), dtype=np.int64)


def recentred(scores: Integers, mean: float) -> Integers:
    """Subtract a mean from scores (places,), and cut the differences at STEPS.

    Noise can make the mean larger than half of STEPS, and is cut there, so two levels stay different.
    """
    return np.asarray(np.clip(scores - round(np.clip(mean, -STEPS / 2, STEPS / 2)), -STEPS, STEPS), dtype=np.int64)


def products(first: Variable, second: Variable, places: Integers, others: Integers) -> Integers:
    """Sum the products (a, b) of the indicators of two variables over the rows; a row contributes to at most one of the sums.

    Args:
        first: one variable.
        second: the other one.
        places: (n,) levels of the column of the first one.
        others: (n,) levels of the column of the second one.
    """
    (ours, our_codes), (theirs, their_codes) = first.distinct, second.distinct
    combinations = our_codes[places] * len(theirs) + their_codes[others]
    counts = np.bincount(combinations, minlength=len(ours) * len(theirs)).reshape(len(ours), len(theirs))
    return np.asarray(ours.T @ counts @ theirs, dtype=np.int64)
