"""Tables of how fast a column contracts as samples grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import FEWEST
from formalsynth.show.tables.base import Estimate, Table, table_kind

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay

RESAMPLES = 400
"""Bootstrap samples behind the error of a slope."""


@table_kind("rate")
class Rate(Table):
    """Slope of log(max - min) of a column over replicates on log n."""

    kind: Literal["rate"]
    value: str = Field(min_length=1, description="Column whose spread is shown.")

    @property
    def summarized(self) -> str:
        """The one column that every row summarizes."""
        return self.value

    def columns(self) -> list[str]:
        """What the numbers speak of, by the names of :data:`formalsynth.core.words.METRICS`."""
        return ["slope", self.value]

    def rows_allowed(self) -> tuple[str, ...]:
        """The slope, the only row there is."""
        return ("slope",)

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """The slope with its bootstrap standard error over replicates; NaN below two sample sizes or ten replicates."""
        table = collected["replicates"]
        values = table[(table["synthesizer"] == id) & table[self.value].notna()]
        groups = {n: part[self.value].to_numpy() for n, part in values.groupby("n")}
        if len(groups) < 2 or min(len(group) for group in groups.values()) < FEWEST:
            return Estimate(float("nan"), float("nan"), len(groups))
        generator = np.random.default_rng(0)
        slopes = [
            slope({n: generator.choice(group, len(group)) for n, group in groups.items()}) for _ in range(RESAMPLES)
        ]  # fmt: skip
        return Estimate(slope(groups), float(np.std(slopes, ddof=1)), len(groups))


def slope(groups: Mapping[int, Array]) -> float:
    """Slope of log(max - min) of the values of each n, on log n."""
    return float(np.polyfit(np.log(list(groups)), [np.log(np.ptp(group)) for group in groups.values()], 1)[0])
