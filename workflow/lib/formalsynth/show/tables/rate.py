"""Tables of rates of contraction: the spread of a column by sample size."""

from __future__ import annotations

from formalsynth.displays.tables.rate import Rate
from formalsynth.show.estimator import Collected, Estimate, estimator
from formalsynth.show.groups import by_number
from formalsynth.show.rates import rate


@estimator("rate")
def slope(entry: Rate, collected: Collected, statistic: str, id: str) -> Estimate:
    """Slope with its standard error; NaN with fewer than two sample sizes or ten replicates, or for constant values."""
    table = collected["replicates"]
    values = table[(table["synthesizer"] == id) & table[entry.value].notna()]
    groups = {n: rows[entry.value].to_numpy(dtype=float) for n, rows in by_number(values, "n")}
    if statistic == "last_slope":
        groups = dict(list(groups.items())[-2:])
    return Estimate(*rate(groups), len(groups))
