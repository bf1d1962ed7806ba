"""Numeric columns of collected tables, used by several kinds of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import STATISTICS

if TYPE_CHECKING:
    import pandas as pd


def column_of(table: pd.DataFrame, id: str, column: str) -> Array:
    """Numbers (n,) of a synthesizer in a column, with true and false as 1 and 0; missing values are left out."""
    import pandas as pd

    values = table.loc[table["synthesizer"] == id, column].replace({"True": 1, "False": 0})
    numbers: Array = pd.to_numeric(values).dropna().to_numpy(dtype=float)
    return numbers


def summary(values: Array, statistic: str) -> float:
    """Statistic of values (n,); NaN if there are too few of them."""
    fewest = 2 if statistic == "sd" else 1
    return float(STATISTICS[statistic](values)) if len(values) >= fewest else float(np.nan)


def unless_tied(error: float) -> float:
    """Error of a quantile; NaN instead of 0, because an error of 0 only means that neighbouring values are tied."""
    return error if error > 0 else float(np.nan)
