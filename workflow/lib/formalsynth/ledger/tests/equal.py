"""All cells are the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.ledger.tests.base import Cells, Judgement, Test, several, test_kind
from formalsynth.ledger.verdicts import NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim
    from formalsynth.ledger.thresholds import Thresholds


@test_kind("equal")
class Equal(Test):
    """All cells are the first one: unit by unit, or with a tolerance on the statistic."""

    kind: Literal["equal"] = Field(description="All cells are the first one.")
    tolerance: float | None = Field(
        None, ge=0, lt=1, description="Relative distance to the first cell's statistic; if left out, every unit has to be equal."
    )

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced where nothing is apart, or with a tolerance, where no statistic is far from the first."""
        if not self.tolerance:
            largest = float(np.abs(cells.values - cells.values[:, :1]).max())
            return Judgement(REPRODUCED if largest == 0 else NOT_REPRODUCED, "" if largest == 0 else f"up to {largest:.4g} apart")
        first = cells.estimates[0]
        errors = cells.scatter.error(lambda copies: copies - copies[:, :1])
        apart = np.abs(cells.estimates - first)
        allowed = self.tolerance * np.abs(first) + thresholds.errors_of(len(errors) - 1, len(cells.values)) * errors
        largest, most = (100 * each.max() / abs(first) for each in (apart, allowed))
        note = f"up to {largest:.1f} % apart, where up to {most:.2g} % is allowed, errors included"
        return Judgement(REPRODUCED if (apart <= allowed).all() else NOT_REPRODUCED, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """One cell alone has none to be equal to."""
        return several(cells, self.kind)
