"""Tables of columns averaged over replicates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.core.statistics import standard_error
from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import column_of, summary, unless_tied

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


@table_kind("means")
class Means(Table):
    """Columns averaged over replicates."""

    kind: Literal["means"]
    medians: list[str] = Field(
        default_factory=list, description="Rows that are medians instead of means: columns without an expectation."
    )

    @field_validator("medians")
    @classmethod
    def _are_rows(cls, medians: list[str], info: ValidationInfo) -> list[str]:
        rows = info.data.get("statistics", medians)
        if not set(medians) <= set(rows):
            raise ValueError(f"Input should be among statistics, which are {', '.join(rows)}")
        return medians

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """The mean of a column over the replicates with its standard error, or the median with its own."""
        import pandas as pd

        values = column_of(collected["replicates"], id, statistic)
        if statistic in self.medians:
            return Estimate(summary(values, "median"), unless_tied(standard_error(values, "median")), len(values))
        series = pd.Series(values)
        return Estimate(float(series.mean()), float(series.sem()), len(values))
