"""Sentences about a guarantee, shared by the crossing, the ledger and all texts of a release."""

from __future__ import annotations

from collections.abc import Mapping

from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.core.neighbours import Neighbours

RELATION: Mapping[Neighbours, str] = {
    "replace": "neighbours have one record replaced",
    "add_remove": "neighbours have one record added or removed",
}
RELEASE_KIND: Mapping[Neighbours, str] = {"replace": "DP (replace-one)", "add_remove": "DP (add/remove)"}
"""Kind of guarantee of a release, keyed by the declared neighbours."""


def ledger_kind(kind: str) -> str:
    """Return a guarantee's kind for a ledger, which lists neighbours separately: strict ones for the same neighbours add up."""
    return "DP" if kind in STRICT_KINDS else kind


def guarantee_sentence(neighbours: Neighbours) -> str:
    """Describe the guarantee of a release for the declared neighbours."""
    return f"Pure epsilon-DP for every valid file; {RELATION[neighbours]}."
