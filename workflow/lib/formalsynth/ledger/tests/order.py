"""The cells rise or fall from left to right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.core.statistics import PAIRED
from formalsynth.ledger.notes import unit_name
from formalsynth.ledger.tests.base import (
    Cells,
    Judgement,
    NeededShare,
    Test,
    least_share,
    several,
    share_interval,
    test_kind,
)
from formalsynth.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim, Estimate
    from formalsynth.ledger.thresholds import Thresholds

HOLDS, FAILS, UNCLEAR = "holds", "fails", "unclear"
"""What can be said of one step of an order."""


@test_kind("order")
class Order(Test):
    """The cells rise or fall, each by more than the margin, on the statistic and in most of the units.

    The order of a statistic that has no value for a single unit, such as a standard deviation, is judged on its resamples.
    """

    kind: Literal["order"] = Field(description="The cells rise or fall.")
    direction: Literal["rising", "falling"] = Field("rising", description="What the cells do from left to right.")
    pairs: Literal["adjacent", "first"] = Field(
        "adjacent", description="Which cells are compared: each cell and the next, or the first and each of the others."
    )
    share: NeededShare | None = Field(
        None,
        description="Share of the units that must be in order, mostly for verdicts.mostly; "
        "none wants more than half of them, beyond chance.",
    )
    margin: float = Field(0.0, ge=0, description="The least step, in the units of the cells.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced where every step holds; direction only where some hold and none fails."""
        by_unit = _by_unit(claim.estimate)
        units = len(cells.values) if by_unit else 0
        states, shares = [], []
        for a, b in self._compared(len(cells.estimates)):
            share, rises = self._step(cells, a, b, by_unit)
            states.append(_state(share, units, rises, least_share(self.share, thresholds), thresholds.confidence))
            shares.append(share)
        what = f"of {unit_name(claim.estimate.by)}" if by_unit else "of the resamples"
        note = f"in this order in {' / '.join(f'{share:.2f}' for share in shares)} {what}"
        if all(state == HOLDS for state in states):
            return Judgement(REPRODUCED, note)
        if FAILS in states or HOLDS not in states:
            return Judgement(NOT_REPRODUCED, note)
        return Judgement(DIRECTION, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """One cell alone has no order."""
        return several(cells, self.kind)

    def _compared(self, cells: int) -> list[tuple[int, int]]:
        """The pairs of cells that are compared."""
        return [(0, k) for k in range(1, cells)] if self.pairs == "first" else list(itertools.pairwise(range(cells)))

    def _step(self, cells: Cells, a: int, b: int, by_unit: bool) -> tuple[float, bool]:
        """The share of the units, or resamples, in which a step is as claimed, and whether that of the statistic is."""
        sign = 1 if self.direction == "rising" else -1
        numbers = cells.values if by_unit else cells.resampled
        steps = sign * (numbers[:, b] - numbers[:, a]) - self.margin
        share = float((steps > 0).mean() + (steps == 0).mean() / 2)
        return share, bool(sign * (cells.estimates[b] - cells.estimates[a]) > self.margin)


def _by_unit(estimate: Estimate) -> bool:
    """Whether the statistic says something of a single unit, so that the units can be compared."""
    return estimate.statistic in PAIRED and estimate.above is None


def _state(share: float, units: int, rises: bool, least: float | None, confidence: float) -> str:
    """Whether one step of an order holds, fails, or cannot be told from none.

    Args:
        share: share of the units, or of the resamples, in which the step is as claimed.
        units: number of units; 0 where the share is that of resamples.
        rises: whether the step of the statistic is as claimed.
        least: share that the claim needs; None for more than half beyond chance.
        confidence: of the interval of the share.
    """
    if units == 1:
        return HOLDS if rises else FAILS
    low, high = (share, share) if not units else share_interval(share, units, confidence)
    sure = 0.5 if units else 0.5 + confidence / 2
    if least is not None:
        return HOLDS if rises and high >= least else UNCLEAR if rises else FAILS
    if rises and low > sure:
        return HOLDS
    return FAILS if not rises and high < 1 - sure else UNCLEAR
