"""Fields of figures that show utility against epsilon, and the distance between two samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from formalsynth.core.two_samples import two_samples
from formalsynth_workflow.show.figure import Figure, FigureDisplay
from formalsynth_workflow.show.types import DataFrame, Series


class OfUtility(Figure):
    """Figure of the distance between synthetic and confidential data, compared with that between two samples."""

    FRAMES = ("none", "scenario")

    value: Literal["ecdf_max", "ecdf_avg"] = Field(description="Distance between the synthetic and the confidential data.")

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the distance between two samples."""
        return tidy.assign(line=[two_samples(int(n))[self.value] for n in tidy["n"]])

    def logarithmic(self, table: DataFrame) -> Series:
        """Median of each mark."""
        return table.groupby(["scenario", "panel", "synthesizer"], dropna=False)["value"].transform("median")
