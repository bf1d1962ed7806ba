"""Levels of a column in noisy tables: its categories, or its bins on the declared scale, with a level for 0 if declared."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formalsynth_release.schema import Column, PublicSchema

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array, Integers

EDGE = 1e-9  # relative distance from the ends of a span that is left for rounding errors
NEAR = 0.2  # distance from a declared edge below which the end of a bin gives way to it, in widths of a bin
MISSING = -1  # level of a missing value


def to_unit(column: Column, values: Array) -> Array:
    """Convert numbers between the declared bounds to positions from 0 (lower bound) to 1 (upper bound), on the declared scale."""
    low, high = column.ends
    if column.scale == "log":
        return np.asarray(np.log(values / low) / np.log(high / low))
    if column.unit is not None:
        first, value, last = (np.arcsinh(np.asarray(end) / column.unit) for end in (low, values, high))
        return np.asarray((value - first) / (last - first))
    return (values - low) / (high - low)


def from_unit(column: Column, shares: Array) -> Array:
    """Invert :func:`to_unit`."""
    low, high = column.ends
    if column.unit is not None:
        first, last = np.arcsinh(low / column.unit), np.arcsinh(high / column.unit)
        return np.asarray(column.unit * np.sinh(first + (last - first) * shares))
    return low * (high / low) ** shares if column.scale == "log" else low + (high - low) * shares


def codes(column: Column, values: pd.Series) -> Integers:
    """Return the index (n,) of the declared category of each value; -1 for one that is missing or not declared."""
    return pd.Index(column.categories or []).get_indexer(pd.Index(values)).astype(np.int64)


def no_rows(schema: PublicSchema) -> pd.DataFrame:
    """Make a table of the released columns without rows, to compute everything that follows from declarations alone."""
    return pd.DataFrame({name: pd.Series(dtype=object) for name in schema.released})


@dataclass(frozen=True)
class Levels:
    """Levels of one column, in the order of its values."""

    column: Column
    spans: Array
    """(levels, 2) lower and upper end of each level on the unit scale of the column, between the values that numbers are rounded
    to; not used for categories."""
    below: int  # number of levels below 0, if 0 has a level of its own; otherwise -1

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
        return np.asarray(self.spans[self.runs[-1]].mean(axis=1))

    def kinds(self, places: Integers) -> Integers:
        """Index (n,) of the run of each level; after the runs, each code and missing values have one of their own."""
        starts, absent = np.array([run.start for run in self.runs]), len(self.column.codes)
        among = np.where(places < len(self), np.searchsorted(starts, places, side="right") - 1, len(starts) + places - len(self))
        return np.where(places == MISSING, len(starts) + absent, among)

    def examples(self, share: float) -> pd.Series:
        """Return a value (width,) of each level, at the same position in all of them; codes and missing values come last."""
        values = self.values(np.arange(len(self)), np.full(len(self), share))
        return pd.Series([*values, *self.column.codes, *([np.nan] if self.column.may_be_missing else [])])

    def parted_at(self, number: float) -> bool:
        """Return True if no level has values on both sides of a number: values below it, and values not below it."""
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
        return np.asarray(self.spans[:, 1] - self.spans[:, 0])

    @property
    def smooth(self) -> list[slice]:
        """Runs of levels whose counts change gradually: bins of numbers between 0, if it has a level, and declared points."""
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
    points = column.points or []
    steps = np.rint(np.array([*(column.edges or []), *points, *(point + step for point in points)]) / step)
    declared = (steps - 0.5) * step
    declared = to_unit(column, declared[(declared > outer[0] + step / 4) & (declared < outer[1] - step / 4)])
    if len(declared):
        near = np.abs(edges[:, None] - declared).min(axis=1) < NEAR * np.median(np.diff(edges))
        near[[0, -1]] = False
        edges = np.unique(np.concatenate([edges[~near], declared]))
    return np.column_stack([edges[:-1], edges[1:]])
