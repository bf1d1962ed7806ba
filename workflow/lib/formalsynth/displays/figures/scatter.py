"""Fields of scatter plots."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("scatter")
class Scatter(Figure):
    """Scatter plot with one point for each row and synthesizer."""

    ALT = "Scatter plot"
    FRAMES = ("none", "synthesizer")

    kind: Literal["scatter"]
    value: str = Field(description="Column that is drawn.")
    x: str = Field(min_length=1, description="Column on the x axis.")
    x_label: str = Field("", description="Label of the x axis.")
    line: Literal["none", "delta"] = Field("none", description="Dashed line: each synthesizer's Δ, its largest value.")

    @property
    def across(self) -> str:
        """Column on the x axis."""
        return self.x
