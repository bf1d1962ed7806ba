"""Tables of how fast a column contracts as samples grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.show.rates import rate
from formalsynth.show.tables.base import Estimate, Table, table_kind

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


@table_kind("rate")
class Rate(Table):
    """Slope of log sd of a column over replicates on log n, over all sample sizes and between the two largest."""

    OVER_SIZES = True

    kind: Literal["rate"]
    value: str = Field(min_length=1, description="Column whose contraction is shown.")

    @property
    def summarized(self) -> str:
        """The one column that every row summarizes."""
        return self.value

    def columns(self) -> list[str]:
        """What the numbers speak of, by the names of :data:`formalsynth.core.words.METRICS`."""
        return ["slope", self.value]

    def rows_allowed(self) -> tuple[str, ...]:
        """The slope over all sample sizes, and between the two largest."""
        return ("slope", "last_slope")

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """The slope with its standard error; NaN below two sample sizes or ten replicates, or where nothing varies."""
        table = collected["replicates"]
        values = table[(table["synthesizer"] == id) & table[self.value].notna()]
        groups = {float(n): part[self.value].to_numpy(dtype=float) for n, part in values.groupby("n")}
        if statistic == "last_slope":
            groups = dict(list(groups.items())[-2:])
        return Estimate(*rate(groups), len(groups))
