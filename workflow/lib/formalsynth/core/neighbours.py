"""Neighbour relations of data sets, and suffixes of kinds of guarantee."""

from __future__ import annotations

from typing import Literal

Neighbours = Literal["add_remove", "replace"]
"""Neighbour relation: data sets that differ by one added or removed record, or by one replaced record."""
EXACT_DRAWS = " | exact draws"
"""Suffix of the kinds of strict guarantees that are proven for exact draws from a posterior."""
OF_RANGES = " | R"
"""Suffix of the kinds of guarantee that protect a sensitive range around each record, not the whole record."""
