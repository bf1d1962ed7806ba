"""Test of the rate at which the statistic changes with the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from formalsynth.core.model import ordered
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds


@test_kind("trend")
class Trend(Test):
    """The slope of the log statistic on the log of the cells (such as sample sizes) is between two limits and is not zero.

    With both limits, it tests a rate, such as -0.6 and -0.4 for n^-1/2. With ``high: 0`` alone, it tests for a decrease at any
    rate; with ``low: 0`` alone, for an increase.
    """

    kind: Literal["trend"] = Field(description="The slope of the log statistic on the log of the cells is between low and high.")
    low: float | None = Field(None, description="Lower limit of the slope; if left out, there is none.")
    high: float | None = Field(None, description="Upper limit of the slope; if left out, there is none.")

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("low and high are missing; trend needs one of them")
        if not (self._low >= 0 or self._high <= 0):
            raise ValueError("low and high must be on the same side of 0; use the test equal for a constant")
        return ordered(self, "low", "high")

    @property
    def _low(self) -> float:
        return -np.inf if self.low is None else self.low

    @property
    def _high(self) -> float:
        return np.inf if self.high is None else self.high

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if the slope is between the limits, up to its error, and differs from zero beyond its error.

        The verdict is undetermined if the slope is between the limits but may be zero. A slope outside the limits is direction
        only if it differs from zero beyond its error and is at least half as steep as the nearer limit.
        """
        x = np.log(np.array(claim.estimate.of, dtype=float))
        x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
        slope, error = float(np.log(cells.estimates) @ x), float(cells.scatter.error(lambda copies: np.log(copies) @ x))
        sign, slack = (1 if self._low >= 0 else -1), thresholds.errors_of(1, len(cells.values)) * error
        note = f"the slope on a log-log scale is {slope:.3f} (standard error {error:.3f})"
        inside, sure = self._low - slack <= slope <= self._high + slack, sign * slope > slack
        if inside:
            return Judgement(REPRODUCED if sure else UNDETERMINED, note)
        steep = sign * slope >= min(sign * self._low, sign * self._high) / 2
        return Judgement(DIRECTION if sure and steep else NOT_REPRODUCED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the limits of the slope."""
        if self.low is None or self.high is None or not self.low * self.high:
            return "a rise" if self._low >= 0 else "a fall"
        return f"a slope on a log-log scale between {self.low:g} and {self.high:g}"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require at least two cells, all of them positive numbers."""
        if len(cells) < 2:
            return f"two cells or more, for {self.kind}"
        return None if all(isinstance(cell, float) and cell > 0 for cell in cells) else f"numbers > 0, for {self.kind}"
