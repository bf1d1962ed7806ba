"""Tables of a single sample: medians of statistics over its synthetic data sets."""

from __future__ import annotations

from typing import Literal

from formalsynth.core.model import DATA
from formalsynth.core.utility import UTILITY, statistics
from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, estimate_of, table_kind


@table_kind("sample")
class Sample(Table):
    """Medians of statistics over the synthetic data sets of the single sample."""

    table = "sets"

    kind: Literal["sample"] = "sample"

    def tables(self) -> list[str]:
        """Names of all collected tables that it reads."""
        return [self.table, "values"]

    def rows_allowed(self) -> tuple[str, ...]:
        """Statistics of a data set."""
        return UTILITY

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Median of a statistic over the synthetic data sets; for the confidential data, the exact value without an error."""
        if id != DATA:
            return estimate_of(column_of(collected["sets"], id, statistic), "median")
        values = collected["values"]
        confidential = statistics(values.loc[values["synthesizer"] == DATA, "value"].to_numpy())
        return Entry(confidential[statistic], float("nan"), 1)
