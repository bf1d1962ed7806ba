"""Fields of contraction: values by sample size, compared with the rate that theory predicts."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import figure_kind
from formalsynth.displays.limit_law import OfLimitLaw


@figure_kind("contraction")
class Contraction(OfLimitLaw):
    """Values relative to their median at the smallest sample size, by sample size, with the cone of the rate n^-1/2."""

    ALT = "Small panels of values by sample size"
    FRAMES = ("synthesizer",)

    kind: Literal["contraction"]
    value: str = Field(description="Column that is drawn.")
    panels: str = Field("synthesizer", description="synthesizer: one frame for each.")
