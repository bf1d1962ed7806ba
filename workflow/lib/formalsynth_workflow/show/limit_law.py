"""Fields of figures that show the limit law of bounds with min-max weights, and the columns of that law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from formalsynth_workflow.show.figure import Figure, FigureDisplay
from formalsynth_workflow.show.types import DataFrame


class OfLimitLaw(Figure):
    """Figure that shows the limit law of one of its synthesizers."""

    LAW_WORDS: ClassVar[str] = ""
    """Words of the caption on the limit law."""

    law: Literal["", "Beta(0.5, 3)", "Poisson(100)", "lognormal regression"] = Field(
        "", description="Population whose limit law of bounds with min-max weights is drawn."
    )
    law_of: str = Field("", description="The synthesizer with this limit law.")

    @model_validator(mode="after")
    def _law_with_synthesizer(self) -> Self:
        if bool(self.law) != bool(self.law_of):
            raise ValueError("law and law_of belong together: give both or neither")
        return self

    def line_words(self) -> str:
        """Words of the caption on the limit law."""
        return self.LAW_WORDS if self.law else ""

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the median and standard deviation of the limit law by sample size to the rows of the synthesizer that has one."""
        if not self.law:
            return tidy
        from formalsynth.audit.limit_law import law
        from formalsynth.audit.risks import RISK_POPULATIONS

        population = next(population for population in RISK_POPULATIONS if population.name == self.law)
        laws = {int(n): law(population, int(n)) for n in tidy["n"].unique()}
        here = tidy["synthesizer"] == self.law_of
        return tidy.assign(
            law_median=tidy["n"].map({n: limit.median for n, limit in laws.items()}).where(here),
            law_sd=tidy["n"].map({n: limit.sd for n, limit in laws.items()}).where(here),
        )
