"""Variables of pairs: scores and indicators of the levels of a column."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array, Integers


STEPS = 20  # largest absolute score; scores are whole numbers
OUTERMOST = 1.5
"""Largest distance from the mean that a score distinguishes, in standard deviations. Larger ones would need more noise."""
KNOTS = 9  # largest number of knots of a variable with an order, if its scores are replaced by hats
CUT = 3.0  # largest distance from the mean of an uncut score, in standard deviations
HEAVY = 5.0  # kurtosis above which a column keeps cut scores: its tails are hardly related to anything
RAREST = 0.01  # smallest weight of a hat in polynomials
LEAST = 1e-6  # smallest share of a level of a variable, and smallest variance


@dataclass(frozen=True)
class Function:
    """Functions of the levels of a column that have few different values."""

    column: str
    codes: Integers  # (levels,) index of the values of each level
    values: Array  # (codes, k) values of k functions
    hats: bool = False  # True if they are hats
    scored: bool = False  # True if it is a score
    across: Array | None = None  # (levels, k) changes across each level, if the functions change gradually

    @property
    def squared(self) -> Function:
        """Squares of the functions."""
        return replace(self, values=self.values**2)

    @property
    def of_levels(self) -> Array:
        """Values (levels, k) of the levels."""
        return self.values[self.codes]

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
    scores: Integers | None  # (places,) scores of the places, from -STEPS to STEPS; None for categories without an order
    shares: Array  # (levels,) shares of the levels of the column
    knots: tuple[int, ...] = ()  # places whose hats replace the scores; none if the scores are used
    positions: Array | None = None  # (places,) positions of the places on the declared scale, if they have an order

    @property
    def ordered(self) -> bool:
        """True if its places have an order."""
        return self.scores is not None

    @property
    def scored(self) -> bool:
        """True if its indicators are scores."""
        return self.ordered and not self.knots

    @property
    def complete(self) -> bool:
        """True if the indicators of each row add up to the largest one."""
        return not self.scored and bool((self.places >= 0).all())

    @functools.cached_property
    def own(self) -> Array:
        """Shares of its places among the values that have one; none is 0."""
        there = self.places >= 0
        among = np.maximum(np.bincount(self.places[there], weights=self.shares[there]), LEAST)
        return np.asarray(among / among.sum())

    @property
    def share(self) -> float:
        """Share of the rows that have a place."""
        return float(self.shares[self.places >= 0].sum())

    @property
    def mean(self) -> Array:
        """Means (a,) of its indicators among the values that have a place, relative to the largest one."""
        return np.asarray(self.own @ self._of_places / self.largest)

    @functools.cached_property
    def basis(self) -> Array:
        """Coefficients (a, a) of orthonormal polynomials of hats, the lowest degree first; other indicators stay as they are."""
        if not self.knots:
            return np.eye(self.indicators.shape[1])
        weights = np.maximum(self.mean, RAREST)
        ranks = (np.cumsum(weights) - weights / 2) / weights.sum()
        root = np.sqrt(weights / weights.sum())[:, None]
        return np.asarray(np.linalg.qr(root * np.polynomial.legendre.legvander(2 * ranks - 1, len(weights) - 1))[0] / root)

    @property
    def largest(self) -> int:
        """Largest absolute value of its indicators."""
        return STEPS if self.ordered else 1

    @functools.cached_property
    def indicators(self) -> Integers:
        """Scores (levels, 1), hats (levels, knots), or indicators of categories (levels, places); 0 where there is no place."""
        return np.where(self.places[:, None] < 0, 0, self._of_places[self.places])

    @functools.cached_property
    def _of_places(self) -> Integers:
        if self.scored:
            return np.asarray(self.scores)[:, None]
        return hats(len(self.own), self.knots) if self.knots else np.eye(len(self.own), dtype=np.int64)

    @functools.cached_property
    def distinct(self) -> tuple[Integers, Integers]:
        """Different indicators (codes, k), and the index (levels,) of those of each level."""
        values, codes = np.unique(self.indicators, axis=0, return_inverse=True)
        return np.asarray(values, dtype=np.int64), np.asarray(codes.ravel(), dtype=np.int64)

    @functools.cached_property
    def function(self) -> Function:
        """Indicators as numbers of at most 1; hats that each row has are centred, so their strengths hardly change a margin."""
        values, codes = self.distinct
        centre = self.mean if self.knots and self.complete else 0.0
        across = self._of_levels(np.gradient(self._of_places, axis=0) / self.largest) if self.knots else None
        return Function(self.column, codes, values / self.largest - centre, bool(self.knots), self.scored, across)

    @functools.cached_property
    def kurtosis(self) -> float:
        """Kurtosis of its positions among the values that have one; 0 for two places or none with an order."""
        if self.positions is None or len(self.own) < 3:
            return 0.0
        squares = (self.positions - self.own @ self.positions) ** 2
        return float(self.own @ squares**2) / max(float(self.own @ squares), LEAST**2) ** 2

    @functools.cached_property
    def fitted(self) -> Function:
        """Function of the log density: uncut scores, since cut ones would weaken strong relations.

        Strengths have a largest change, so scores are relative to OUTERMOST standard deviations. Heavy tails keep cut scores.
        """
        if not self.scored or self.positions is None or len(self.own) < 3 or self.kurtosis > HEAVY:
            return self.function
        distances = self.positions - self.own @ self.positions
        unit = math.sqrt(max(float(self.own @ distances**2), LEAST**2))
        cut = np.clip(distances, -CUT * unit, CUT * unit)
        across = np.where(cut == distances, np.gradient(self.positions), 0.0) / (OUTERMOST * unit)
        of_levels, across = map(self._of_levels, ((cut - self.own @ cut) / (OUTERMOST * unit), across[:, None]))
        values, codes = np.unique(of_levels, return_inverse=True)
        return Function(self.column, codes, values[:, None], scored=True, across=across)

    def _of_levels(self, of_places: Array) -> Array:
        there = self.places >= 0 if of_places.ndim == 1 else self.places[:, None] >= 0
        return np.where(there, of_places[self.places], 0.0)

    @property
    def spread(self) -> float:
        """Standard deviation of its values among the rows that have one, times their share.

        That of categories is the one with which noise has its average effect; that of hats, its effect on the correlation.
        """
        if self.knots:
            places, knots = np.arange(len(self.own)), np.array(self.knots)
            mean = self.own @ places
            deviation = math.sqrt(max(float(self.own @ (places - mean) ** 2), LEAST))
            total = max(self.share, LEAST)
            return total * deviation / math.sqrt(float(((knots - mean) ** 2).sum()))
        there = self.function.shares(np.where(self.places >= 0, self.shares, 0.0))
        total = max(float(there.sum()), LEAST)
        variances = self.function.squared.values.T @ there / total - (self.function.values.T @ there / total) ** 2
        share = np.ones(1) if self.ordered else self.own
        return total / math.sqrt(float(share @ (1 / np.maximum(variances, LEAST))))


def scores_of(positions: Array, shares: Array) -> Integers:
    """Compute scores (places,): positions relative to the mean, cut at OUTERMOST standard deviations; their mean is about 0."""
    distances = positions - shares @ positions
    most = OUTERMOST * math.sqrt(max(float(shares @ distances**2), LEAST**2))
    cut = np.clip(distances, -most, most)
    centred: Array = cut - shares @ cut
    largest = np.maximum(np.abs(centred).max(), LEAST)
    return np.asarray(np.rint(STEPS * centred / largest), dtype=np.int64)


def knots_of(shares: Array, number: int) -> tuple[int, ...]:
    """Choose knots: the first and the last place, and between them those that divide the cube roots of shares (places,) evenly.

    The roots are a compromise: knots at even positions would leave frequent values without any, and those at quantiles the tails.
    """
    last = len(shares) - 1
    number = min(number, last + 1)
    if number < 2:
        return ()
    density = np.cbrt(shares)
    middle = (np.cumsum(density) - density / 2) / density.sum()
    even = np.searchsorted(middle, np.arange(1, number - 1) / (number - 1))
    knots = [0]
    for k, place in enumerate(even, start=1):
        knots.append(min(max(int(place), knots[-1] + 1), last - (number - 1 - k)))
    return (*knots, last)


def hats(number: int, knots: tuple[int, ...]) -> Integers:
    """Return hats (number, knots): each is STEPS at its knot and falls linearly to 0 at the next ones; they add up to STEPS."""
    values = np.zeros((number, len(knots)), dtype=np.int64)
    for k, (left, right) in enumerate(itertools.pairwise(knots)):
        between = np.arange(left, right + 1)
        rising = (2 * STEPS * (between - left) + (right - left)) // (2 * (right - left))
        values[between, k], values[between, k + 1] = STEPS - rising, rising
    return values


def recentred(scores: Integers, mean: float) -> Integers:
    """Subtract a mean from scores (places,), and cut the differences at STEPS.

    Noise can make the mean larger than half of STEPS, and is cut there, so two levels stay different.
    """
    return np.asarray(np.clip(scores - round(np.clip(mean, -STEPS / 2, STEPS / 2)), -STEPS, STEPS), dtype=np.int64)


def products(first: Variable, second: Variable, places: Integers, others: Integers) -> Integers:
    """Sum the products (a, b) of the indicators of two variables over rows, given the levels (n,) of both columns.

    The absolute contributions of a row add up to at most the product of both largest indicators.
    """
    (ours, our_codes), (theirs, their_codes) = first.distinct, second.distinct
    combinations = our_codes[places] * len(theirs) + their_codes[others]
    counts = np.bincount(combinations, minlength=len(ours) * len(theirs)).reshape(len(ours), len(theirs))
    return np.asarray(ours.T @ counts @ theirs, dtype=np.int64)
