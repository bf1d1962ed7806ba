"""Mixed tables with a binary label: declared columns, checks, splits and encodings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.text import DataError
from formalsynth.reps.domain import one_hot
from formalsynth.reps.influence import Mask

Encoded = NDArray[np.floating[Any]]
"""Records as rows of numbers, (n, d), in the space of evaluation models and attacks."""
Column = Sequence[str | float] | NDArray[Any]
"""Values of one column as read from the file, (n,)."""
SHARES = (0.56, 0.14, 0.30)
"""Training, validation and test share (REPS paper, Section 7.2)."""


@dataclass(frozen=True)
class Continuous:
    """Numerical column with declared bounds, which are never computed from the records."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Categorical:
    """A column with declared values."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Schema:
    """Declared columns. The second value of the label is the positive class."""

    continuous: tuple[Continuous, ...]
    categorical: tuple[Categorical, ...]
    label: Categorical

    @classmethod
    def of(cls, columns: Mapping[str, tuple[float, float] | str]) -> Schema:
        """Return a schema of named bounds, and of named values separated by spaces; the last column is the label."""
        numbers = [Continuous(name, *bounds) for name, bounds in columns.items() if not isinstance(bounds, str)]
        *categories, label = [Categorical(name, tuple(v.split())) for name, v in columns.items() if isinstance(v, str)]
        return cls(tuple(numbers), tuple(categories), label)

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of values of each categorical column."""
        return tuple(len(column.values) for column in self.categorical)


@dataclass(frozen=True)
class Table:
    """A table of n records in their own units."""

    schema: Schema
    continuous: Array = field(repr=False)
    """(n, p) numbers."""
    categories: Integers = field(repr=False)
    """(n, q) positions in the declared values."""
    label: Integers = field(repr=False)
    """(n,) 0 or 1."""

    def __len__(self) -> int:
        return len(self.label)

    def take(self, index: Integers | Mask) -> Table:
        """Return the records at ``index``."""
        return Table(self.schema, self.continuous[index], self.categories[index], self.label[index])


def table_of(schema: Schema, columns: Mapping[str, Column], name: str) -> Table:
    """Return a table made from named columns; every value is checked against the schema.

    Args:
        schema: the declared columns.
        columns: one sequence of length n for each declared column; other columns are ignored.
        name: name of the data in error messages.

    Raises:
        DataError: a column is missing, a number is missing or outside its bounds, or a value is not declared.
    """
    named: tuple[Continuous | Categorical, ...] = (*schema.continuous, *schema.categorical, schema.label)
    missing = [column.name for column in named if column.name not in columns]
    if missing:
        raise DataError(f"{name}: missing columns: {', '.join(missing)}")
    continuous = [_numbers(column, columns[column.name], name) for column in schema.continuous]
    categories = [_codes(column, columns[column.name], name) for column in schema.categorical]
    label = _codes(schema.label, columns[schema.label.name], name)
    empty = np.empty((len(label), 0))
    return Table(
        schema,
        np.column_stack(continuous) if continuous else empty,
        np.column_stack(categories) if categories else empty.astype(np.int64),
        label,
    )


def _numbers(column: Continuous, values: Column, name: str) -> Array:
    try:
        numbers = np.asarray(values).astype(np.float64)
    except ValueError as error:
        raise DataError(f"{name}: column {column.name}: a value is not a number: {error}") from error
    outside = ~((numbers >= column.low) & (numbers <= column.high))
    if outside.any():
        first = int(np.flatnonzero(outside)[0])
        raise DataError(
            f"{name}: column {column.name}, row {first + 1}: given {numbers[first]:g}; "
            f"allowed: {column.low:g} to {column.high:g} ({int(outside.sum())} such rows)"
        )
    return numbers


def _codes(column: Categorical, values: Column, name: str) -> Integers:
    given, inverse = np.unique(np.asarray(values, dtype=str), return_inverse=True)
    position = {value: k for k, value in enumerate(column.values)}
    unknown = [str(value) for value in given if str(value) not in position]
    if unknown:
        raise DataError(f"{name}: column {column.name}: given {', '.join(unknown)}; allowed: {', '.join(column.values)}")
    return np.array([position[str(value)] for value in given], dtype=np.int64)[inverse]


@dataclass(frozen=True)
class Split:
    """One data set, split into its three parts."""

    table: Table
    train: Integers
    """(n_train,) rows of the training records: the members."""
    validation: Integers
    test: Integers

    def part(self, name: Literal["train", "validation", "test"]) -> Table:
        """Return the records of one part."""
        return self.table.take(getattr(self, name))


def split_table(table: Table, generator: np.random.Generator, shares: Sequence[float] = SHARES) -> Split:
    """Split a table at random into training, validation and test records, with the same shares within each label.

    Source: REPS paper, Section 7.2 and Appendix B.1.
    """
    parts: list[list[Integers]] = [[] for _ in shares]
    for value in np.unique(table.label):
        rows = generator.permutation(np.flatnonzero(table.label == value))
        ends = np.rint(np.cumsum(shares)[:-1] * len(rows)).astype(int)
        for part, chosen in zip(parts, np.split(rows, ends), strict=True):
            part.append(chosen)
    return Split(table, *(np.sort(np.concatenate(part)) for part in parts))


@dataclass(frozen=True)
class Standardiser:
    """Map from numbers to a common scale and back."""

    centre: Array
    """(p,)."""
    scale: Array
    """(p,) positive."""

    def __call__(self, continuous: Array) -> Array:
        """Standardised numbers (n, p)."""
        return (continuous - self.centre) / self.scale

    def inverse(self, z: Array) -> Array:
        """Numbers in their own units (n, p)."""
        return z * self.scale + self.centre


def training_standardiser(train: Table) -> Standardiser:
    """Standardiser to mean 0 and variance 1 over the training records, outside any budget (REPS paper, Appendix B.1)."""
    scale = train.continuous.std(axis=0)
    return Standardiser(train.continuous.mean(axis=0), np.where(scale > 0, scale, 1.0))


def declared_standardiser(schema: Schema, clip: float) -> Standardiser:
    """Standardiser that maps the declared bounds to ``-clip`` and ``clip``, without using the records."""
    low = np.array([column.low for column in schema.continuous])
    high = np.array([column.high for column in schema.continuous])
    return Standardiser((low + high) / 2, (high - low) / (2 * clip))


def encode(table: Table, standardiser: Standardiser) -> Encoded:
    """Encode records as standardised numbers and one-hot categories (n, p + sum of levels), for evaluation models and attacks."""
    return np.hstack([standardiser(table.continuous), one_hot(table.categories, table.schema.levels)]).astype(np.float32)
