"""Tables of audits: what is claimed, audited and attacked, over the data sets of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.audit.attack import ERROR_RATES
from formalsynth.core.arrays import Array
from formalsynth.core.rows import AUDIT, CURVE, LOSSES
from formalsynth.core.statistics import standard_error
from formalsynth.core.utility import COLUMNS
from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import column_of, summary, unless_tied

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay

STRICT = {f"strict_{kind}": kind for kind in LOSSES}
COSTS = ("audited", "strict", "pure", "composed", *LOSSES, *STRICT)
"""Rows that are losses: at the first delta, at the last above 0, at 0, of several releases, and by kind of neighbour."""
CLAIMS = ("claimed", "claimed_larger", "weight")
"""Rows that each neighbour of a data set has; of claims the largest counts."""
SHOWN = ("attacked", "floor")


@table_kind("audited")
class Audited(Table):
    """What is claimed, audited and attacked, over the data sets that were audited."""

    READS = "audit"

    kind: Literal["audited"]
    summary: Literal["median", "min", "max"] = Field("median", description="What is shown of the data sets.")

    def tables(self) -> list[str]:
        """The audit, and the replicates where utility is shown."""
        return [AUDIT, *(["replicates"] if set(self.statistics) & set(COLUMNS) else [])]

    def rows_allowed(self) -> tuple[str, ...]:
        """Losses, claims, the attack, the floor and utility."""
        return (*COSTS, *CLAIMS, *SHOWN, *COLUMNS)

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """A number over the data sets; extremes and ties have no error."""
        audit = collected[AUDIT]
        audit = audit[audit["synthesizer"] == id]
        if statistic in COLUMNS:
            replicates = collected["replicates"]
            values = column_of(replicates[replicates["replicate"].isin(audit["replicate"])], id, statistic)
        else:
            values = by_data_set(audit, statistic)
        return Estimate(summary(values, self.summary), unless_tied(standard_error(values, self.summary)), len(values))


def by_data_set(audit: pd.DataFrame, statistic: str) -> Array:
    """A number of each data set, from the audited neighbours of one synthesizer.

    Args:
        audit: its rows.
        statistic: a row of the table, without those of utility.

    Returns:
        (data sets,) values, without those of data sets that have none.
    """
    told = audit[(audit["streams"] == 1) & ~audit["candidate"].isin([CURVE, ERROR_RATES])]
    once = told[told["releases"] == 1]
    tried = once[once["neighbour"].isin(LOSSES)]
    some = tried[tried["delta"] > 0]
    first, last = (some[some["delta"] == (some["delta"].iloc[place] if len(some) else 0)] for place in (0, -1))
    column = statistic if statistic in (*CLAIMS, "attacked") else "audited"
    rows = first
    if statistic in LOSSES:
        rows = first[first["neighbour"] == statistic]
    elif statistic == "strict":
        rows = last
    elif statistic == "pure":
        rows = tried[tried["delta"] == 0]
    elif statistic in STRICT:
        rows = last[last["neighbour"] == STRICT[statistic]]
    elif statistic == "composed":
        several = told[told["releases"] > 1]
        rows = several[several["delta"] == (several["delta"].iloc[0] if len(several) else 0)]
    elif statistic == "floor":
        rows = once[once["neighbour"] == "same"]
        rows = rows[rows["delta"] == (rows["delta"].iloc[0] if len(rows) else 0)]
    found: Array = rows.groupby("replicate")[column].max().dropna().to_numpy(dtype=float)
    return found
