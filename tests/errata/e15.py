"""E15: the median in Table 1 that is closest to the data's."""

from check import Interval, Row, numeric_check

DATA = 15_616.0
MEDIANS = {
    "Unweighted": 20_832.0,
    "Weighted": 15_991.0,
    "range-averaging (0.4, 1.8)": 16_225.0,
    "range-averaging (0.6, 1.2)": 19_951.0,
}
"""Medians of Table 1 of the range paper; the truncated synthesizers have the median of Weighted."""


@numeric_check("E15", printed="best median: range-averaging (0.6, 1.2)", derived="best median: Weighted")
def closest_median():
    """Distances of the printed medians from the printed median of the data."""
    distances = {name: abs(median - DATA) for name, median in MEDIANS.items()}
    values = distances["range-averaging (0.6, 1.2)"], distances["Weighted"]
    closest = Interval(0.0, min(distances.values()))
    return [Row("distance of the best median", *values, closest, "subtraction of the numbers in Table 1")]
