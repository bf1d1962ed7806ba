"""Declared columns of mixed tables, and records on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from formalsynth.core.arrays import Array, Integers

CLASSES = 2
"""Number of values of a label."""


@dataclass(frozen=True)
class Domain:
    """Declared columns of a mixed table with a binary label; all of it is public, nothing is computed from the records."""

    n: int
    """Declared number of records, which divides averages."""
    numbers: int
    """Number of numerical columns."""
    levels: tuple[int, ...]
    """Number of values of each categorical column."""
    clip: float
    """Numbers are on a declared scale and are clipped to ``[-clip, clip]``."""
    bins: int = 16
    """Number of bins of equal width of each numerical column."""

    @property
    def features(self) -> int:
        """Number of columns without the label."""
        return self.numbers + len(self.levels)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of cells of each feature, numerical columns first."""
        return (self.bins,) * self.numbers + tuple(self.levels)

    def cells(self, records: MixedRecords) -> Integers:
        """Cell of each record in each feature (n, features); numbers beyond the clip are in the outermost bin."""
        return histogram_cells(records.z, records.categories, self.clip, self.bins)

    def codes(self, records: MixedRecords) -> Integers:
        """Cells of the features followed by the label: (n, features + 1)."""
        return np.column_stack([self.cells(records), records.label])

    def midpoints(self) -> Array:
        """Midpoints of the bins of a number (bins,)."""
        return np.asarray((np.arange(self.bins) + 0.5) * (2 * self.clip / self.bins) - self.clip)

    def spread(self, codes: Integers, generator: np.random.Generator) -> MixedRecords:
        """Make records with given codes (m, features + 1); numbers are uniform within their bins."""
        width = 2 * self.clip / self.bins
        cells = codes[:, : self.numbers]
        z = (cells + generator.random(cells.shape)) * width - self.clip
        return MixedRecords(z, codes[:, self.numbers : -1], codes[:, -1])


@dataclass(frozen=True)
class MixedRecords:
    """Confidential or synthetic records of a mixed table."""

    z: Array = field(repr=False)
    """(n, numbers) numbers on the declared scale."""
    categories: Integers = field(repr=False)
    """(n, q) positions in the declared values."""
    label: Integers = field(repr=False)
    """(n,) 0 or 1."""

    def __len__(self) -> int:
        return len(self.label)

    def take(self, index: Integers) -> MixedRecords:
        """Return the records at ``index``."""
        return MixedRecords(self.z[index], self.categories[index], self.label[index])


def histogram_cells(z: Array, categories: Integers, clip: float, bins: int) -> Integers:
    """Cell of each record in each feature's histogram (n, features), continuous features first.

    Args:
        z: (n, p) standardised numbers; values beyond the clip are counted in the outermost bin, NaN as 0.
        categories: (n, q) category positions.
        clip: the bins divide ``[-clip, clip]`` evenly.
        bins: number of bins of a continuous feature.
    """
    cell = np.floor((np.clip(np.nan_to_num(z), -clip, clip) + clip) * (bins / (2 * clip))).astype(np.int64)
    return np.hstack([np.minimum(cell, bins - 1), categories])


def one_hot(categories: Integers, levels: Sequence[int]) -> Array:
    """One-hot columns (n, sum of levels), in the order of the features."""
    flat = categories + offsets(levels)
    encoded = np.zeros((len(categories), sum(levels)))
    np.put_along_axis(encoded, flat, 1.0, axis=1)
    return encoded


def offsets(levels: Sequence[int]) -> Integers:
    """Position of the first cell of each feature among the cells of all features."""
    return np.concatenate([[0], np.cumsum(levels)[:-1]]).astype(np.int64) if len(levels) else np.empty(0, dtype=np.int64)
