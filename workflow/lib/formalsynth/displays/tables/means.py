"""Fields of tables of averages over replicates."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.displays.table import Table, table_kind


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
