"""Verdicts that other replicates may change: the mark of each verdict, and the standard error of the headline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from formalsynth_workflow.ledger.claims import kind_name
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.steadiness import STEADY
from formalsynth_workflow.report.findings import JUDGED

Turning = Mapping[tuple[str, str], float]
"""Share of redrawn runs in which an unsteady verdict stays the same, keyed by claim and verdict."""


def unsteady(steady: pd.DataFrame) -> Turning:
    """Return the share of redrawn runs in which each unsteady verdict stays the same, keyed by claim and verdict.

    Args:
        steady: output of :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
    """
    few = steady[steady["stays"] < STEADY]
    return {(id, verdict): stays for id, verdict, stays in zip(few["id"], few["verdict"], few["stays"], strict=True)}


def headline_error(rows: Sequence[LedgerRow], steady: pd.DataFrame) -> float:
    """Compute the standard deviation of the number of reproduced claims over redrawn runs; NaN if it is unknown.

    Args:
        rows: the ledger.
        steady: output of :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
    """
    if "reproduced" not in steady:  # written by an older version
        return math.nan
    counted = {row.id for row in rows if kind_name(row.kind) == "test" and row.verdict in JUDGED}
    drawings = [list(text) for text in steady.loc[steady["id"].isin(counted), "reproduced"]]
    return float((np.array(drawings) == "y").sum(axis=0).std(ddof=1)) if drawings else math.nan
