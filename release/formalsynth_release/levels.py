"""Levels of a column in noisy tables: its categories, or its bins on the declared scale, with a level for 0 if declared."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from formalsynth_release.records import codes, from_unit, to_unit
from formalsynth_release.schema import Column

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.arrays import Array, Integers

EDGE = 1e-9
"""Relative distance from the ends of a span that is left for rounding errors."""
NEAR = 0.2
"""Distance from a declared edge below which the end of a bin gives way to it, in widths of a bin."""
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
    def width(self) -> int:
        """Number of levels with those of absent values: of each code, in their order, and of missing values."""
        return len(self) + len(self.column.codes) + self.column.may_be_missing

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
        """Index (n,) of the run of each level; after the runs, each code and missing values have one of their own."""
        starts, absent = np.array([run.start for run in self.runs]), len(self.column.codes)
        among = np.where(places < len(self), np.searchsorted(starts, places, side="right") - 1, len(starts) + places - len(self))
        return np.where(places == MISSING, len(starts) + absent, among)

    def examples(self, share: float) -> pd.Series:
        """Return a value (width,) of each level, at the same position in all of them; codes and missing values come last."""
        import pandas as pd

        values = self.values(np.arange(len(self)), np.full(len(self), share))
        return pd.Series([*values, *self.column.codes, *([np.nan] if self.column.may_be_missing else [])])

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
        """Runs of levels whose counts change gradually: bins of numbers between 0, if it has a level, and declared points."""
        import pandas as pd

        if self.column.type == "category":
            return []
        points = sorted(self.of(pd.Series(self.column.points or [], dtype=float)).tolist())
        cuts = [[run.start - 1, *(place for place in points if run.start <= place < run.stop), run.stop] for run in self.runs]
        return [slice(start + 1, end) for ends in cuts for start, end in itertools.pairwise(ends) if end > start + 1]

    def of(self, values: pd.Series) -> Integers:
        """Return the level (n,) of each value; codes come after values, and missing values are :data:`MISSING`."""
        if self.column.type == "category":
            return codes(self.column, values)
        numbers = values.to_numpy(dtype=float)
        there = ~np.isnan(numbers)
        low, high = self.column.ends
        inside = np.where(there, np.clip(numbers, low, high), low)
        place = np.searchsorted(self.spans[1:, 0], to_unit(self.column, inside), side="right")
        if self.below >= 0:
            place = np.where(inside < 0, np.minimum(place, self.below - 1), np.maximum(place, self.below + 1))
            place = np.where((inside == 0) | (numbers == 0), self.below, place)
        for k, code in enumerate(self.column.codes):
            place = np.where(numbers == code, len(self) + k, place)
        return np.where(there, place, MISSING).astype(np.int64)

    def values(self, places: Integers, shares: Array) -> Array:
        """Return values (n,) at positions (0 to 1) within levels, none of which may be :data:`MISSING`."""
        if self.column.type == "category":
            return np.array(self.column.categories, dtype=object)[places]
        inside = self.spans[places, 0] + np.clip(shares, EDGE, 1 - EDGE) * self.widths[places]
        numbers = np.clip(np.round(from_unit(self.column, inside), self.column.places), *self.column.ends) + 0.0  # no -0.0
        return np.where(places == self.below, 0.0, numbers)


def levels_of(column: Column) -> Levels:
    """Return the levels of a column, from its declarations."""
    if column.type == "category":
        return Levels(column, np.zeros((len(column.categories or []), 2)), -1)
    if not column.own_zero:
        return Levels(column, _spans(column, *column.ends, column.bins), -1)
    (low, high), step = column.ends, 10.0**-column.places
    zero = float(to_unit(column, np.array(0.0))) if low <= 0 else 0.0
    below = max(1, min(round(column.bins * zero), column.bins - 1)) if low < 0 else 0
    negative = _spans(column, low, -step, below) if below else np.zeros((0, 2))
    positive = _spans(column, max(step, low), high, max(column.bins - below, 1))
    return Levels(column, np.concatenate([negative, np.full((1, 2), zero), positive]), len(negative))


def _spans(column: Column, first: float, last: float, number: int) -> Array:
    """Divide the values from the first to the last one into adjacent spans, which are equally wide but for their rounding.

    Values are rounded to the decimals of the column. Ends of spans are halfway between two of them, so a drawn value stays in its
    span; with more spans than values on a linear scale, each value has its own one. Spans also end at declared edges and on both
    sides of declared points; other ends close to these are left out.
    """
    step = 10.0**-column.places
    start, end = to_unit(column, np.array([first, last])).tolist()
    inner = from_unit(column, np.linspace(start, end, number + 1)[1:-1])
    between = (np.ceil(inner / step - EDGE) - 0.5) * step
    outer = np.array([first - step / 2, last + step / 2])
    edges = to_unit(column, np.unique(np.concatenate([outer, np.clip(between, *outer)])))
    steps = np.rint(
        np.array([*(column.edges or []), *(column.points or []), *(point + step for point in column.points or [])]) / step
    )
    declared = (steps - 0.5) * step
    declared = to_unit(column, declared[(declared > outer[0] + step / 4) & (declared < outer[1] - step / 4)])
    if len(declared):
        near = np.abs(edges[:, None] - declared).min(axis=1) < NEAR * np.median(np.diff(edges))
        near[[0, -1]] = False
        edges = np.unique(np.concatenate([edges[~near], declared]))
    return np.column_stack([edges[:-1], edges[1:]])
