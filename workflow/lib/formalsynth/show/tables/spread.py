"""Tables of the distribution of a column over replicates."""

from __future__ import annotations

from formalsynth.core.statistics import standard_error
from formalsynth.displays.tables.spread import Spread
from formalsynth.show.columns import column_of, summary, unless_tied
from formalsynth.show.estimator import Collected, Estimate, estimator


@estimator("spread")
def spread(entry: Spread, collected: Collected, statistic: str, id: str) -> Estimate:
    """Summary of the column over the replicates, with its standard error; extremes and tied values have none."""
    values = column_of(collected["replicates"], id, entry.value)
    return Estimate(summary(values, statistic), unless_tied(standard_error(values, statistic)), len(values))
