"""Tables of the distribution of a column over replicates."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, estimate_of, table_kind

ROWS = ("min", "q1", "median", "mean", "q3", "max", "spread", "sd")


@table_kind("spread")
class Spread(Table):
    """Distribution of a column over replicates."""

    kind: Literal["spread"]
    value: str = Field(min_length=1, description="Column whose spread is shown.")

    def shown_columns(self) -> list[str]:
        """Names that the shown quantities have in :data:`formalsynth.core.words.METRICS`."""
        return [self.value]

    def printed_columns(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Medians by synthesizer, if they are printed."""
        return {id: {self.value: (rows["median"],) * 2} for id, rows in self.printed.items() if "median" in rows}

    @classmethod
    def heading(cls, statistic: str) -> str:
        """Name of a row, which is the name of the summary."""
        return statistic

    def rows_allowed(self) -> tuple[str, ...]:
        """Summaries of a column."""
        return ROWS

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Summary of the column over the replicates, with its standard error; extremes and tied values have none."""
        return estimate_of(column_of(collected["replicates"], id, self.value), statistic)
