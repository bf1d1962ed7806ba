"""Fields of budgets: claimed, audited and attacked epsilon on one axis."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.model import Names
from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("budgets")
class Budgets(Figure):
    """Claimed, audited and attacked epsilon of each synthesizer on one axis: medians and ranges over data sets."""

    ALT = "Points on one axis for each synthesizer"

    kind: Literal["budgets"]
    value: Names = Field(default_factory=lambda: ["claimed", "audited", "attacked"], description="Columns that are drawn.")
