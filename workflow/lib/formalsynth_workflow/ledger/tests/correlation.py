"""Test that two cells are nearly uncorrelated over the units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds

FEWEST = 4
"""Minimum number of units for which Fisher's interval exists."""


@test_kind("correlation")
class Correlation(Test):
    """The absolute correlation of two cells over the units is below a limit, beyond its error."""

    kind: Literal["correlation"] = Field(description="The absolute correlation of two cells is below high.")
    high: float = Field(gt=0, lt=1, description="Upper limit.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if Fisher's interval is below the limit, not reproduced if it is above, otherwise undetermined."""
        first, second = cells.values.T
        if len(first) < FEWEST or not (np.ptp(first) and np.ptp(second)):
            return Judgement(UNDETERMINED, "too few distinct values for a correlation")
        correlation = float(np.corrcoef(first, second)[0, 1])
        reach = thresholds.errors_of(1, len(first)) / (len(first) - 3) ** 0.5
        centre = np.arctanh(min(abs(correlation), 1 - 1e-12))
        least, most = np.tanh(centre - reach), np.tanh(centre + reach)
        note = f"the correlation is {correlation:.3f}; with errors, its absolute value is {max(least, 0):.3f} to {most:.3f}"
        if most <= self.high:
            return Judgement(REPRODUCED, note)
        return Judgement(NOT_REPRODUCED if least > self.high else UNDETERMINED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the limit."""
        return f"an absolute correlation below {self.high:g}"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require two cells."""
        return f"two cells, for {self.kind}" if cells and len(cells) != 2 else None
