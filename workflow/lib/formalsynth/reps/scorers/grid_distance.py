"""Private nearest-neighbour distances on noisy grids (REPS paper, Section 5.1: "DP NN distances")."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.stages import SCORERS, Scorer, Tables


@dataclass(frozen=True)
class Grids:
    """Released grids of pairs of numbers, as distances."""

    domain: Domain
    planes: tuple[tuple[int, int], ...]
    shares: tuple[Array, ...] = field(repr=False)
    """Frequencies (bins, bins) of each plane."""
    distances: tuple[Array, ...] = field(repr=False)
    """For each cell, the distance in bins within which the declared share of the records is (bins, bins)."""

    def score(self, records: MixedRecords) -> Array:
        """Scores (n,): the distance of each record's cell, averaged over the planes."""
        cells = self.domain.cells(records)
        return self._mean([cells[:, list(plane)] for plane in self.planes])

    def draw_scores(self, generator: np.random.Generator, n: int) -> Array:
        """Scores (n,) of records whose cells are drawn independently in each plane."""
        flat = [generator.choice(share.size, size=n, p=share.ravel()) for share in self.shares]
        return self._mean([np.column_stack(np.divmod(cells, self.domain.bins)) for cells in flat])

    def _mean(self, cells: list[Integers]) -> Array:
        values = [table[cell[:, 0], cell[:, 1]] for table, cell in zip(self.distances, cells, strict=True)]
        return np.asarray(np.mean(values, axis=0))


@SCORERS.register("grid_distance")
@dataclass(frozen=True)
class GridDistance(Scorer):
    """Grids of adjacent pairs of numbers; a record adds one count to each."""

    share: float = 0.02
    """Share of the records that has to be within the distance."""

    def parts(self, domain: Domain) -> int:
        """Return the number of planes.

        Raises:
            ValueError: there are fewer than two numbers.
        """
        return len(self._planes(domain))

    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Return the counts of all grids: (planes, bins, bins)."""
        cells, bins = domain.cells(records), domain.bins
        flat = [np.bincount(cells[:, j] * bins + cells[:, k], minlength=bins**2) for j, k in self._planes(domain)]
        return np.reshape(flat, (-1, bins, bins)).astype(np.float64)

    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Return the distances in all grids."""
        counts = np.maximum(noisy, 0.0) + 1e-9
        shares = tuple(plane / plane.sum() for plane in counts)
        # Without flooring, noise cancels in the sum of a square.
        distances = tuple(grid_distances(plane / plane.sum() if plane.sum() > 0 else plane, self.share) for plane in noisy)
        return Grids(domain, self._planes(domain), shares, distances)

    def _planes(self, domain: Domain) -> tuple[tuple[int, int], ...]:
        if domain.numbers < 2:
            raise ValueError(f"the scorer grid_distance needs at least 2 numbers, given {domain.numbers}")
        return tuple((j, j + 1) for j in range(domain.numbers - 1))


def grid_distances(shares: Array, needed: float) -> Array:
    """Smallest number of bins (bins, bins) by which a square around each cell extends until it has the needed share.

    It is interpolated between whole numbers of bins, and 0 if the cell itself is enough.
    """
    bins = len(shares)
    sums = np.pad(shares.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    place = np.arange(bins)
    distance, last = np.full(shares.shape, float(bins)), np.zeros_like(shares)
    for radius in range(bins):
        low, high = np.maximum(place - radius, 0), np.minimum(place + radius + 1, bins)
        inside = sums[np.ix_(high, high)] - sums[np.ix_(low, high)] - sums[np.ix_(high, low)] + sums[np.ix_(low, low)]
        reached = (inside >= needed) & (distance == bins)
        part = np.divide(needed - last, inside - last, out=np.zeros_like(last), where=inside > last)
        distance[reached] = np.clip(radius - 1 + part, 0, None)[reached]
        last = inside
    return distance
