"""Arrays that rooms pass to each other: confidential records and posterior draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
"""Elements of a block: its arrays fit into the cache, and the allocator reuses the memory of one block for the next. Memory of
larger blocks goes back to the system and is allocated again, which takes longer than the arithmetic."""


@dataclass(frozen=True)
class Records:
    """One confidential data set of n records."""

    x: Array
    """(n,) the outcome."""
    design: Array
    """(n, p) the predictors, constant included."""
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Further columns (n,) that a Stan program of a user's own declares, by name."""

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
        """Return the first record once for each outcome in ``x`` (m,), with that outcome."""
        return replace(self.take(np.zeros(len(x), dtype=int)), x=x)


def joined(records: Records, more: Records) -> Records:
    """Join two data sets; of further columns, those that both have."""
    inputs = {name: np.append(records.inputs[name], more.inputs[name]) for name in records.inputs if name in more.inputs}
    return Records(np.append(records.x, more.x), np.concatenate([records.design, more.design]), inputs)


def read_only(values: Any) -> Any:
    """Read-only view of an array: own code that would change an input of others stops with an error."""
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
    """Distinct rows, in increasing order.

    Args:
        rows: (n, k) values.

    Returns:
        first: (u,) position of the first row of each kind.
        inverse: (n,) index of the kind of each row.
    """
    _, first, inverse = np.unique(rows[:, 0], return_index=True, return_inverse=True)
    # Often the first column determines the others, and sorting numbers is many times as fast as sorting rows.
    if not np.array_equal(rows, rows[first[inverse]]):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def blocks(length: int, width: int, multiple: int = 1) -> Iterator[slice]:
    """Slices of an axis, such as the axis of the draws, for blocks of about :data:`BLOCK` elements over the other axis.

    Args:
        length: length of the axis.
        width: length of the other axis.
        multiple: the length of every slice but the last is a multiple of this.
    """
    size = max(1, BLOCK // max(width, 1) // multiple) * multiple
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


LARGEST_DENSE = 5_000_000
"""Most entries of a factor of records in groups that are stored with their zeros."""


def in_groups(values: Array, group: Index, groups: int, common: Array | None = None) -> Array:
    """Place the values of each record in the columns of its group.

    Args:
        values: (n, k) of each record.
        group: (n,) from 0 on.
        groups: number of groups g.
        common: (n, c) first columns, of all groups.

    Returns:
        (n, c + g k) with zeros elsewhere. Beyond :data:`LARGEST_DENSE` it is sparse: rows can be selected, and products formed.
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
