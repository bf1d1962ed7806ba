"""Test that numbers printed for a single sample are typical of the units."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth_workflow.ledger.notes import joined, named, percent, unit_name
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds


@test_kind("typical")
class Typical(Test):
    """The numbers printed for one sample are within the range of the units, each of which is such a sample.

    The range covers the central share ``verdicts.confidence`` of the units, adjusted for several numbers.
    """

    kind: Literal["typical"] = Field(description="The printed numbers are within the range of the units.")
    printed: Annotated[list[float], Field(min_length=1)] = Field(description="A printed number for each cell.")
    less_first: bool = Field(False, description="Subtract the first cell from all others, as printed and in each unit.")
    blames: ClassVar[str] = "test.printed"

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if every number is within the range of the units; direction only if just the order is as printed."""
        printed, values = self._taken(np.array([self.printed], dtype=float))[0], self._taken(cells.values)
        outside = (1 - thresholds.confidence) / len(printed) / 2
        low, high = np.quantile(values, [outside, 1 - outside], axis=0)
        among = (low <= printed) & (printed <= high)
        less = ". All but the first are differences from the first" if self.less_first else ""
        texts = [
            f"{joined(lower)} to {joined(upper)} ({joined(number)})"
            for number, lower, upper in zip(printed, low, high, strict=True)
        ]
        ranges = f"range of most {unit_name(claim.estimate.by)}, and the printed number in parentheses"
        note = f"{ranges}: {named(cells.names, texts)}{less}"
        if among.all():
            return Judgement(REPRODUCED, note)
        pairs = list(itertools.combinations(range(len(printed)), 2))
        claimed, estimates = np.array(self.printed, dtype=float), cells.estimates
        ordered = [np.sign(claimed[b] - claimed[a]) == np.sign(estimates[b] - estimates[a]) for a, b in pairs]
        return Judgement(DIRECTION if pairs and all(ordered) else NOT_REPRODUCED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the range."""
        return f"printed numbers in the central {percent(thresholds.confidence)} of the {unit_name(claim.estimate.by)}"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require a printed number for each cell."""
        return f"a number for each of {len(cells)} cells" if cells and len(cells) != len(self.printed) else None

    def _taken(self, values: Array) -> Array:
        """Values (units, cells) that are compared: unchanged, or as differences from the first cell."""
        return np.column_stack([values[:, 0], values[:, 1:] - values[:, :1]]) if self.less_first else values
