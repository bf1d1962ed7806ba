"""Test that the cells rise or fall from left to right."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from scipy.special import stdtr

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import PAIRED
from formalsynth_workflow.ledger.notes import at_least, listed, named, share_of, unit_name
from formalsynth_workflow.ledger.tests.base import (
    Cells,
    Judgement,
    NeededShare,
    Test,
    least_share,
    several,
    share_interval,
    test_kind,
)
from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim, Estimate
    from formalsynth_workflow.ledger.thresholds import Thresholds


@dataclass(frozen=True)
class Step:
    """Evidence for one step, from one cell of an order to another."""

    share: float
    """Share of the units whose step exceeds the margin; for a statistic without units, the confidence in the step."""
    holds: bool
    """True if the step is as claimed."""
    ahead: bool
    """True if the step has the claimed direction beyond chance, though perhaps smaller or less frequent than claimed."""
    back: bool
    """True if the step contradicts the claim: it is opposite beyond chance, or is zero without error, or occurs in too few units
    without having the claimed direction beyond chance."""


@test_kind("order")
class Order(Test):
    """The cells rise or fall from left to right, each step by more than the margin, in the statistic and in most of the units.

    The verdict is direction only if a step has the claimed direction beyond chance and none has the opposite one; with a margin,
    every step needs the claimed direction. It is undetermined if no step has a direction beyond chance. It is not reproduced if a
    step has the opposite direction, or occurs in fewer units than the claim names, beyond chance. If any one of several steps
    suffices as evidence, the confidence is adjusted for simultaneous tests. A statistic such as a standard deviation has no value
    for a single unit; its order is judged by its Monte Carlo error.
    """

    kind: Literal["order"] = Field(description="The cells rise or fall.")
    direction: Literal["rising", "falling"] = Field("rising", description="Direction of the cells from left to right.")
    pairs: Literal["adjacent", "first", "twins"] = Field(
        "adjacent",
        description="Pairs of cells that are compared: adjacent for each cell and the next, first for the first and each of the "
        "others, twins for the first and second, the third and fourth, and so on.",
    )
    share: NeededShare | None = Field(
        None,
        description="Share of the units that must be in order, or mostly for verdicts.mostly; "
        "if left out, more than half of them, beyond chance.",
    )
    margin: float = Field(0.0, ge=0, description="Minimum step, in the units of the cells.")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if every step holds; undetermined if all steps are within chance."""
        by_unit = _by_unit(claim.estimate)
        compared = self._compared(len(cells.estimates))
        steps = [self._step(cells, a, b, by_unit, thresholds, len(compared)) for a, b in compared]
        pairs = [f"{cells.names[a]} {self._word} {cells.names[b]}" for a, b in compared]
        note = _order_note([step.share for step in steps], pairs, unit_name(claim.estimate.by) if by_unit else "")
        if all(step.holds for step in steps):
            return Judgement(REPRODUCED, note)
        if any(step.back for step in steps) or (self.margin and not all(step.ahead for step in steps)):
            return Judgement(NOT_REPRODUCED, note)
        return Judgement(DIRECTION if any(step.ahead for step in steps) else UNDETERMINED, note)

    @property
    def _word(self) -> str:
        """Word between two cells in the claimed order."""
        return "below" if self.direction == "rising" else "above"

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the order, its margin and its share of the units."""
        order = listed(names, self._word)
        if self.pairs == "first" and len(names) > 2:
            order = f"{names[0]} {self._word} each of the others"
        elif self.pairs == "twins" and len(names) > 2:
            order = f"the first of each pair {self._word} the second"
        share = at_least(least_share(self.share, thresholds), unit_name(claim.estimate.by))
        return f"{order}{f' by more than {self.margin:g}' if self.margin else ''}{share}"

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require at least two cells, and complete pairs for twins."""
        if self.pairs == "twins" and len(cells) % 2:
            return f"an even number of cells, for {self.kind} of twins"
        return several(cells, self.kind)

    def _compared(self, cells: int) -> list[tuple[int, int]]:
        """Pairs of cells that are compared."""
        if self.pairs == "twins":
            return [(k, k + 1) for k in range(0, cells, 2)]
        return [(0, k) for k in range(1, cells)] if self.pairs == "first" else list(itertools.pairwise(range(cells)))

    def _step(self, cells: Cells, a: int, b: int, by_unit: bool, thresholds: Thresholds, steps: int) -> Step:
        """Evidence for the step from cell a to cell b."""
        sign = 1 if self.direction == "rising" else -1
        change = float(sign * (cells.estimates[b] - cells.estimates[a]))
        units = sign * (cells.values[:, b] - cells.values[:, a]) if by_unit else None
        error = float(cells.scatter.error(lambda copies: copies[:, b] - copies[:, a]))
        freedom = len(cells.values) - 1
        share, above, _ = _beyond_chance(change, error, freedom, units, self.margin, thresholds.confidence)
        # one step alone can decide these two, so their confidence is adjusted for the number of steps
        adjusted = 1 - (1 - thresholds.confidence) / steps
        _, ahead, back = _beyond_chance(change, error, freedom, units, 0.0, adjusted)
        least, short = least_share(self.share, thresholds), False
        if least is not None and units is not None and len(units) > 1:
            above = share_interval(share, len(units), thresholds.confidence)[1] >= least
            short = not above
        ahead, level = change > 0 and ahead, change == 0 and not error
        return Step(share, change > self.margin and above, ahead, back or level or (short and not ahead))


def _order_note(shares: Sequence[float], pairs: Sequence[str], units: str) -> str:
    """Note on the steps of an order; without units, shares are confidences."""
    texts = [share_of(share, units) if units else f"{share:.2f}" for share in shares]
    if len(set(texts)) == 1:
        subject = f"{'each step' if len(texts) > 1 else 'the order'} holds in" if units else "confidence in the order:"
        return f"{subject} {texts[0]}"
    subject = f"{units} with each step" if units else "confidence in each step"
    return f"{subject}: {named(pairs, [text.partition(' of ')[0].removesuffix(f' {units}') for text in texts])}"


def _by_unit(estimate: Estimate) -> bool:
    """Check whether the statistic is defined for a single unit, so units can be compared."""
    return estimate.statistic in PAIRED and estimate.above is None


def _beyond_chance(
    change: float, error: float, freedom: int, units: Array | None, margin: float, confidence: float
) -> tuple[float, bool, bool]:
    """Compare a step with a margin: the share of units or the confidence, and whether it is above or below beyond chance.

    Args:
        change: step of the statistic.
        error: its Monte Carlo error.
        freedom: degrees of freedom of the error.
        units: (units,) step in each unit; None if units cannot be compared.
        margin: minimum step.
        confidence: confidence level for the interval of a share, or for the step.
    """
    if units is None:
        share = float(stdtr(freedom, (change - margin) / error)) if error else (change > margin) + (change == margin) / 2
        return share, share > 0.5 + confidence / 2, share < 0.5 - confidence / 2
    steps = units - margin
    share = float((steps > 0).mean() + (steps == 0).mean() / 2)
    low, high = share_interval(share, len(units), confidence) if len(units) > 1 else (share, share)
    return share, low > 0.5, high < 0.5
