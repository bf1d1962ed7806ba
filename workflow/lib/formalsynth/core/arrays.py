"""Arrays that packages pass to each other: confidential records and posterior draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Integers = NDArray[np.int64]
Index = NDArray[np.intp]
Draws = Mapping[str, Array]
"""Posterior draws: each parameter of a family with the S draws along its first axis."""
RANGE = ("range_low", "range_high")
"""Further columns of the records with the ends of their sensitive ranges, which are public."""
BLOCK = 1 << 15
"""Number of elements in a block: its arrays fit into the cache, and the allocator reuses the memory of one block for the next.
The memory of larger blocks is returned to the system and allocated again, which takes longer than the arithmetic."""
PART = 2048
"""Number of records in a part of more than :data:`BLOCK` records: a multiple of :data:`SAME_ROUNDING`."""
SAME_ROUNDING = 16
"""Number of columns of a matrix product that OpenBLAS computes identically: parts with this number of columns, or a multiple,
equal the whole product bit for bit. Weights computed from bounds therefore do not depend on the chosen algorithm."""


@dataclass(frozen=True)
class Records:
    """One confidential data set of n records."""

    x: Array
    """(n,) the outcome."""
    design: Array
    """(n, p) the predictors, including the constant."""
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Further columns (n,) that a user's own Stan program declares, by name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", read_only(self.x))
        object.__setattr__(self, "design", read_only(self.design))
        object.__setattr__(self, "inputs", {name: read_only(values) for name, values in self.inputs.items()})

    def __len__(self) -> int:
        return len(self.x)

    def take(self, index: Any) -> Records:
        """Select the records at ``index``."""
        return Records(self.x[index], self.design[index], take(self.inputs, index))

    def in_unit(self, unit: float) -> Records:
        """Return the records with their outcomes, and the ends of their sensitive ranges, divided by a declared unit.

        Log densities of continuous outcomes, and with them bounds and clipping, depend on the unit. It must not be computed from
        the data.

        Raises:
            ValueError: the unit is not a positive number.
        """
        if not 0 < unit < np.inf:
            raise ValueError(f"unit: given {unit:g}; allowed: a positive number")
        ranges = {name: self.inputs[name] / unit for name in RANGE if name in self.inputs}
        return replace(self, x=self.x / unit, inputs={**self.inputs, **ranges})

    def repeated(self, x: Array) -> Records:
        """Return copies of the first record, one with each outcome in ``x`` (m,)."""
        return replace(self.take(np.zeros(len(x), dtype=int)), x=x)


def joined(records: Records, more: Records) -> Records:
    """Join two data sets, with the further columns that both have."""
    inputs = {name: np.append(records.inputs[name], more.inputs[name]) for name in records.inputs if name in more.inputs}
    return Records(np.append(records.x, more.x), np.concatenate([records.design, more.design]), inputs)


def read_only(values: Any) -> Any:
    """Return a read-only view of an array, so own code that would change a shared input fails with an error."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def intercept_only(x: Array | Integers) -> Records:
    """Build records with the constant as their only predictor."""
    return Records(np.asarray(x, dtype=float), np.ones((len(x), 1)))


def take(draws: Draws, index: Any) -> dict[str, Array]:
    """Draws at ``index`` along the first axis."""
    return {name: values[index] for name, values in draws.items()}


def count(draws: Draws) -> int:
    """Count the draws, S."""
    return len(next(iter(draws.values())))


def distinct_rows(rows: Array) -> tuple[Index, Index]:
    """Find distinct rows, in increasing order.

    Args:
        rows: (n, k) values.

    Returns:
        first: (u,) position of the first occurrence of each distinct row.
        inverse: (n,) index of each row among the distinct rows.
    """
    varying = (rows != rows[:1]).any(axis=0)  # the constant of a design does not need to be sorted
    varying[0] |= not varying.any()
    rows = rows[:, varying]
    _, first, code = np.unique(rows[:, 0], return_index=True, return_inverse=True, equal_nan=False)
    # Often the first column determines the others; otherwise sort the numbers of each column, which is faster than sorting rows.
    if rows.shape[1] > 1 and not np.array_equal(rows, rows[first[code]]):
        for column in rows[:, 1:].T:
            values, own = np.unique(column, return_inverse=True, equal_nan=False)
            _, first, code = np.unique(code * len(values) + own, return_index=True, return_inverse=True)
    return first, code


def blocks(length: int, width: int, multiple: int = 1) -> Iterator[slice]:
    """Yield slices of an axis, such as that of the draws, so each block with the other axis has about :data:`BLOCK` elements.

    Args:
        length: length of the axis.
        width: length of the other axis.
        multiple: every slice, except the last, has a length that is a multiple of this.
    """
    size = max(1, BLOCK // max(width, 1) // multiple) * multiple
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def parts(n: int) -> Iterator[slice]:
    """Yield parts of n records: of many records, so few that a block of a part has several draws, which is faster."""
    size = n if n <= BLOCK else PART
    for start in range(0, n, max(1, size)):
        yield slice(start, min(start + size, n))


def product(axes: Sequence[Array]) -> Array:
    """Points (G, d) of a grid with d axes; the last axis changes fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


LARGEST_DENSE = 5_000_000
"""Largest number of entries of a grouped factor that is stored as a dense array."""


def in_groups(values: Array, group: Index, groups: int, common: Array | None = None) -> Array:
    """Place the values of each record in the columns of its group.

    Args:
        values: (n, k) values of each record.
        group: (n,) group of each record, from 0.
        groups: number of groups g.
        common: (n, c) first columns, shared by all groups.

    Returns:
        (n, c + g k) with zeros elsewhere: dense, or sparse above :data:`LARGEST_DENSE` entries. Rows of both can be selected and
        summed, and both can be transposed and multiplied by dense arrays.
    """
    common = np.empty((len(values), 0)) if common is None else common
    (n, c), k = common.shape, values.shape[1]
    columns = np.hstack([np.broadcast_to(np.arange(c), (n, c)), c + k * group[:, None] + np.arange(k)])
    entries = np.hstack([common, values])
    if n * (c + groups * k) <= LARGEST_DENSE:
        dense = np.zeros((n, c + groups * k))
        np.put_along_axis(dense, columns, entries, axis=1)
        return dense
    from scipy.sparse import csr_array

    starts = np.arange(n + 1) * (c + k)
    return cast(Array, csr_array((entries.ravel(), columns.ravel(), starts), shape=(n, c + groups * k)))


def is_sparse(factor: object) -> bool:
    """Return True for a sparse factor of :func:`in_groups`."""
    return not isinstance(factor, np.ndarray)


def each(factor: Array, function: Callable[[Array], Array]) -> Array:
    """Apply a function, which is 0 at 0, to the entries of a factor."""
    if isinstance(factor, np.ndarray):
        return function(factor)
    mapped = factor.copy()
    mapped.data = function(factor.data)
    return mapped
