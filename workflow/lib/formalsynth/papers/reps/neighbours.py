"""Exact distances to the nearest records of a pool.

A matrix product in single precision selects a few candidates for each query, whose distances are then computed in double
precision. A bound on the rounding errors of the products identifies queries whose candidates might lack a neighbour; these
are compared with every record that the bound does not exclude. This takes 40 % of the time of a search in double precision,
such as scikit-learn's; a replicate of Adult has about twenty searches of about a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers
from formalsynth.papers.reps.tables import Encoded

_QUERIES = 48
"""Number of queries per comparison with the pool; so few queries have few categories, and their products fit into the cache."""
_SPARE = 2
"""Number of candidates in addition to the neighbours, which makes rounding errors matter only rarely."""
_ROUNDING = 2.0**-23
"""Twice the unit roundoff of single precision."""
_OUT_OF_REACH = 1e38
"""Large finite value for padding; with infinity, a matrix product may warn of infinity times 0."""


def nearest(queries: Encoded, pool: Encoded, k: int) -> tuple[Array, Integers]:
    """Distances of each query to its k nearest records of the pool, in ascending order, and their positions: (m, k) each.

    Args:
        queries: (m, d).
        pool: (r, d) with at least k records.
        k: number of neighbours.
    """
    # Queries are grouped by category, because a column that is 0 in all queries of a part is left out of its product.
    order = np.argsort(_patterns(queries), kind="stable")
    searched = _Pool.of(pool, k)
    distances, index = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)
    for part in np.array_split(order, max(1, -(-len(order) // _QUERIES))):
        distances[part], index[part] = searched.nearest(queries[part])
    return distances, index


def _patterns(queries: Encoded) -> NDArray[np.bytes_]:
    """Pattern of the nonzero columns of each query, as a string of bytes."""
    bits = np.packbits(queries != 0, axis=1)
    return np.ascontiguousarray(bits).view(f"S{bits.shape[1]}")[:, 0]


@dataclass(frozen=True)
class _Pool:
    """Records of the pool, prepared for the search of neighbours."""

    records: Encoded = field(repr=False)
    """(r, d)."""
    products: NDArray[np.float32] = field(repr=False)
    """(d + 1, groups * size) factor; its product with (query, 1) is the squared distance minus the squared norm of the query."""
    size: int
    """Number of records of a group, for which the smallest product is computed first."""
    k: int
    columns: NDArray[np.float32] = field(repr=False)
    """Buffer for the rows of ``products`` that a part needs; allocating it each time would take a third of the time."""
    buffer: NDArray[np.float32] = field(repr=False)
    """Buffer for the products of a part, (queries, groups * size)."""

    @classmethod
    def of(cls, records: Encoded, k: int) -> _Pool:
        """Return the pool with its groups, whose size balances the work on all groups and the work within the selected groups."""
        count, width = records.shape
        size = max(1, math.isqrt(count // (k + _SPARE)))
        products = np.zeros((width + 1, -(-count // size) * size), dtype=np.float32)
        products[:-1, :count] = -2 * records.T
        products[-1] = _OUT_OF_REACH
        products[-1, :count] = np.square(records, dtype=np.float64).sum(axis=1)
        return cls(records, products, size, k, np.empty_like(products), np.empty((_QUERIES, products.shape[1]), dtype=np.float32))

    def nearest(self, queries: Encoded) -> tuple[Array, Integers]:
        """Distances and positions, as in the function :func:`nearest`, for one part of the queries."""
        extended = np.hstack([queries, np.ones((len(queries), 1))]).astype(np.float32)
        used = np.flatnonzero(extended.any(axis=0))
        # mode "clip" lets numpy write to the given buffer; all positions are valid
        columns = np.take(self.products, used, axis=0, out=self.columns[: len(used)], mode="clip")
        products = np.matmul(extended[:, used], columns, out=self.buffer[: len(queries)])
        index, beyond = self._candidates(products)
        distances = self._distances(queries[:, None], index)
        order = np.argsort(distances, axis=1, kind="stable")[:, : self.k]
        distances, index = np.take_along_axis(distances, order, axis=1), np.take_along_axis(index, order, axis=1)
        limit = _limit(queries, distances[:, -1], len(used))
        for row in np.flatnonzero(beyond <= limit):
            possible = np.flatnonzero(products[row] <= limit[row])
            exact = self._distances(queries[row], possible)
            order = np.argsort(exact, kind="stable")[: self.k]
            distances[row], index[row] = exact[order], possible[order]
        return distances, index

    def _candidates(self, products: NDArray[np.float32]) -> tuple[Integers, NDArray[np.float32]]:
        """Positions (m, k + spare) of each query's smallest products, and a lower bound (m,) on all other products."""
        groups = products.shape[1] // self.size
        selected = min(self.k + _SPARE, groups)
        # The smallest products are in the groups with the smallest minima. Group g has the records g, groups + g, ...
        least = products.reshape(len(products), self.size, groups).min(axis=1)
        chosen = np.argpartition(least, selected - 1, axis=1)[:, :selected]
        index = (chosen[:, :, None] + np.arange(self.size) * groups).reshape(len(products), -1)
        values = np.take_along_axis(products, index, axis=1)
        if selected == groups:
            return index, np.full(len(products), np.inf, dtype=np.float32)
        least = np.argpartition(values, selected - 1, axis=1)[:, :selected]
        return np.take_along_axis(index, least, axis=1), np.take_along_axis(values, least, axis=1).max(axis=1)

    def _distances(self, queries: Encoded, index: Integers) -> Array:
        """Distances in double precision to the records at the positions; infinite for positions after the last record."""
        count = len(self.records)
        difference = queries - self.records[np.minimum(index, count - 1)].astype(np.float64)
        return np.where(index < count, np.sqrt(np.einsum("...d,...d->...", difference, difference)), np.inf)


def _limit(queries: Encoded, distance: Array, terms: int) -> Array:
    """Largest possible product of a record that is nearer to its query than ``distance``: (m,).

    The norm of such a record is at most the sum of the query's norm and the distance. The rounding error of a sum of ``terms``
    products, of its factors and of the norm is at most ``terms + 5`` units of the sum of absolute values (Higham 2002,
    Section 3.1).
    """
    norm = np.sqrt(np.square(queries, dtype=np.float64).sum(axis=1))
    largest = norm + distance
    limit: Array = distance**2 - norm**2 + (terms + 5) * _ROUNDING * (2 * norm * largest + largest**2)
    return limit
