"""Neighbour relations of data sets, and suffixes of kinds of guarantee."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Neighbours = Literal["add_remove", "replace", "move"]
"""Neighbour relation: data sets that differ by one added or removed record, by one replaced record, or by the outcome of one
record, which moves inside its declared range."""
SENSITIVITY: Mapping[Neighbours, float] = {"add_remove": 1.0, "replace": 2.0, "move": 2.0}
"""L1 sensitivity of counts, by neighbour relation: a replaced record leaves one bin and enters another."""
EXACT_DRAWS = " | exact draws"
"""Suffix of the kinds of strict guarantees that are proven for exact draws from a posterior."""
OF_RANGES = " | R"
"""Suffix of the kinds of guarantee that protect a sensitive range around each record, not the whole record."""
