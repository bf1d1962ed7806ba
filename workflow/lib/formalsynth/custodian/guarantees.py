"""Sentences about a guarantee: the same in the internal report and in every text of a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from formalsynth.core.mechanism import STRICT_KINDS, Neighbours
from formalsynth.core.words import guarantee

RELATION = {
    "replace": "neighbours have one record replaced",
    "add_remove": "neighbours have one record added or removed",
}
STRICT = "Pure epsilon-DP for every file; {relation}."
SAMPLER = (
    "This is proven for exact draws from the posterior. The draws come from a sampler (a Markov chain of Stan) and follow the "
    "posterior only approximately: diagnostics check how closely, but no bound is known, and epsilon does not include it."
)
"""What separates a release of posterior draws from the guarantee that is proven for it."""
Audit = Literal["passed", "none", "refuted"]
"""Outcome of the audit of a release."""
AUDIT: Mapping[Audit, str] = {
    "passed": "An audit on this file found no loss above the claim among the neighbours that it tried. It does not prove it.",
    "none": "It was not audited on this file.",
    "refuted": (
        "An audit on this file found a larger loss than the claimed epsilon: the claim does not hold for this file. The release "
        "was made all the same (accept_refuted)."
    ),
}
LOCAL = "{meaning} The claimed epsilon does not hold as it stands for every file."


def ledger_kind(kind: str) -> str:
    """The kind of guarantee in a ledger, which names the neighbours itself: strict ones for the same neighbours add up."""
    return "DP" if kind in STRICT_KINDS else kind


def sentences(kind: str, neighbours: Neighbours, direct: bool) -> str:
    """The guarantee in words.

    Args:
        kind: of guarantee, as the mechanism registered it.
        neighbours: the declared neighbour relation.
        direct: whether the synthetic sets come from noisy counts, and not from posterior draws of a sampler.
    """
    if kind in STRICT_KINDS:
        return STRICT.format(relation=RELATION[neighbours]) + ("" if direct else f" {SAMPLER}")
    return LOCAL.format(meaning=guarantee(kind).meaning)
