"""Test that the other cells are at most a multiple of the first cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, several, test_kind
from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds


@test_kind("at_most")
class AtMost(Test):
    """Each other statistic is at most a multiple of the first cell's, beyond the error of the comparison."""

    kind: Literal["at_most"] = Field(description="The other cells are at most a multiple of the first cell.")
    times: float = Field(gt=0, description="Largest allowed multiple of the first cell's statistic, which must be above 0.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if each statistic is below the multiple beyond its error, not reproduced if one is above it.

        The verdict is undetermined if the multiple is within the error of a statistic, which does not exclude a larger value.
        """
        first = cells.estimates[0]
        if not first > 0:
            return Judgement(UNDETERMINED, "the first statistic is not above 0, so multiples of it have no meaning")
        excess = cells.estimates[1:] - self.times * first
        errors = cells.scatter.error(lambda copies: copies[:, 1:] - self.times * copies[:, :1])
        slack = thresholds.errors_of(len(excess), len(cells.values)) * errors
        ratios, largest = (_ratios(numbers / first) for numbers in (cells.estimates[1:], cells.estimates[1:] + slack))
        note = f"{ratios} times the first; at most {largest} times, errors included"
        if (excess + slack <= 0).all():
            return Judgement(REPRODUCED, note)
        return Judgement(NOT_REPRODUCED if (excess > slack).any() else UNDETERMINED, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require at least two cells."""
        return several(cells, self.kind)


def _ratios(numbers: Array) -> str:
    return " / ".join(f"{number:.2f}" for number in numbers)
