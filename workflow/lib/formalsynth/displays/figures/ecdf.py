"""Fields of empirical distribution functions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("ecdf")
class Ecdf(Figure):
    """Empirical distribution functions of the values, one line for each synthesizer."""

    ALT = "Empirical distribution functions"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True

    kind: Literal["ecdf"]
    value: str = Field(description="Column that is drawn.")
    log: bool = Field(False, description="True for a logarithmic value axis.")
