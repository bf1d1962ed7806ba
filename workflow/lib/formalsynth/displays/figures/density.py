"""Fields of density curves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import Figure, figure_kind


@figure_kind("density")
class Density(Figure):
    """Kernel densities of the values, one line for each synthesizer; with ``exact``, exact curves over histograms."""

    ALT = "Density curves"

    kind: Literal["density"]
    value: str = Field(description="Column that is drawn.")
    exact: bool = Field(False, description="Draw the exact densities in the study's details over histograms of the values.")
    centred: bool = Field(False, description="Add a second frame with each distribution centred at its mean, and its spread.")
    zoom: float | None = Field(None, gt=0, description="Distance that the second frame shows on either side of the mean.")

    def tables(self) -> list[str]:
        """Names of the collected tables that it reads for each scenario."""
        return [self.table, *(["details"] if self.exact else [])]
