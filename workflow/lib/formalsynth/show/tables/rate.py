"""Tables of how fast a column contracts as samples grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.statistics import FEWEST, jackknife
from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import summary

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


@table_kind("rate")
class Rate(Table):
    """Slope of log sd of a column over replicates on log n."""

    OVER_SIZES = True

    kind: Literal["rate"]
    value: str = Field(min_length=1, description="Column whose contraction is shown.")

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
        """The slope with its standard error; NaN below two sample sizes or ten replicates, or where nothing varies."""
        table = collected["replicates"]
        values = table[(table["synthesizer"] == id) & table[self.value].notna()]
        groups = [part[self.value].to_numpy(dtype=float) for _, part in values.groupby("n")]
        if len(groups) < 2 or min(map(len, groups)) < FEWEST or not all(map(np.ptp, groups)):
            return Estimate(float("nan"), float("nan"), len(groups))
        x = np.log(np.unique(values["n"]).astype(float))
        x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
        spread = np.log([summary(group, "sd") for group in groups])
        errors = np.array([float(jackknife(group[:, None], "sd").error(np.log)[0]) for group in groups])
        return Estimate(float(spread @ x), float(np.sqrt(errors**2 @ x**2)), len(groups))
