"""Fields of figures that show the limit law of bounds with min-max weights."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from formalsynth.displays.figure import Figure


class OfLimitLaw(Figure):
    """Figure that shows the limit law of one of its synthesizers."""

    law: Literal["", "Beta(0.5, 3)", "Poisson(100)", "lognormal regression"] = Field(
        "", description="Population whose limit law of bounds with min-max weights is drawn."
    )
    law_of: str = Field("", description="The synthesizer with this limit law.")

    @model_validator(mode="after")
    def _law_with_synthesizer(self) -> Self:
        if bool(self.law) != bool(self.law_of):
            raise ValueError("law and law_of belong together: give both or neither")
        return self
