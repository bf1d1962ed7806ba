"""Fields of tables of the first replicate."""

from __future__ import annotations

from typing import Literal

from formalsynth.displays.table import Table, table_kind


@table_kind("results")
class Results(Table):
    """Values of columns in the first replicate."""

    kind: Literal["results"]
