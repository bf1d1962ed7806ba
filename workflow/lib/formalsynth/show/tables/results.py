"""Tables of the first replicate as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from formalsynth.show.tables.base import Estimate, Table, table_kind
from formalsynth.show.tables.columns import column_of

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


@table_kind("results")
class Results(Table):
    """Columns of the first replicate."""

    kind: Literal["results"]

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """A column of the first replicate, as it is."""
        values = column_of(collected["replicates"], id, statistic)
        return Estimate(float(values[0]) if len(values) else float("nan"), float("nan"), 1)
