"""Tables of audits: claimed, audited and attacked epsilon, summarized over the data sets of a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    losses = audit[(audit["streams"] == 1) & ~audit["candidate"].isin([CURVE, ERROR_RATES])]
    single = losses[losses["releases"] == 1]
    neighbours = single[single["neighbour"].isin(LOSSES)]
    positive = neighbours[neighbours["delta"] > 0]
    first, last = (_at_delta(positive, place) for place in (0, -1))
    column = statistic if statistic in (*CLAIMS, "attacked") else "audited"
    rows = first
    if statistic in LOSSES:
        rows = first[first["neighbour"] == statistic]
    elif statistic == "strict":
        rows = last
    elif statistic == "pure":
        rows = neighbours[neighbours["delta"] == 0]
    elif statistic in STRICT:
        rows = last[last["neighbour"] == STRICT[statistic]]
    elif statistic == "composed":
        rows = _at_delta(losses[losses["releases"] > 1], 0)
    elif statistic == "floor":
        rows = _at_delta(single[single["neighbour"] == "same"], 0)
    values: Array = rows.groupby("replicate")[column].max().dropna().to_numpy(dtype=float)
    return values


def _at_delta(rows: pd.DataFrame, place: int) -> pd.DataFrame:
    """Rows with the same delta as the first (0) or the last (-1) of them."""
    return rows[rows["delta"] == (rows["delta"].iloc[place] if len(rows) else 0)]
