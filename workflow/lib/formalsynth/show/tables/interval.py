"""Tables of intervals over the synthetic data sets of a single sample."""

from __future__ import annotations

import numpy as np

from formalsynth.core.statistics import quantile_error
from formalsynth.displays.tables.interval import LEVELS, Interval
from formalsynth.show.columns import column_of, unless_tied
from formalsynth.show.estimator import Collected, Estimate, estimator


@estimator("interval")
def interval(entry: Interval, collected: Collected, statistic: str, id: str) -> Estimate:
    """End of an interval, with its error."""
    column, _, end = statistic.rpartition("_")
    values, level = column_of(collected["sets"], id, column), LEVELS[end]
    value = float(np.quantile(values, level)) if len(values) else float("nan")
    return Estimate(value, unless_tied(quantile_error(values, level)), len(values))
