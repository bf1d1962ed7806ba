"""Rows of ``replicates.csv``; in a module of their own, so that a new statistic refits nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from formalsynth.core.utility import COLUMNS, UTILITY

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, float | int | str | bool | None]
"""Columns of one row."""
SHAPE = ("q2.5", "q15", "median", "iqr", "spread")
"""Statistics of the Lipschitz bounds of the records of one data set, as shares of the largest, which is Δ."""
SHAPE_COLUMNS = tuple(f"bound_{name}" for name in SHAPE)
"""Columns of these statistics in ``replicates.csv``."""
REPLICATE_COLUMNS = (
    "paper", "scenario", "n", "replicate", "synthesizer", "seed", "status", "delta", "epsilon", "audited", "guarantee",
    "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
    *COLUMNS, "delta_mcse", "affected", "draws", "attempts", "searched", "search_steps", *SHAPE_COLUMNS, "reason",
)  # fmt: skip
"""Columns of ``replicates.csv``."""
TEXT_COLUMNS = ("paper", "scenario", "synthesizer", "status", "guarantee", "reason", "neighbour", "candidate")
"""Columns of collected tables that hold no numbers."""
_SAMPLE = ("paper", "scenario", "n", "replicate", "synthesizer")
SAMPLE_COLUMNS = {
    "records": (*_SAMPLE, "record", "bound", "weight", "known"),
    "values": (*_SAMPLE, "record", "value"),
    "sets": (*_SAMPLE, "set", *UTILITY),
    "draws": (*_SAMPLE, "draw"),
}
"""Columns of the tables of a single sample; ``draws`` also has the parameters of the family."""
AUDIT, AUDITED = "audit", "audited"
"""Name of the collected table of audited scenarios, and its column of the audited epsilon."""
AUDIT_COLUMNS = (
    *_SAMPLE, "neighbour", "candidate", "value", "delta", "releases", "streams", "audited", "forward", "backward", "error",
    "worst", "claimed", "claimed_larger", "attacked", "weight", "held", "reason",
)  # fmt: skip
"""Columns of ``audit.csv``.

On the rows of a curve ``held`` is the audited epsilon with the weights of D fixed. ``reason`` is why a synthesizer could not be
audited on a data set; such a row has no numbers.
"""
LOSSES = ("remove", "add", "replace")
"""Kinds of neighbours whose loss counts; the loss between runs on the same data is the floor."""
CURVE = "curve"
"""Value of ``candidate`` on rows of a curve."""


def replicate_table(rows: Sequence[Mapping[str, object]], more: Sequence[str] = ()) -> pd.DataFrame:
    """Rows as a table with the columns of ``replicates.csv``, followed by the columns ``more``."""
    import pandas as pd

    table = pd.DataFrame(rows)
    return table.reindex(columns=[*REPLICATE_COLUMNS, *more])


def audit_table(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Rows as a table with the columns of ``audit.csv``; there may be no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(AUDIT_COLUMNS))
