"""Judge: the ledger of a paper's claims, from collected tables only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from formalsynth.claims import Claim, Thresholds, judge

COLUMNS = (
    "id", "paper", "place", "claim", "printed", "estimate", "mcse", "replicates", "verdict", "note",
    "shows", "erratum", "test",
)  # fmt: skip
"""Columns of ``claims.csv``."""


def ledger(
    claims: Sequence[Claim],
    tables: Mapping[tuple[str, str], pd.DataFrame],
    thresholds: Mapping[str, Any],
    root: int,
    judged: bool,
) -> pd.DataFrame:
    """A row with a verdict for each claim.

    Args:
        claims: the claims.
        tables: collected tables by scenario id and kind.
        thresholds: fields of :class:`formalsynth.claims.Thresholds`.
        root: root seed.
        judged: whether the scale is large enough to judge by.
    """
    rows = []
    for claim in claims:
        chosen = [tables[one["id"], claim.estimate["table"]] for one in claim.scenarios]
        rows.append(judge(claim, chosen, Thresholds(**thresholds), root, judged))
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))
