"""Levels of a column in noisy tables: its categories, or its bins on the declared scale, with a level for 0 if declared."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers
from formalsynth_release.records import codes, from_unit, to_unit
from formalsynth_release.schema import Column

if TYPE_CHECKING:
    import pandas as pd

EDGE = 1e-9
"""Relative distance from the ends of a span that is left for rounding errors."""
MISSING = -1
"""Level of a missing value."""


@dataclass(frozen=True)
class Levels:
    """Levels of one column, in the order of its values."""

    column: Column
    spans: Array
    """(levels, 2) lower and upper end of each level on the unit scale of the column, between the values that numbers are rounded
    to; not used for categories."""
    below: int
    """Number of levels below 0, if 0 has a level of its own; otherwise -1."""

    def __len__(self) -> int:
        """Count the levels."""
        return len(self.spans)

    @property
    def ordered(self) -> bool:
        """True if the levels have an order: numbers, two categories, or categories that are declared in order."""
        return self.column.type != "category" or self.column.ordered or len(self) == 2

    @property
    def runs(self) -> list[slice]:
        """Runs of levels by kind: below 0, 0 and above 0 if 0 has a level of its own, otherwise a single run."""
        if self.below < 0:
            return [slice(0, len(self))]
        ends = [0, self.below, self.below + 1, len(self)]
        return [slice(start, end) for start, end in itertools.pairwise(ends) if end > start]

    @property
    def positions(self) -> Array | None:
        """Positions (levels,) of the last run on the declared scale; None for categories without an order."""
        if self.column.type == "category":
            return np.arange(len(self), dtype=float) if self.ordered else None
        middle: Array = self.spans[self.runs[-1]].mean(axis=1)
        return middle

    def kinds(self, places: Integers) -> Integers:
        """Index (n,) of the run of each level; the number of runs for a missing value."""
        starts = np.array([run.start for run in self.runs])
        return np.where(places == MISSING, len(starts), np.searchsorted(starts, places, side="right") - 1)

    @property
    def exact(self) -> bool:
        """True if the values of each level belong to it; rounding errors move those of bins that are too narrow."""
        import pandas as pd

        places = np.arange(len(self))
        again = [self.of(pd.Series(self.values(places, np.full(len(self), share)))) for share in (0.0, 0.5, 1.0)]
        return all(np.array_equal(place, places) for place in again)

    def parted_at(self, number: float) -> bool:
        """Return True if no level has values on both sides of a number: values below it, and values not below it."""
        import pandas as pd

        step = 10.0**-self.column.places
        first = math.ceil(number / step - EDGE) * step
        below, above = self.of(pd.Series([first - step, first])).tolist()
        low, high = self.column.ends
        return bool(below != above or number <= low or number > high)

    @property
    def single(self) -> NDArray[np.bool_]:
        """Mask (levels,) of the levels with a single value."""
        places = np.arange(len(self))
        first, last = (self.values(places, np.full(len(self), share)) for share in (0.0, 1.0))
        return np.asarray(first == last)

    @property
    def widths(self) -> Array:
        """Widths (levels,) on the unit scale."""
        width: Array = self.spans[:, 1] - self.spans[:, 0]
        return width

    @property
    def smooth(self) -> list[slice]:
        """Runs of levels whose counts change gradually: bins of numbers, separately below and above 0."""
        return [] if self.column.type == "category" else self.runs

    def of(self, values: pd.Series) -> Integers:
        """Return the level (n,) of each value; :data:`MISSING` for a missing one."""
        if self.column.type == "category":
            return codes(self.column, values)
        numbers = values.to_numpy(dtype=float)
        there = ~np.isnan(numbers)
        low, high = self.column.ends
        inside = np.where(there, np.clip(numbers, low, high), low)
        place = np.searchsorted(self.spans[1:, 0], to_unit(self.column, inside), side="right")
        if self.below >= 0:
            place = np.where(inside == 0, self.below, np.where(inside < 0, np.minimum(place, self.below - 1), place))
            place = np.where(inside > 0, np.maximum(place, self.below + 1), place)
        return np.where(there, place, MISSING).astype(np.int64)

    def values(self, places: Integers, shares: Array) -> Array:
        """Return values (n,) at positions (0 to 1) within levels, none of which may be :data:`MISSING`."""
        if self.column.type == "category":
            return np.array(self.column.categories, dtype=object)[places]
        inside = self.spans[places, 0] + np.clip(shares, EDGE, 1 - EDGE) * self.widths[places]
        return np.clip(np.round(from_unit(self.column, inside), self.column.places), *self.column.ends) + 0.0  # no -0.0


def levels_of(column: Column) -> Levels:
    """Return the levels of a column, from its declarations."""
    if column.type == "category":
        return Levels(column, np.zeros((len(column.categories or []), 2)), -1)
    if not column.own_zero:
        return Levels(column, _spans(column, *column.ends, column.bins), -1)
    (low, high), step = column.ends, 10.0**-column.places
    zero = float(to_unit(column, np.array(0.0)))
    below = max(1, min(round(column.bins * zero), column.bins - 1)) if low < 0 else 0
    negative = _spans(column, low, -step, below) if below else np.zeros((0, 2))
    positive = _spans(column, step, high, max(column.bins - below, 1))
    return Levels(column, np.concatenate([negative, np.full((1, 2), zero), positive]), len(negative))


def _spans(column: Column, first: float, last: float, number: int) -> Array:
    """Divide the values from the first to the last one into adjacent spans, which are equally wide but for their rounding.

    Values are rounded to the decimals of the column. Ends of spans are halfway between two of them, so a drawn value stays in its
    span; with more spans than values on a linear scale, each value has its own one.
    """
    step = 10.0**-column.places
    start, end = to_unit(column, np.array([first, last])).tolist()
    inner = from_unit(column, np.linspace(start, end, number + 1)[1:-1])
    between = (np.ceil(inner / step - EDGE) - 0.5) * step
    edges = np.unique(np.clip(between, first - step / 2, last + step / 2))
    edges = to_unit(column, np.unique(np.concatenate([[first - step / 2], edges, [last + step / 2]])))
    return np.column_stack([edges[:-1], edges[1:]])
