"""Auxiliary public data as the source of scores, at no cost (REPS paper, Definition 3)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.scorers.one_way import counts_of, marginals_of
from formalsynth.reps.stages import SCORERS, Scorer, Tables


@SCORERS.register("public")
@dataclass(frozen=True)
class PublicScorer(Scorer):
    """Mean negative log frequency of a record's cells among public records."""

    records: MixedRecords | None = field(default=None, repr=False)
    """Public records on the same columns; without them, all cells are equally frequent."""

    def parts(self, domain: Domain) -> int:
        """Return 0: the confidential records are not used."""
        return 0

    def statistic(self, domain: Domain, records: MixedRecords, before: Tables | None) -> Array:
        """Return the counts of the public records."""
        if self.records is None:
            return np.ones(sum(domain.sizes))
        return counts_of(domain.cells(self.records), domain.sizes)

    def tables(self, domain: Domain, noisy: Array, before: Tables | None) -> Tables:
        """Return their frequencies."""
        return marginals_of(noisy, domain.sizes, domain)
