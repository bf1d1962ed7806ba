"""Tables of columns averaged over replicates."""

from __future__ import annotations

from typing import cast

from formalsynth.core.statistics import standard_error
from formalsynth.displays.tables.means import Means
from formalsynth.show.columns import column_of, summary, unless_tied
from formalsynth.show.estimator import Collected, Estimate, estimator


@estimator("means")
def means(entry: Means, collected: Collected, statistic: str, id: str) -> Estimate:
    """Mean or median of a column over the replicates, with its standard error."""
    import pandas as pd

    values = column_of(collected["replicates"], id, statistic)
    if statistic in entry.medians:
        return Estimate(summary(values, "median"), unless_tied(standard_error(values, "median")), len(values))
    series = pd.Series(values)
    return Estimate(float(series.mean()), float(cast("float", series.sem())), len(values))
