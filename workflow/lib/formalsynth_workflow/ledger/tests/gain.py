"""Test that one change is larger than another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.ledger.notes import joined, share_of, unit_name
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, share_interval, test_kind
from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds

CHANGES = {"rising": "rise", "falling": "fall"}
"""Noun for each direction."""


@test_kind("gain")
class Gain(Test):
    """The change from the first cell to the second is larger than that from the third to the fourth, unit by unit."""

    kind: Literal["gain"] = Field(description="The change between the first two of four cells exceeds that between the last two.")
    direction: Literal["rising", "falling"] = Field("falling", description="Direction of a gain: a rise or a fall.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if the first change is larger in more than half of the units, beyond chance; undetermined within chance."""
        sign = 1 if self.direction == "rising" else -1
        first, second = (sign * (cells.values[:, k + 1] - cells.values[:, k]) for k in (0, 2))
        share = float((first > second).mean() + (first == second).mean() / 2)
        low, high = share_interval(share, len(first), thresholds.confidence)
        medians = [joined(np.atleast_1d(np.median(gain))) for gain in (first, second)]
        units = share_of(share, unit_name(claim.estimate.by))
        change = f"the first {CHANGES[self.direction]} is {medians[0]}, the second {medians[1]}"
        note = f"in the median, {change}; the first is larger in {units}"
        if low > 0.5:
            return Judgement(REPRODUCED, note)
        return Judgement(NOT_REPRODUCED if high < 0.5 else UNDETERMINED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name both changes."""
        return f"a larger {CHANGES[self.direction]} in the first two numbers than in the last two"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require four cells."""
        return f"four cells, for {self.kind}" if cells and len(cells) != 4 else None
