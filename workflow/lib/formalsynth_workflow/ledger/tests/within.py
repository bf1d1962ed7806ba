"""Test that the cells are between two limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from formalsynth.core.model import ordered
from formalsynth_workflow.ledger.notes import at_least, named, share_of, unit_name
from formalsynth_workflow.ledger.tests.base import Cells, Judgement, NeededShare, Test, least_share, share_interval, test_kind
from formalsynth_workflow.ledger.verdicts import DIRECTION, NOT_REPRODUCED, REPRODUCED, UNDETERMINED

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds


@test_kind("within")
class Within(Test):
    """The statistics, or a given ``share`` of the units, are between two limits, beyond their errors."""

    kind: Literal["within"] = Field(description="The cells are between low and high.")
    low: float | None = Field(None, description="Lower limit; if left out, there is none.")
    high: float | None = Field(None, description="Upper limit; if left out, there is none.")
    share: NeededShare | None = Field(
        None,
        description="Share of the units that must be between the limits, or mostly for verdicts.mostly; "
        "if left out, the statistic of the cell must be.",
    )

    @model_validator(mode="after")
    def _some_limit(self) -> Self:
        if self.low is None and self.high is None:
            raise ValueError("low and high are missing; within needs one of them")
        return ordered(self, "low", "high")

    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Reproduced if the statistics, or enough of the units, are inside beyond their errors.

        The verdict is undetermined if a limit is within the errors of a statistic and no statistic is outside beyond its errors.
        It is direction only if too few units are inside, but their medians are.
        """
        low, high = -np.inf if self.low is None else self.low, np.inf if self.high is None else self.high
        least = least_share(self.share, thresholds)
        if least is None:
            slack = thresholds.errors_of(len(cells.errors), len(cells.values)) * cells.errors
            if ((cells.estimates < low - slack) | (cells.estimates > high + slack)).any():
                return Judgement(NOT_REPRODUCED)
            inside = (cells.estimates >= low + slack) & (cells.estimates <= high - slack)
            return Judgement(REPRODUCED) if inside.all() else Judgement(UNDETERMINED, "the error reaches beyond a limit")
        values = cells.values
        shares = ((values >= low) & (values <= high)).mean(axis=0)
        enough = [share_interval(share, len(values), thresholds.confidence)[1] >= least for share in shares]
        texts = [share_of(float(share), unit_name(claim.estimate.by)) for share in shares]
        note = f"inside the limits: {named(cells.names, texts)}"
        if all(enough):
            return Judgement(REPRODUCED, note)
        median = np.median(values, axis=0)
        return Judgement(DIRECTION if ((median >= low) & (median <= high)).all() else NOT_REPRODUCED, note)

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Name the limits, and the share of the units."""
        share = at_least(least_share(self.share, thresholds), unit_name(claim.estimate.by))
        if self.low is not None and self.high is not None:
            return f"numbers between {self.low:g} and {self.high:g}{share}"
        limit = f"at least {self.low:g}" if self.low is not None else f"at most {self.high:g}"
        return f"{limit}{share}"
