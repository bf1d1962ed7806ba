"""Tables of a single sample: medians of statistics over its synthetic data sets."""

from __future__ import annotations

from formalsynth.core.model import DATA
from formalsynth.core.statistics import standard_error
from formalsynth.core.utility import statistics
from formalsynth.displays.tables.sample import Sample
from formalsynth.show.columns import column_of, summary, unless_tied
from formalsynth.show.estimator import Collected, Estimate, estimator


@estimator("sample")
def median(entry: Sample, collected: Collected, statistic: str, id: str) -> Estimate:
    """Median of a statistic over the synthetic data sets; for the confidential data, the exact value without an error."""
    if id == DATA:
        values = collected["values"]
        confidential = statistics(values.loc[values["synthesizer"] == DATA, "value"].to_numpy())
        return Estimate(confidential[statistic], float("nan"), 1)
    sets = column_of(collected["sets"], id, statistic)
    return Estimate(summary(sets, "median"), unless_tied(standard_error(sets, "median")), len(sets))
