"""Tables of how a column is distributed over replicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.core.statistics import standard_error
from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import column_of, summary, unless_tied

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay

ROWS = ("min", "q1", "median", "mean", "q3", "max", "sd")


@table_kind("spread")
class Spread(Table):
    """How a column is distributed over replicates."""

    kind: Literal["spread"]
    value: str = Field(min_length=1, description="Column whose spread is shown.")

    @property
    def summarized(self) -> str:
        """The one column that every row summarizes."""
        return self.value

    def columns(self) -> list[str]:
        """What the numbers speak of, by the names of :data:`formalsynth.core.words.METRICS`."""
        return [self.value]

    def printed_columns(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Printed medians by synthesizer, of the one column."""
        return {id: {self.value: (rows["median"],) * 2} for id, rows in self.printed.items() if "median" in rows}

    @classmethod
    def heading(cls, statistic: str) -> str:
        """The name of a row, which is that of a summary."""
        return statistic

    def rows_allowed(self) -> tuple[str, ...]:
        """Summaries of a column."""
        return ROWS

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """A summary of the column over the replicates, with its standard error; extremes and ties have none."""
        values = column_of(collected["replicates"], id, self.value)
        return Estimate(summary(values, statistic), unless_tied(standard_error(values, statistic)), len(values))
