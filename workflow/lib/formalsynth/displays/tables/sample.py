"""Fields of tables of a single sample."""

from __future__ import annotations

from typing import Literal

from formalsynth.core.utility import UTILITY
from formalsynth.displays.table import Table, table_kind


@table_kind("sample")
class Sample(Table):
    """Medians of statistics over the synthetic data sets of the single sample."""

    READS = "sets"

    kind: Literal["sample"] = "sample"

    def tables(self) -> list[str]:
        """Names of all collected tables that it reads."""
        return [self.table, "values"]

    def rows_allowed(self) -> tuple[str, ...]:
        """Statistics of a data set."""
        return UTILITY
