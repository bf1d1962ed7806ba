"""Test that all cells equal the first cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.ledger.notes import percent
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, several, test_kind
from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds


@test_kind("equal")
class Equal(Test):
    """All cells equal the first cell: unit by unit, or with a tolerance on the statistic."""

    kind: Literal["equal"] = Field(description="All cells equal the first cell.")
    tolerance: float | None = Field(
        None,
        ge=0,
        lt=1,
        description="Relative distance to the first cell's statistic; if left out, every unit must be equal.",
    )

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if all units are equal or, with a tolerance, if all statistics are close to the first cell's."""
        if not self.tolerance:
            largest = float(np.abs(cells.values - cells.values[:, :1]).max())
            note = "" if largest == 0 else f"the largest difference is {largest:.4g}"
            return Judgement(REPRODUCED if largest == 0 else NOT_REPRODUCED, note)
        first = cells.estimates[0]
        errors = cells.scatter.error(lambda copies: copies - copies[:, :1])
        differences = np.abs(cells.estimates - first)
        allowed = self.tolerance * np.abs(first) + thresholds.errors_of(len(errors) - 1, len(cells.values)) * errors
        shares = [percent(values.max() / abs(first)) for values in (differences, allowed)]
        note = f"the largest difference is {shares[0]}; with errors, {shares[1]} is allowed"
        return Judgement(REPRODUCED if (differences <= allowed).all() else NOT_REPRODUCED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the tolerance."""
        return f"all within {percent(self.tolerance)} of the first" if self.tolerance else "equal values"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require at least two cells."""
        return several(cells, self.kind)
