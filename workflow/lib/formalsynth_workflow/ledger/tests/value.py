"""Test that the cells agree with printed numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth_workflow.ledger.notes import joined, named, percent
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, Test, test_kind
from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds

SHOWN = 0.5
"""Smallest share of the printed differences between cells that the estimates must show."""


@test_kind("value")
class Value(Test):
    """The statistics and their differences agree with printed numbers, up to a relative distance and the Monte Carlo error.

    The allowance for the error is adjusted for simultaneous comparisons. Printed numbers that differ by less than the tolerance
    would agree in any order of the cells. The estimates must therefore show at least half of the printed differences: their slope
    on the printed numbers must be at least 0.5, up to its error.
    """

    kind: Literal["value"] = Field(description="The cells agree with the printed numbers.")
    printed: Annotated[list[float], Field(min_length=1)] = Field(description="A printed number for each cell.")
    tolerance: float | None = Field(
        None, ge=0, lt=1, description="Relative distance that counts as the same; if left out, verdicts.within."
    )
    blames: ClassVar[str] = "test.printed"

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if every number is near the printed one and the differences agree; direction only if one of the two holds.

        If some numbers are not near, the differences agree if they are in the printed order.
        """
        printed, estimates = np.array(self.printed, dtype=float), cells.estimates
        within = self._within(thresholds)
        units = len(cells.values)
        allowed = within * np.abs(printed) + thresholds.errors_of(len(printed), units) * cells.errors
        near = np.abs(estimates - printed) <= allowed
        if near.all():
            shown, error = _shown(cells, printed)
            if shown + thresholds.errors_of(1, units) * error >= SHOWN:
                return Judgement(REPRODUCED, _allowance(allowed, printed))
            note = f"each number is close enough, but the run shows only {100 * shown:.0f} % of the printed differences"
            return Judgement(DIRECTION, note)
        far = np.flatnonzero(~near)
        texts = [f"{joined(estimates[[k]])} instead of {joined(printed[[k]])}" for k in far]
        note = f"too far from the printed number: {named([cells.names[k] for k in far], texts)}"
        pairs = list(itertools.combinations(range(len(printed)), 2))
        ordered = [np.sign(printed[b] - printed[a]) == np.sign(estimates[b] - estimates[a]) for a, b in pairs]
        return Judgement(DIRECTION if pairs and all(ordered) else NOT_REPRODUCED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the tolerance."""
        return f"a difference from the printed number of at most {percent(self._within(thresholds))} plus errors"

    def _within(self, thresholds: Thresholds) -> float:
        return self.tolerance if self.tolerance is not None else thresholds.within

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Require a printed number for each cell."""
        return f"a number for each of {len(cells)} cells" if cells and len(cells) != len(self.printed) else None


def _allowance(allowed: Array, printed: Array) -> str:
    """Note on the largest allowed difference relative to the printed number; empty if all printed numbers are 0."""
    shares = allowed[printed != 0] / np.abs(printed[printed != 0])
    return f"with errors, differences of up to {percent(shares.max())} are allowed" if shares.size else ""


def _shown(cells: Cells, printed: Array) -> tuple[float, float]:
    """Share of the printed differences that the estimates show, with its error: the slope on the printed numbers.

    It is 1 if all printed numbers are equal.
    """
    centred = printed - printed.mean()
    if not np.ptp(printed):
        return 1.0, 0.0
    slope = centred / (centred @ centred)
    return float(cells.estimates @ slope), float(cells.scatter.error(lambda copies: copies @ slope))
