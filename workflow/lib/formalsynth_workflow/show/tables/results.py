"""Tables of the values of the first replicate."""

from __future__ import annotations

from typing import Literal

from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, table_kind


@table_kind("results")
class Results(Table):
    """Values of columns in the first replicate."""

    kind: Literal["results"]

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Value of a column in the first replicate, unchanged."""
        values = column_of(collected["replicates"], id, statistic)
        return Entry(float(values[0]) if len(values) else float("nan"), float("nan"), 1)
