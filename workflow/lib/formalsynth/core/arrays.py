"""Arrays that packages pass to each other: confidential records and posterior draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Index = NDArray[np.intp]
Draws = Mapping[str, Array]
"""Posterior draws: each parameter of a family with the S draws along its first axis."""
BLOCK = 1 << 15
"""Number of elements in a block: its arrays fit into the cache, and the allocator reuses the memory of one block for the next.
The memory of larger blocks is returned to the system and allocated again, which takes longer than the arithmetic."""


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
    _, first, inverse = np.unique(rows[:, 0], return_index=True, return_inverse=True)
    # Often the first column determines the others, and sorting numbers is much faster than sorting rows.
    if not np.array_equal(rows, rows[first[inverse]]):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


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
        (n, c + g k) with zeros elsewhere. Above :data:`LARGEST_DENSE` entries it is sparse: rows can be selected and multiplied.
    """
    n, k = values.shape
    shared = np.empty((n, 0)) if common is None else common
    c = shared.shape[1]
    if n * (c + k * groups) > LARGEST_DENSE:
        from scipy.sparse import csr_array

        columns = np.hstack([np.tile(np.arange(c), (n, 1)), c + group[:, None] * k + np.arange(k)])
        cells = np.hstack([shared, values]).ravel()
        sparse = csr_array((cells, columns.ravel(), np.arange(n + 1) * (c + k)), shape=(n, c + groups * k))
        return cast(Array, sparse)
    dense = np.zeros((n, groups, k))
    dense[np.arange(n), group] = values
    return np.hstack([shared, dense.reshape(n, groups * k)])
