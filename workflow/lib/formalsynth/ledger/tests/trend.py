"""The statistic is a power of what the cells differ in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from formalsynth.core.model import ordered
from formalsynth.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim
    from formalsynth.ledger.thresholds import Thresholds


@test_kind("trend")
class Trend(Test):
    """The slope of the log statistic on the log of the cells (sample sizes, say) lies between two limits and is not zero."""

    kind: Literal["trend"] = Field(description="The slope of the log statistic on the log of the cells is between low and high.")
    low: float = Field(description="Lower limit of the slope; at least half of the limit nearer 0 is direction only.")
    high: float = Field(description="Upper limit of the slope.")

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        return ordered(self, "low", "high")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced where the slope is surely not zero and between the limits.

        A slope outside them points the way the claim does where it is surely of their sign and at least half as steep.
        """
        x = np.log(np.array(claim.estimate.of, dtype=float))
        x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
        slope, error = float(np.log(cells.estimates) @ x), float((np.log(cells.resampled) @ x).std(ddof=1))
        low, high, slack = self.low, self.high, thresholds.errors * error
        note = f"slope {slope:.3f} (standard error {error:.3f})"
        sign = np.sign(low + high)
        sure = sign * slope > slack
        if sure and low - slack <= slope <= high + slack:
            return Judgement(REPRODUCED, note)
        return Judgement(DIRECTION if sure and sign * slope >= min(sign * low, sign * high) / 2 else NOT_REPRODUCED, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """A slope needs two cells or more, which are numbers above 0."""
        if len(cells) < 2:
            return f"two cells or more, for {self.kind}"
        return None if all(isinstance(cell, float) and cell > 0 for cell in cells) else f"numbers > 0, for {self.kind}"
