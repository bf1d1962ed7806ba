"""Tables of audits: claimed, audited and attacked epsilon, summarized over the data sets of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from formalsynth.audit.attack import ERROR_RATES
from formalsynth.core.arrays import Array
from formalsynth.core.rows import AUDIT, CURVE, LOSSES
from formalsynth.core.statistics import standard_error
from formalsynth.core.utility import COLUMNS
from formalsynth.displays.tables.audited import CLAIMS, STRICT, Audited
from formalsynth.show.columns import column_of, summary, unless_tied
from formalsynth.show.estimator import Collected, Estimate, estimator

if TYPE_CHECKING:
    import pandas as pd


@estimator("audited")
def over_data_sets(entry: Audited, collected: Collected, statistic: str, id: str) -> Estimate:
    """Summarize a number over the data sets; extremes and tied values have no error."""
    audit = collected[AUDIT]
    audit = audit[audit["synthesizer"] == id]
    if statistic in COLUMNS:
        replicates = collected["replicates"]
        values = column_of(replicates[replicates["replicate"].isin(audit["replicate"])], id, statistic)
    else:
        values = by_data_set(audit, statistic)
    return Estimate(summary(values, entry.summary), unless_tied(standard_error(values, entry.summary)), len(values))


def by_data_set(audit: pd.DataFrame, statistic: str) -> Array:
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
    column = statistic if statistic in (*CLAIMS, "attacked") else "audited"
    rows = first
    if statistic in LOSSES:
        rows = first & (neighbour == statistic)
    elif statistic == "strict":
        rows = last
    elif statistic == "pure":
        rows = neighbours & (delta == 0)
    elif statistic in STRICT:
        rows = last & (neighbour == STRICT[statistic])
    elif statistic == "composed":
        rows = _at_delta(losses & (audit["releases"].to_numpy() > 1), delta, 0)
    elif statistic == "floor":
        rows = _at_delta(single & (neighbour == "same"), delta, 0)
    kept = audit.loc[rows, column]
    values: Array = kept.groupby(audit["replicate"].to_numpy()[rows]).max().dropna().to_numpy(dtype=float)
    return values


def _at_delta(rows: NDArray[np.bool_], delta: Array, place: int) -> NDArray[np.bool_]:
    """Rows with the same delta as the first (0) or the last (-1) of the given rows."""
    deltas = delta[rows]
    return np.asarray(rows & (delta == deltas[place])) if len(deltas) else rows
