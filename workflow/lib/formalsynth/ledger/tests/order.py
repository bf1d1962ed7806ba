"""The cells rise or fall from left to right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from scipy.special import stdtr

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import PAIRED
from formalsynth.ledger.notes import named, unit_name
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
from formalsynth.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim, Estimate
    from formalsynth.ledger.thresholds import Thresholds


@dataclass(frozen=True)
class Step:
    """What can be said of one step of an order."""

    share: float
    """Share of the units that take it, beyond the margin; of a statistic without units, how sure it is."""
    holds: bool
    """Whether it is as claimed."""
    ahead: bool
    """Whether it goes the claimed way beyond chance, though maybe not as far or as often as claimed."""
    back: bool
    """Whether it surely goes another way: the other way beyond chance, or nowhere, since the statistics are equal without error;
    or in freedom units than the claim names, and not the claimed way beyond chance."""


@test_kind("order")
class Order(Test):
    """The cells rise or fall, each by more than the margin, on the statistic and in most of the units.

    An order is direction only where a step goes the claimed way beyond chance and none the other way; with a margin, every step
    has to go the claimed way. It is undetermined where no step goes either way beyond chance, and not reproduced where one goes
    the other way, or surely in freedom units than the claim names. What any of several steps may show has to be beyond chance for
    all of them together. The order of a statistic that has no value for a single unit, such as a standard deviation, is judged on
    its Monte Carlo error.
    """

    kind: Literal["order"] = Field(description="The cells rise or fall.")
    direction: Literal["rising", "falling"] = Field("rising", description="What the cells do from left to right.")
    pairs: Literal["adjacent", "first", "twins"] = Field(
        "adjacent",
        description="Which cells are compared: each cell and the next, the first and each of the others, "
        "or twins, the first and the second, the third and the fourth, and so on.",
    )
    share: NeededShare | None = Field(
        None,
        description="Share of the units that must be in order, mostly for verdicts.mostly; "
        "none wants more than half of them, beyond chance.",
    )
    margin: float = Field(0.0, ge=0, description="The least step, in the units of the cells.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced where every step holds; undetermined where all of them may be chance."""
        by_unit = _by_unit(claim.estimate)
        compared = self._compared(len(cells.estimates))
        steps = [self._step(cells, a, b, by_unit, thresholds, len(compared)) for a, b in compared]
        shares = [f"{step.share:.2f}" for step in steps]
        pairs = [f"{cells.names[a]} to {cells.names[b]}" for a, b in compared]
        of = f"of {unit_name(claim.estimate.by)}" if by_unit else "certainty"
        if len(set(shares)) == 1:
            note = f"in this order {'in' if by_unit else 'with'} {shares[0]} {of}{', each step' if len(shares) > 1 else ''}"
        else:
            note = f"steps in this order, {'share' if by_unit else 'with'} {of}: {named(pairs, shares)}"
        if all(step.holds for step in steps):
            return Judgement(REPRODUCED, note)
        if any(step.back for step in steps) or (self.margin and not all(step.ahead for step in steps)):
            return Judgement(NOT_REPRODUCED, note)
        return Judgement(DIRECTION if any(step.ahead for step in steps) else UNDETERMINED, note)

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """One cell alone has no order, nor has one without its twin."""
        if self.pairs == "twins" and len(cells) % 2:
            return f"an even number of cells, for {self.kind} of twins"
        return several(cells, self.kind)

    def _compared(self, cells: int) -> list[tuple[int, int]]:
        """The pairs of cells that are compared."""
        if self.pairs == "twins":
            return [(k, k + 1) for k in range(0, cells, 2)]
        return [(0, k) for k in range(1, cells)] if self.pairs == "first" else list(itertools.pairwise(range(cells)))

    def _step(self, cells: Cells, a: int, b: int, by_unit: bool, thresholds: Thresholds, steps: int) -> Step:
        """What can be said of the step from one cell to another."""
        sign = 1 if self.direction == "rising" else -1
        goes = float(sign * (cells.estimates[b] - cells.estimates[a]))
        units = sign * (cells.values[:, b] - cells.values[:, a]) if by_unit else None
        error = float(cells.scatter.error(lambda copies: copies[:, b] - copies[:, a]))
        freedom = len(cells.values) - 1
        share, above, _ = _beyond_chance(goes, error, freedom, units, self.margin, thresholds.confidence)
        # any step will do for these two
        of_any = 1 - (1 - thresholds.confidence) / steps
        _, ahead, back = _beyond_chance(goes, error, freedom, units, 0.0, of_any)
        least, short = least_share(self.share, thresholds), False
        if least is not None and units is not None and len(units) > 1:
            above = share_interval(share, len(units), thresholds.confidence)[1] >= least
            short = not above
        ahead, level = goes > 0 and ahead, goes == 0 and not error
        return Step(share, goes > self.margin and above, ahead, back or level or (short and not ahead))


def _by_unit(estimate: Estimate) -> bool:
    """Whether the statistic says something of a single unit, so that the units can be compared."""
    return estimate.statistic in PAIRED and estimate.above is None


def _beyond_chance(
    goes: float, error: float, freedom: int, units: Array | None, margin: float, confidence: float
) -> tuple[float, bool, bool]:
    """How far a step is beyond a margin: the share of units or the certainty, and whether it is above or below beyond chance.

    Args:
        goes: the step of the statistic.
        error: its Monte Carlo error.
        freedom: degrees of freedom of the error.
        units: the step in each unit (units,); None where units cannot be compared.
        margin: what the step has to exceed.
        confidence: of the interval of a share, or of a step.
    """
    if units is None:
        share = float(stdtr(freedom, (goes - margin) / error)) if error else (goes > margin) + (goes == margin) / 2
        return share, share > 0.5 + confidence / 2, share < 0.5 - confidence / 2
    steps = units - margin
    share = float((steps > 0).mean() + (steps == 0).mean() / 2)
    low, high = share_interval(share, len(units), confidence) if len(units) > 1 else (share, share)
    return share, low > 0.5, high < 0.5
