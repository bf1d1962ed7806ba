"""Fields of tables of rates of contraction."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.displays.table import Table, table_kind


@table_kind("rate")
class Rate(Table):
    """Slope of the log standard deviation of a column on log n, over all sample sizes and between the two largest."""

    OVER_SIZES = True

    kind: Literal["rate"]
    value: str = Field(min_length=1, description="Column whose contraction is shown.")

    @property
    def summarized(self) -> str:
        """Column that every row summarizes."""
        return self.value

    def columns(self) -> list[str]:
        """Names that the shown quantities have in :data:`formalsynth.core.words.METRICS`."""
        return ["slope", self.value]

    def rows_allowed(self) -> tuple[str, ...]:
        """Slope over all sample sizes, and between the two largest."""
        return ("slope", "last_slope")
