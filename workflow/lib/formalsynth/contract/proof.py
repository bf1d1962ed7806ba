"""Proof cards: one page for each mechanism with a strict guarantee, which states and proves it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from formalsynth.core.mechanism import MECHANISMS, Mechanism
from formalsynth.core.registry import PACKAGE, is_own

CARDS = (PACKAGE / "proofs").resolve()
"""Folder of the cards of shipped mechanisms."""
PARTS = ("Neighbour relation", "What is declared", "Theorem", "Proof", "What would break it", "Exact test")
"""Parts of a card, each a paragraph that begins with its name in bold."""
TRIAL = re.compile(r"^\{.*\}$", re.MULTILINE)
"""Line of a card with a family and parameters, as JSON, for the exact test."""


def card_of(mechanism: Mechanism) -> Path:
    """Path of the card of a mechanism: ``docs/proofs``, or the folder of the user's own file."""
    module = MECHANISMS.module(mechanism.name)
    return (Path(module).parent if is_own(module) else CARDS) / f"{mechanism.name}.md"


def card_faults(mechanism: Mechanism) -> list[str]:
    """List the faults of the card of a mechanism with a strict guarantee, as ends of sentences; empty for other mechanisms."""
    if not mechanism.strict:
        return []
    path, claim = card_of(mechanism), f"claims {mechanism.guarantee!r}"
    if not path.is_file():
        return [f"{claim} but has no proof card: write {path} with the parts {', '.join(PARTS)}"]
    text = path.read_text(encoding="utf-8")
    missing = [part for part in PARTS if f"**{part}.**" not in text]
    return [f"{claim}, but its proof card {path} lacks the parts {', '.join(missing)}"] if missing else []


def trials(mechanism: Mechanism) -> list[tuple[str, dict[str, float]]]:
    """Families and parameters that a mechanism's card declares for the exact test."""
    lines = TRIAL.findall(card_of(mechanism).read_text(encoding="utf-8"))
    return [(entry.pop("family"), entry) for entry in map(json.loads, lines)]
