"""Sentences about a guarantee, shared by the internal report and all texts of a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.core.neighbours import Neighbours
from formalsynth.core.words import guarantee

RELATION = {
    "replace": "neighbours have one record replaced",
    "add_remove": "neighbours have one record added or removed",
}
RELEASE_KIND: Mapping[Neighbours, str] = {"replace": "DP (replace-one)", "add_remove": "DP (add/remove)"}
"""Kind of a strict guarantee, keyed by the declared neighbours, for which a release computes its epsilon."""
STRICT = "Pure epsilon-DP for every valid file; {relation}."
SAMPLER = (
    "This is proven for exact draws from the posterior. The draws come from a sampler (a Markov chain of Stan) and follow the "
    "posterior only approximately: diagnostics check how closely, but no bound is known, and epsilon does not include it."
)
"""Sentence on the difference between a release of posterior draws and the case for which its guarantee is proven."""
OWN = "Claimed by the publisher's own mechanism ({file}), which formalsynth has not proven; {relation}."
"""Sentence about the strict guarantee of a mechanism from outside the package."""
Audit = Literal["passed", "none", "refuted"]
"""Outcome of the audit of a release."""
DELTA = 1e-3
"""Delta of the audited epsilon; strict claims are audited at delta 0, as they promise."""
LOCAL = "{meaning} The claimed epsilon is not a guarantee for every file."


def release_kind(kind: str, neighbours: Neighbours) -> str:
    """Return a release's kind of guarantee, for the declared neighbours; the mechanism itself may name other neighbours."""
    return RELEASE_KIND[neighbours] if kind in STRICT_KINDS else kind


def ledger_kind(kind: str) -> str:
    """Return a guarantee's kind for a ledger, which lists neighbours separately: strict ones for the same neighbours add up."""
    return "DP" if kind in STRICT_KINDS else kind


def guarantee_sentence(kind: str, neighbours: Neighbours, noisy: bool, own: str | None = None, shown: str = "") -> str:
    """Describe a guarantee.

    Args:
        kind: kind of guarantee, as registered by the mechanism.
        neighbours: the declared neighbour relation.
        noisy: True if the synthetic sets come from noisy counts, False for posterior draws of the rows.
        own: file of a user's own mechanism; None for one of the package.
        shown: property of rows that a release shows in any case, so neighbours do not differ in it; empty for none.
    """
    relation = RELATION[neighbours] + (f", both or neither with {shown}" if shown else "")
    if kind in STRICT_KINDS and own:
        return OWN.format(file=own, relation=relation)
    if kind in STRICT_KINDS:
        return STRICT.format(relation=relation) + ("" if noisy else f" {SAMPLER}")
    return LOCAL.format(meaning=guarantee(kind).meaning)
