"""Instantiation A with a graphical model: a tree fitted to weighted tables of all pairs (REPS paper, Section 5.3).

A tree has a closed form and needs no iterations. The library mbi 2.0, which fits any graph, requires jax and nine other packages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.domain import CLASSES, Domain, MixedRecords
from formalsynth.reps.pair_tables import Tree, pair_counts, pair_frequencies, pairs_of
from formalsynth.reps.stages import LEARNERS, Budget, GaussianCost, Learned, sigma_of


@dataclass(frozen=True)
class TreeModel:
    """Tree of cells; numbers are uniform within their bins."""

    domain: Domain
    tree: Tree = field(repr=False)

    def sample(self, generator: np.random.Generator, n: int) -> MixedRecords:
        """Draw n records."""
        return self.domain.spread(self.tree.draw(generator, n), generator)

    def log_density(self, records: MixedRecords) -> Array:
        """Log probability (n,) of the cells of records."""
        return self.tree.log_probability(self.domain.codes(records))


@LEARNERS.register("graphical")
@dataclass(frozen=True)
class Graphical:
    """Weighted tables of all pairs of columns, released together; a record moves each by at most its weight."""

    bins: int = 8
    """Number of bins of a number."""

    def influence(self, domain: Domain, records: MixedRecords) -> Array:
        """Influence (n,): each record adds 1 to a cell of each table."""
        return np.ones(len(records))

    def fit(
        self, domain: Domain, records: MixedRecords, weights: Array, budget: Budget, generator: np.random.Generator
    ) -> Learned:
        """Fit the tree; arguments as in :meth:`formalsynth.reps.stages.Learner.fit`."""
        coarse = replace(domain, bins=self.bins)
        sizes = (*coarse.sizes, CLASSES)
        parts = len(pairs_of(len(sizes)))
        sigma = sigma_of(parts, budget)
        counts = pair_counts(coarse.codes(records), sizes, weights)
        noisy = counts + sigma * generator.standard_normal(len(counts))
        tree = Tree.of(pair_frequencies(noisy, sizes, 0.0), len(sizes))
        return Learned(TreeModel(coarse, tree), GaussianCost.of(math.sqrt(parts), sigma))
