"""Fields of contraction: values by sample size against the rate of the theory."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("contraction")
class Contraction(Figure):
    """Values relative to their median at the smallest sample size, by sample size, with the cone of the rate n^-1/2."""

    ALT = "Small panels of values by sample size"
    FRAMES = ("synthesizer",)

    kind: Literal["contraction"]
    value: str = Field(description="Column that is drawn.")
    panels: str = Field("synthesizer", description="synthesizer, a frame for each.")
    law: Literal["", "Beta(0.5, 3)", "Poisson(100)", "lognormal regression"] = Field(
        "", description="Population whose limit law of the bounds with min-max weights is drawn."
    )
    law_of: str = Field("", description="The synthesizer that has it.")

    @model_validator(mode="after")
    def _law_with_synthesizer(self) -> Self:
        if bool(self.law) != bool(self.law_of):
            raise ValueError("law and law_of belong together: give both or neither")
        return self
