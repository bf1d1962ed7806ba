"""Findings in captions: the claims that a figure or table shows, with their verdicts, placed before its description."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.findings import FINDINGS, JUDGED

SPELLED = 2
"""Largest number of claims that a caption spells out; the others are only counted."""
NUMBERED = re.compile(r"(?:Figure|Table) \S+\. ")
"""Figure or table number at the start of a caption."""


def with_finding(caption: str, rows: Sequence[LedgerRow]) -> str:
    """Insert the finding after the number of a caption; the empty caption of a withheld figure or table stays empty.

    Args:
        caption: caption written by the run.
        rows: claims that the figure or table shows.
    """
    sentence = finding(rows)
    if not (caption and sentence):
        return caption
    number = NUMBERED.match(caption)
    end = number.end() if number else 0
    return f"{caption[:end]}{sentence} {caption[end:]}"


def finding(rows: Sequence[LedgerRow]) -> str:
    """Summarize claims in one sentence: the first ones with their verdicts, tests before other kinds, and counts of the others.

    Claims under another reading than the first are left out: figures show the first.

    Returns:
        The sentence; empty text without claims.
    """
    rows = [row for row in rows if kind_name(row.kind) != "another reading"]
    ordered = sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind)))
    parts = [f"{row.claim.rstrip('.')}: {_verdict(row)}" for row in ordered[:SPELLED]]
    others = Counter(_judgement(row.verdict) for row in ordered[SPELLED:])
    if others:
        number = others.total()
        counts = ", ".join(f"{count} {verdict}" for verdict, count in others.items())
        parts.append(f"{number} more {'claim' if number == 1 else 'claims'}: {counts}")
    return f"{'; '.join(parts)}." if parts else ""


def _verdict(row: LedgerRow) -> str:
    """Verdict of a claim, with its erratum, and with its kind if that is not test."""
    kind = kind_name(row.kind)
    asides = ", ".join(part for part in (row.erratum, kind * (kind != "test")) if part)
    return f"{_judgement(row.verdict)} ({asides})" if asides else _judgement(row.verdict)


def _judgement(verdict: str) -> str:
    """Verdict of a claim; one that was not judged is preceded by ``not judged``."""
    return verdict if verdict in (*JUDGED, *FINDINGS) else f"not judged, {verdict}"
