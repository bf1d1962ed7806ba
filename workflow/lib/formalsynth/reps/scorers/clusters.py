"""Private clusters: k-means with noisy sums; a record in a small or distant cluster is an outlier (REPS paper, Section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.domain import Domain, MixedRecords, one_hot
from formalsynth.reps.stages import SCORERS, Scorer, Tables

SEED = 20260301
"""Seed of the declared first centres, which are points of the domain."""
COUNT_FLOOR = 1.0
"""Smallest noisy count of a cluster (chosen)."""


def unit_vectors(domain: Domain, records: MixedRecords) -> Array:
    """Encode records as vectors (n, width) of norm at most 1: each feature contributes at most 1 / features to its square."""
    scaled = np.clip(records.z, -domain.clip, domain.clip) / domain.clip
    return np.asarray(np.hstack([scaled, one_hot(records.categories, domain.levels)]) / np.sqrt(domain.features))


@dataclass(frozen=True)
class Clusters:
    """Released clusters."""

    domain: Domain
    centres: Array = field(repr=False)
    """(k, width)."""
    log_share: Array = field(repr=False)
    """(k,)."""
    spread: Array = field(repr=False)
    """(k,) mean squared distance from the centre."""

    def score(self, records: MixedRecords) -> Array:
        """Scores (n,): the least value over the clusters of ``-log share`` plus the squared distance times the features."""
        vectors = unit_vectors(self.domain, records)
        return np.asarray((self.domain.features * squared_distances(vectors, self.centres) - self.log_share).min(axis=1))

    def draw_scores(self, generator: np.random.Generator, n: int) -> Array:
        """Scores (n,) of records of the clusters, with scaled chi-square squared distances."""
        cluster = generator.choice(len(self.log_share), size=n, p=np.exp(self.log_share))
        freedom = self.domain.features
        distances = self.spread[cluster] * generator.chisquare(freedom, size=n) / freedom
        return np.asarray(freedom * distances - self.log_share[cluster])


def squared_distances(vectors: Array, centres: Array) -> Array:
    """Squared distances (n, k)."""
    products = vectors @ centres.T
    squares = np.square(vectors).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * products, 0.0))


@SCORERS.register("clusters")
@dataclass(frozen=True)
class KMeans(Scorer):
    """Rounds of k-means; in each, a record adds a count, a vector and its square, each of norm at most 1, to one cluster."""

    clusters: int = 10
    rounds: int = 3

    def parts(self, domain: Domain) -> int:
        """Return three parts for each round."""
        return 3 * self.rounds

    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Return count, sum and sum of squared norms of each cluster: (k, width + 2)."""
        vectors = unit_vectors(domain, records)
        nearest = squared_distances(vectors, self._centres(domain, before)).argmin(axis=1)
        rows = np.column_stack([np.ones(len(records)), vectors, np.square(vectors).sum(axis=1)])
        sums = np.zeros((self.clusters, rows.shape[1]))
        np.add.at(sums, nearest, rows)
        return sums

    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Return the clusters of the round."""
        counts = np.maximum(noisy[:, 0], COUNT_FLOOR)
        centres = noisy[:, 1:-1] / counts[:, None]
        norms = np.linalg.norm(centres, axis=1, keepdims=True)
        centres = centres / np.maximum(norms, 1.0)
        spread = np.clip(noisy[:, -1] / counts - np.square(centres).sum(axis=1), 0.0, 4.0)
        return Clusters(domain, centres, np.log(counts / counts.sum()), spread)

    def _centres(self, domain: Domain, before: Tables | None) -> Array:
        if isinstance(before, Clusters):
            return before.centres
        generator = np.random.default_rng(SEED)
        columns = [generator.integers(size, size=self.clusters) for size in (*domain.sizes, 2)]
        return unit_vectors(domain, domain.spread(np.column_stack(columns), generator))
