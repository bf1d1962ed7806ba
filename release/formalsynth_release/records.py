"""Values of columns on their declared scales, and made-up rows: all from declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.rules import applied
from formalsynth_release.schema import Column, PublicSchema

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.arrays import Array, Integers


def to_unit(column: Column, values: Array) -> Array:
    """Convert numbers between the declared bounds to positions from 0 (lower bound) to 1 (upper bound), on the declared scale."""
    low, high = column.ends
    if column.scale == "log":
        return np.asarray(np.log(values / low) / np.log(high / low))
    if column.unit is not None:
        first, value, last = (np.arcsinh(np.asarray(end) / column.unit) for end in (low, values, high))
        return np.asarray((value - first) / (last - first))
    return (values - low) / (high - low)


def from_unit(column: Column, shares: Array) -> Array:
    """Invert :func:`to_unit`."""
    low, high = column.ends
    if column.unit is not None:
        first, last = np.arcsinh(low / column.unit), np.arcsinh(high / column.unit)
        return np.asarray(column.unit * np.sinh(first + (last - first) * shares))
    return low * (high / low) ** shares if column.scale == "log" else low + (high - low) * shares


def codes(column: Column, values: pd.Series) -> Integers:
    """Return the index (n,) of the declared category of each value; -1 for one that is missing or not declared."""
    import pandas as pd

    return pd.Index(column.categories or []).get_indexer(pd.Index(values)).astype(np.int64)


def no_rows(schema: PublicSchema) -> pd.DataFrame:
    """Make a table of the released columns without rows, to compute everything that follows from declarations alone."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(dtype=object) for name in schema.released})


def clipped(schema: PublicSchema, table: pd.DataFrame) -> pd.DataFrame:
    """Clip the numbers of a table to their declared bounds, and apply the declared rules."""
    ends = {name: column for name, column in schema.released.items() if column.type != "category"}
    return applied(schema, table.assign(**{name: column.clip(table[name]) for name, column in ends.items()}))
