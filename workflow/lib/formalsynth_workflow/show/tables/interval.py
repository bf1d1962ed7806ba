"""Tables of intervals over the synthetic data sets of a single sample."""

from __future__ import annotations

from typing import Literal

import numpy as np

from formalsynth.core.statistics import quantile_error
from formalsynth.core.utility import UTILITY
from formalsynth.core.words import metric
from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, table_kind, unless_tied

LEVELS = {"low": 0.025, "high": 0.975}
"""Levels of the ends of a 95 % interval."""


@table_kind("interval")
class Interval(Table):
    """95 % intervals of statistics over the synthetic data sets of the single sample; each end is a row."""

    table = "sets"

    kind: Literal["interval"]

    def rows_allowed(self) -> tuple[str, ...]:
        """Statistics of a data set, each with its two ends."""
        return tuple(f"{statistic}_{end}" for statistic in UTILITY for end in LEVELS)

    def shown_columns(self) -> list[str]:
        """Names that the shown quantities have in :data:`formalsynth.core.words.METRICS`."""
        return list(dict.fromkeys(row.rpartition("_")[0] for row in self.statistics))

    def printed_columns(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Intervals by synthesizer and statistic, if both ends are printed."""
        return {
            id: {
                name: (rows[f"{name}_low"], rows[f"{name}_high"])
                for name in self.shown_columns()
                if {f"{name}_low", f"{name}_high"} <= set(rows)
            }
            for id, rows in self.printed.items()
        }

    @classmethod
    def heading(cls, statistic: str) -> str:
        """Name of a row in plain words."""
        column, _, end = statistic.rpartition("_")
        return f"{metric(column).name}, {end} end"

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """End of an interval, with its error."""
        column, _, end = statistic.rpartition("_")
        values, level = column_of(collected["sets"], id, column), LEVELS[end]
        value = float(np.quantile(values, level)) if len(values) else float("nan")
        return Entry(value, unless_tied(quantile_error(values, level)), len(values))
