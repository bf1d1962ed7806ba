"""Tables of a single sample: medians of statistics over its synthetic data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from formalsynth.core.model import DATA
from formalsynth.core.statistics import standard_error
from formalsynth.core.utility import UTILITY, statistics
from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import column_of, summary, unless_tied

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


@table_kind("sample")
class Sample(Table):
    """Medians of statistics over the synthetic data sets of the single sample."""

    READS = "sets"

    kind: Literal["sample"] = "sample"

    def tables(self) -> list[str]:
        """Every collected table that it reads."""
        return [self.table, "values"]

    def rows_allowed(self) -> tuple[str, ...]:
        """Statistics of a data set."""
        return UTILITY

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """The median of a statistic over the synthetic data sets; that of the confidential data is exact and has no error."""
        if id == DATA:
            values = collected["values"]
            found = statistics(values.loc[values["synthesizer"] == DATA, "value"].to_numpy())
            return Estimate(found[statistic], float("nan"), 1)
        sets = column_of(collected["sets"], id, statistic)
        return Estimate(summary(sets, "median"), unless_tied(standard_error(sets, "median")), len(sets))
