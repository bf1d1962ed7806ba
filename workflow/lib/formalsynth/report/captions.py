"""Findings of captions: the claims that a figure or table shows, with their verdicts, in front of its description."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from formalsynth.ledger.claims import KINDS, kind_name
from formalsynth.ledger.judge import LedgerRow
from formalsynth.report.findings import FINDINGS, JUDGED

SPELLED = 2
"""Largest number of claims that a caption spells out; it counts the others."""
NUMBERED = re.compile(r"(?:Figure|Table) \S+\. ")
"""Number at the start of a caption."""


def with_finding(caption: str, rows: Sequence[LedgerRow]) -> str:
    """Put the finding after the number of a caption; an empty caption, which is withheld, stays empty.

    Args:
        caption: caption as the run writes it.
        rows: claims that the figure or table shows.
    """
    sentence = finding(rows)
    if not (caption and sentence):
        return caption
    number = NUMBERED.match(caption)
    end = number.end() if number else 0
    return f"{caption[:end]}{sentence} {caption[end:]}"


def finding(rows: Sequence[LedgerRow]) -> str:
    """Sentence on claims: the first ones with their verdicts, tests before other kinds, and counts of the others.

    Returns:
        One sentence, or an empty text for no claims.
    """
    ordered = sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind)))
    parts = [f"{row.claim.rstrip('.')}: {_verdict(row)}" for row in ordered[:SPELLED]]
    others = Counter(_judgement(row.verdict) for row in ordered[SPELLED:])
    if others:
        number = others.total()
        counts = ", ".join(f"{count} {verdict}" for verdict, count in others.items())
        parts.append(f"{number} more {'claim' if number == 1 else 'claims'}: {counts}")
    return f"{'; '.join(parts)}." if parts else ""


def _verdict(row: LedgerRow) -> str:
    """Verdict of a claim, with its erratum, and with its kind where it is not a test."""
    kind = kind_name(row.kind)
    asides = ", ".join(part for part in (row.erratum, kind * (kind != "test")) if part)
    return f"{_judgement(row.verdict)} ({asides})" if asides else _judgement(row.verdict)


def _judgement(verdict: str) -> str:
    """Verdict in words that do not claim a judgement where there is none."""
    return verdict if verdict in (*JUDGED, *FINDINGS) else f"not judged, {verdict}"
