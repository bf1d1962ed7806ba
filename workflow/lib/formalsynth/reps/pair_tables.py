"""Tables of all pairs of columns, and the tree-structured model that fits them best."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csgraph

from formalsynth.core.arrays import Array, Integers

TINY = 1e-12
"""Smallest probability of a value in a model."""


def pairs_of(columns: int) -> list[tuple[int, int]]:
    """Return all pairs of columns, the first less than the second."""
    return list(itertools.combinations(range(columns), 2))


def pair_counts(codes: Integers, sizes: Sequence[int], weights: Array) -> Array:
    """Return the weighted counts of all pairs of columns, one table after the other.

    Args:
        codes: (n, columns) cell of each record in each column.
        sizes: number of cells of each column.
        weights: (n,).
    """
    counts = [
        np.bincount(codes[:, j] * sizes[k] + codes[:, k], weights, minlength=sizes[j] * sizes[k]) for j, k in pairs_of(len(sizes))
    ]
    return np.concatenate(counts)


def pair_frequencies(noisy: Array, sizes: Sequence[int], floor: float) -> dict[tuple[int, int], Array]:
    """Return the frequencies of each pair from noisy counts, which are at least ``floor``; uniform if all counts are 0."""
    pairs = pairs_of(len(sizes))
    ends = np.cumsum([sizes[j] * sizes[k] for j, k in pairs])[:-1]
    tables = {}
    for (j, k), counts in zip(pairs, np.split(np.maximum(noisy, floor), ends), strict=True):
        total = counts.sum()
        tables[j, k] = (counts / total if total > 0 else np.full_like(counts, 1 / counts.size)).reshape(sizes[j], sizes[k])
    return tables


def information(table: Array) -> float:
    """Mutual information of a table of frequencies."""
    independent = table.sum(axis=1, keepdims=True) * table.sum(axis=0)
    inside = table > 0
    return float((table[inside] * np.log(table[inside] / independent[inside])).sum())


@dataclass(frozen=True)
class Tree:
    """Model in which each column but the first, the root, depends on one other column (Chow and Liu 1968)."""

    start: Array = field(repr=False)
    """(cells,) distribution of the root."""
    edges: tuple[tuple[int, int, Array], ...] = field(repr=False)
    """Parent, child, and distribution of the child for each value of the parent, from the root outwards."""

    @classmethod
    def of(cls, tables: dict[tuple[int, int], Array], columns: int) -> Tree:
        """Return the tree with the largest total mutual information of at least two columns."""
        lengths = np.zeros((columns, columns))
        for (j, k), table in tables.items():
            lengths[j, k] = 1 / (1 + information(table))  # increasing order of lengths is decreasing order of information
        order, parents = csgraph.breadth_first_order(csgraph.minimum_spanning_tree(lengths), 0, directed=False)
        edges = []
        for child in order[1:]:
            parent = int(parents[child])
            table = tables[parent, child] if parent < child else tables[child, parent].T
            total = table.sum(axis=1, keepdims=True)
            share = np.divide(table, total, out=np.full_like(table, 1 / table.shape[1]), where=total > 0)
            edges.append((parent, int(child), share))
        return cls(tables[0, edges[0][1]].sum(axis=1), tuple(edges))

    def draw(self, generator: np.random.Generator, n: int) -> Integers:
        """Draw the cells (n, columns) of n records."""
        uniform = generator.random((n, len(self.edges) + 1))
        codes = np.zeros(uniform.shape, dtype=np.int64)
        codes[:, 0] = np.minimum(np.searchsorted(np.cumsum(self.start), uniform[:, 0], "right"), len(self.start) - 1)
        for place, (parent, child, share) in enumerate(self.edges, start=1):
            ends = np.cumsum(share, axis=1)[codes[:, parent], :-1]
            codes[:, child] = (uniform[:, [place]] >= ends).sum(axis=1)
        return codes

    def log_probability(self, codes: Integers) -> Array:
        """Log probability (n,) of the cells of records."""
        total = np.log(np.maximum(self.start[codes[:, 0]], TINY))
        for parent, child, share in self.edges:
            total += np.log(np.maximum(share[codes[:, parent], codes[:, child]], TINY))
        return np.asarray(total)
