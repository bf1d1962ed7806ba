"""Tables of rates of contraction: the spread of a column by sample size."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth_workflow.show.groups import by_number
from formalsynth_workflow.show.rates import rate
from formalsynth_workflow.show.table import Collected, Entry, Table, table_kind


@table_kind("rate")
class Rate(Table):
    """Slope of the log standard deviation of a column on log n, over all sample sizes and between the two largest."""

    OVER_SIZES = True

    kind: Literal["rate"]
    value: str = Field(min_length=1, description="Column whose contraction is shown.")

    def shown_columns(self) -> list[str]:
        """Names that the shown quantities have in :data:`formalsynth.core.words.METRICS`."""
        return ["slope", self.value]

    def rows_allowed(self) -> tuple[str, ...]:
        """Slope over all sample sizes, and between the two largest."""
        return ("slope", "last_slope")

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Slope with its standard error; NaN with fewer than two sample sizes or ten replicates, or for constant values."""
        table = collected["replicates"]
        values = table[(table["synthesizer"] == id) & table[self.value].notna()]
        groups = {n: rows[self.value].to_numpy(dtype=float) for n, rows in by_number(values, "n")}
        if statistic == "last_slope":
            groups = dict(list(groups.items())[-2:])
        return Entry(*rate(groups), len(groups))
