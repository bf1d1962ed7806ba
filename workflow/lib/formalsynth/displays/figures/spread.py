"""Fields of spreads: the standard deviation of a column over data sets, by sample size."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.figure import figure_kind
from formalsynth.displays.limit_law import OfLimitLaw


@figure_kind("spread")
class Spread(OfLimitLaw):
    """Standard deviation of the values over data sets, by sample size; one line for each synthesizer, named at its end."""

    ALT = "Lines of a standard deviation by sample size"

    kind: Literal["spread"]
    value: str = Field(description="Column whose standard deviation is drawn.")

    @property
    def across(self) -> str:
        """Sample size."""
        return "n"
