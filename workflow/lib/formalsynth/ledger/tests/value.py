"""The cells are printed numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from formalsynth.ledger.notes import joined
from formalsynth.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim
    from formalsynth.ledger.thresholds import Thresholds


@test_kind("value")
class Value(Test):
    """The statistics agree with printed numbers, up to a relative distance and the Monte Carlo error."""

    kind: Literal["value"] = Field(description="The cells are the printed numbers.")
    printed: Annotated[list[float], Field(min_length=1)] = Field(description="A number for each cell.")
    tolerance: float | None = Field(
        None, ge=0, lt=1, description="Relative distance that counts as the same; none takes verdicts.within."
    )
    blames: ClassVar[str] = "test.printed"

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced where every number is near; direction only where they are at least in the printed order."""
        printed, estimates = np.array(self.printed, dtype=float), cells.estimates
        within = self.tolerance if self.tolerance is not None else thresholds.within
        near = np.abs(estimates - printed) <= within * np.abs(printed) + thresholds.errors * cells.errors
        if near.all():
            return Judgement(REPRODUCED)
        note = f"beyond {within:.0%}: {joined(estimates[~near])} against {joined(printed[~near])}"
        pairs = list(itertools.combinations(range(len(printed)), 2))
        ordered = [np.sign(printed[b] - printed[a]) == np.sign(estimates[b] - estimates[a]) for a, b in pairs]
        return Judgement(DIRECTION if pairs and all(ordered) else NOT_REPRODUCED, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """There has to be a printed number for each cell."""
        return f"a number for each of {len(cells)} cells" if cells and len(cells) != len(self.printed) else None
