"""Test that the other cells are at most a multiple of the first cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth_workflow.ledger.notes import named
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
            return Judgement(UNDETERMINED, "the statistic of the first cell is not above 0, so its multiples mean nothing")
        excess = cells.estimates[1:] - self.times * first
        errors = cells.scatter.error(lambda copies: copies[:, 1:] - self.times * copies[:, :1])
        slack = thresholds.errors_of(len(excess), len(cells.values)) * errors
        texts = [
            f"the ratio to {cells.names[0]} is {number / first:.2f}, with errors at most {most / first:.2f}"
            for number, most in zip(cells.estimates[1:], cells.estimates[1:] + slack, strict=True)
        ]
        note = named(cells.names[1:], texts)
        if (excess + slack <= 0).all():
            return Judgement(REPRODUCED, note)
        return Judgement(NOT_REPRODUCED if (excess > slack).any() else UNDETERMINED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the largest allowed multiple."""
        times = f"{self.times:g} times {names[0]}" if self.times != 1 else names[0]
        return f"{' and '.join(names[1:]) if len(names) < 4 else 'each of the others'} at most {times}"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require at least two cells."""
        return several(cells, self.kind)
