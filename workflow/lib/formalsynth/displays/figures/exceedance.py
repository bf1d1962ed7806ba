"""Fields of exceedance: the share of data sets whose loss exceeds the claim."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.model import Names
from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("exceedance")
class Exceeding(Figure):
    """Share of data sets whose audited epsilon exceeds the claimed one, against n."""

    ALT = "Lines with error bars"

    kind: Literal["exceedance"]
    value: Names = Field(
        default_factory=lambda: ["audited", "claimed", "claimed_larger"],
        description="The loss, then the claims, each in its own frame.",
    )

    @property
    def across(self) -> str:
        """Sample size."""
        return "n"
