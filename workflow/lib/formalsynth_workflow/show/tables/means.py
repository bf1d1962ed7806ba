"""Tables of columns averaged over replicates."""

from __future__ import annotations

from typing import Literal, cast

from pydantic import Field, ValidationInfo, field_validator

from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, estimate_of, table_kind


@table_kind("means")
class Means(Table):
    """Columns averaged over replicates."""

    kind: Literal["means"]
    medians: list[str] = Field(
        default_factory=list, description="Rows with medians instead of means, for columns without an expectation."
    )

    @field_validator("medians")
    @classmethod
    def _are_rows(cls, medians: list[str], info: ValidationInfo) -> list[str]:
        rows = info.data.get("statistics", medians)
        if not set(medians) <= set(rows):
            raise ValueError(f"Input should be among statistics, which are {', '.join(rows)}")
        return medians

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Mean or median of a column over the replicates, with its standard error."""
        import pandas as pd

        values = column_of(collected["replicates"], id, statistic)
        if statistic in self.medians:
            return estimate_of(values, "median")
        series = pd.Series(values)
        return Entry(float(series.mean()), float(cast("float", series.sem())), len(values))
