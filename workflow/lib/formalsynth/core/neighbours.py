"""Neighbour relations of data sets."""

from __future__ import annotations

from typing import Literal

Neighbours = Literal["add_remove", "replace"]
"""Neighbour relation: data sets that differ by one added or removed record, or by one replaced record."""
