"""Helpers that the studies of the zcdp paper share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth_workflow.study import Outcome, Run

if TYPE_CHECKING:
    import pandas as pd


EXACT = "exact calculation without data"
"""Description of the data in captions of a study without randomness."""


def ids_by_arm(run: Run) -> dict[str, str]:
    """Map arm names to row ids."""
    return {arm.name: arm.id for arm in run.arms}


def n_syn_grid(low: float, high: float, points: float) -> Array:
    """Integer numbers of synthetic records from ``low`` to ``high``, evenly spaced on a log scale: (K,), K at most ``points``."""
    return np.unique(np.round(np.geomspace(low, high, int(points))))


def curve_outcome(run: Run, table: pd.DataFrame, key: str) -> Outcome:
    """Return a table of curves as details, with a row for each arm; ``key`` is the column with the name of the arm."""
    import pandas as pd

    ids = ids_by_arm(run)
    table = table.assign(synthesizer=table[key].map(ids), replicate=0)
    summary = pd.DataFrame({"replicate": 0, "synthesizer": list(ids.values())})
    return Outcome(summary, table.drop(columns=["n"]))
