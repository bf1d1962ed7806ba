"""Tables of audits: claimed, audited and attacked epsilon, summarized over the data sets of a scenario."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from formalsynth.audit.attack import ERROR_RATES
from formalsynth.core.arrays import Array
from formalsynth.core.rows import AUDIT, CURVE, LOSSES
from formalsynth.core.utility import COLUMNS
from formalsynth_workflow.show.table import Collected, Entry, Table, column_of, estimate_of, table_kind
from formalsynth_workflow.show.types import DataFrame

STRICT = {f"strict_{kind}": kind for kind in LOSSES}
COSTS = ("audited", "strict", "pure", "composed", "oscillation", "held", *LOSSES, *STRICT)
"""Rows with losses: at the first delta, at the last delta above 0, at delta 0, for several releases, and by kind of neighbour."""
CLAIMS = ("claimed", "claimed_larger", "weight")
"""Rows with one number for each neighbour of a data set; the largest one is used."""
SHOWN = ("attacked", "floor")


@table_kind("audited")
class Audited(Table):
    """Claimed, audited and attacked epsilon, summarized over the audited data sets."""

    table = "audit"

    kind: Literal["audited"]
    summary: Literal["median", "min", "max"] = Field("median", description="Summary of the values of the data sets.")

    def tables(self) -> list[str]:
        """Names of the audit and, if utility is shown, of the replicates."""
        return [AUDIT, *(["replicates"] if set(self.statistics) & set(COLUMNS) else [])]

    def rows_allowed(self) -> tuple[str, ...]:
        """Losses, claims, the attack, the floor and utility."""
        return (*COSTS, *CLAIMS, *SHOWN, *COLUMNS)

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Summarize a number over the data sets; extremes and tied values have no error."""
        audit = collected[AUDIT]
        audit = audit[audit["synthesizer"] == id]
        if statistic not in COLUMNS:
            return estimate_of(_by_data_set(audit, statistic), self.summary)
        replicates = collected["replicates"]
        audited = replicates[replicates["replicate"].isin(audit["replicate"])]
        return estimate_of(column_of(audited, id, statistic), self.summary)


def _by_data_set(audit: DataFrame, statistic: str) -> Array:
    """Return one number for each data set, from the audited neighbours of one synthesizer.

    Args:
        audit: rows of the synthesizer.
        statistic: a row of the table other than those of utility.

    Returns:
        (data sets,) values; data sets without a value are left out.
    """
    delta, neighbour = audit["delta"].to_numpy(), audit["neighbour"].to_numpy()
    losses = (audit["streams"].to_numpy() == 1) & ~audit["candidate"].isin([CURVE, ERROR_RATES]).to_numpy()
    single = losses & (audit["releases"].to_numpy() == 1)
    neighbours = single & audit["neighbour"].isin(LOSSES).to_numpy()
    first, last = (_at_delta(neighbours & (delta > 0), delta, place) for place in (0, -1))
    moved = first & (neighbour == "move")
    column = statistic if statistic in (*CLAIMS, "attacked", "oscillation", "held") else "audited"
    chosen: dict[str, NDArray[np.bool_]] = {
        "strict": last,
        "pure": neighbours & (delta == 0),
        "oscillation": moved if moved.any() else first,
        "composed": _at_delta(losses & (audit["releases"].to_numpy() > 1), delta, 0),
        "floor": _at_delta(single & (neighbour == "same"), delta, 0),
        **{kind: first & (neighbour == kind) for kind in LOSSES},
        **{name: last & (neighbour == kind) for name, kind in STRICT.items()},
    }
    rows = chosen.get(statistic, first)
    values: Array = audit.loc[rows, column].groupby(audit["replicate"].to_numpy()[rows]).max().dropna().to_numpy(dtype=float)
    return values


def _at_delta(rows: NDArray[np.bool_], delta: Array, place: int) -> NDArray[np.bool_]:
    """Rows with the same delta as the first (0) or the last (-1) of the given rows."""
    deltas = delta[rows]
    return np.asarray(rows & (delta == deltas[place])) if len(deltas) else rows
