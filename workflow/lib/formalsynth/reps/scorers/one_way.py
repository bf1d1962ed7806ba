"""One-way histograms of all features (REPS paper, Section 5.1 and Appendix B.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.domain import Domain, MixedRecords, offsets
from formalsynth.reps.stages import SCORERS, Scorer, Tables

COUNT_FLOOR = 1.0
"""Smallest value of a noisy count, so an empty cell has a finite score (chosen)."""


@dataclass(frozen=True)
class Marginals:
    """Released histograms as one-way frequencies."""

    sizes: tuple[int, ...]
    """Number of cells of each feature."""
    log_frequency: Array = field(repr=False)
    """(sum of sizes,)."""
    domain: Domain | None = None
    """Declared columns; None if the cells of records are computed elsewhere."""

    def scores(self, cells: Integers) -> Array:
        """Rarity ``-log frequency``, averaged over the features (chosen): (n,), nonnegative."""
        return np.asarray(-self.log_frequency[cells + offsets(self.sizes)].mean(axis=1))

    def score(self, records: MixedRecords) -> Array:
        """Scores (n,) of records."""
        assert self.domain is not None
        return self.scores(self.domain.cells(records))

    def draw(self, generator: np.random.Generator, n: int) -> Integers:
        """Cells of n records, whose features are drawn independently with the released frequencies."""
        ends = np.split(np.exp(self.log_frequency), np.cumsum(self.sizes)[:-1])
        return np.column_stack([generator.choice(len(p), size=n, p=p / p.sum()) for p in ends])

    def draw_scores(self, generator: np.random.Generator, n: int) -> Array:
        """Scores (n,) of records drawn from the frequencies."""
        return self.scores(self.draw(generator, n))


def marginals_of(noisy: Array, sizes: Sequence[int], domain: Domain | None = None) -> Marginals:
    """Frequencies from the noisy counts (sum of sizes,) of all features."""
    counts = np.maximum(noisy, COUNT_FLOOR)
    by_feature = np.add.reduceat(counts, offsets(sizes))
    return Marginals(tuple(sizes), np.log(counts) - np.log(np.repeat(by_feature, sizes)), domain)


def histogram_sensitivity(features: int) -> float:
    """L2 sensitivity of all histograms together: a record contributes one count to each (Section 5.1)."""
    return float(np.sqrt(features))


def release_marginals(cells: Integers, sizes: Sequence[int], sigma: float, generator: np.random.Generator) -> Marginals:
    """Release the histograms of all features jointly with Gaussian noise and form frequencies.

    Args:
        cells: (n, features) cells of the records.
        sizes: number of cells of each feature.
        sigma: noise standard deviation of a count; 0 for no noise.
        generator: source of the noise.
    """
    counts = counts_of(cells, sizes)
    return marginals_of(counts + sigma * generator.standard_normal(len(counts)), sizes)


def counts_of(cells: Integers, sizes: Sequence[int]) -> Array:
    """Return the counts (sum of sizes,) of the histograms of all features."""
    return np.bincount((cells + offsets(sizes)).ravel(), minlength=int(sum(sizes))).astype(np.float64)


@SCORERS.register("one_way")
@dataclass(frozen=True)
class OneWay(Scorer):
    """Mean negative log frequency of a record's cells; a record adds one count to the histogram of each feature."""

    def parts(self, domain: Domain) -> int:
        """Return the number of features."""
        return domain.features

    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Return the counts of all histograms."""
        return counts_of(domain.cells(records), domain.sizes)

    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Return the frequencies of all histograms."""
        return marginals_of(noisy, domain.sizes, domain)
