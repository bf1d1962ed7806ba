"""Histograms of all pairs of features (REPS paper, Section 5.1: "can be strengthened via pairwise marginals")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.pair_tables import Tree, pair_counts, pair_frequencies, pairs_of
from formalsynth.reps.scorers.one_way import COUNT_FLOOR
from formalsynth.reps.stages import SCORERS, Scorer, Tables


@dataclass(frozen=True)
class PairMarginals:
    """Released frequencies of all pairs."""

    domain: Domain
    log_frequency: Mapping[tuple[int, int], Array] = field(repr=False)

    def score(self, records: MixedRecords) -> Array:
        """Scores (n,) of records."""
        return self._scores(self.domain.cells(records))

    def draw_scores(self, generator: np.random.Generator, n: int) -> Array:
        """Scores (n,) of records drawn from the tree that fits the frequencies best."""
        tables = {pair: np.exp(values) for pair, values in self.log_frequency.items()}
        return self._scores(Tree.of(tables, self.domain.features).draw(generator, n))

    def _scores(self, cells: Integers) -> Array:
        """Rarity ``-log frequency``, averaged over the pairs."""
        rarity = [-values[cells[:, j], cells[:, k]] for (j, k), values in self.log_frequency.items()]
        return np.asarray(np.mean(rarity, axis=0))


@SCORERS.register("pairwise")
@dataclass(frozen=True)
class Pairwise(Scorer):
    """Mean negative log frequency of a record's cells in the tables of all pairs; a record adds one count to each table."""

    bins: int = 4
    """Number of bins of a number: tables of pairs have the square of this number of cells."""

    def parts(self, domain: Domain) -> int:
        """Return the number of pairs."""
        return len(pairs_of(domain.features))

    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Return the counts of all tables."""
        coarse = replace(domain, bins=self.bins)
        return pair_counts(coarse.cells(records), coarse.sizes, np.ones(len(records)))

    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Return the frequencies of all tables."""
        coarse = replace(domain, bins=self.bins)
        frequencies = pair_frequencies(noisy, coarse.sizes, COUNT_FLOOR)
        return PairMarginals(coarse, {pair: np.log(values) for pair, values in frequencies.items()})
