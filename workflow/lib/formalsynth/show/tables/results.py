"""Tables of the values of the first replicate."""

from __future__ import annotations

from formalsynth.displays.tables.results import Results
from formalsynth.show.columns import column_of
from formalsynth.show.estimator import Collected, Estimate, estimator


@estimator("results")
def first_value(entry: Results, collected: Collected, statistic: str, id: str) -> Estimate:
    """Value of a column in the first replicate, unchanged."""
    values = column_of(collected["replicates"], id, statistic)
    return Estimate(float(values[0]) if len(values) else float("nan"), float("nan"), 1)
