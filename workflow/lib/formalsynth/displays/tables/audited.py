"""Fields of tables of audits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.rows import AUDIT, LOSSES
from formalsynth.core.utility import COLUMNS
from formalsynth.displays.table import Table, table_kind

STRICT = {f"strict_{kind}": kind for kind in LOSSES}
COSTS = ("audited", "strict", "pure", "composed", *LOSSES, *STRICT)
"""Rows with losses: at the first delta, at the last delta above 0, at delta 0, for several releases, and by kind of neighbour."""
CLAIMS = ("claimed", "claimed_larger", "weight")
"""Rows with one number for each neighbour of a data set; the largest one is used."""
SHOWN = ("attacked", "floor")


@table_kind("audited")
class Audited(Table):
    """Claimed, audited and attacked epsilon, summarized over the audited data sets."""

    READS = "audit"

    kind: Literal["audited"]
    summary: Literal["median", "min", "max"] = Field("median", description="Summary of the values of the data sets.")

    def tables(self) -> list[str]:
        """Names of the audit and, if utility is shown, of the replicates."""
        return [AUDIT, *(["replicates"] if set(self.statistics) & set(COLUMNS) else [])]

    def rows_allowed(self) -> tuple[str, ...]:
        """Losses, claims, the attack, the floor and utility."""
        return (*COSTS, *CLAIMS, *SHOWN, *COLUMNS)
