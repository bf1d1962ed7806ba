"""Finding of a figure or table: the claims that it shows, with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from formalsynth.core.words import counted
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.findings import FINDINGS, JUDGED

SPELLED = 2
"""Largest number of claims that a finding spells out; the others are only counted."""


def finding(rows: Sequence[LedgerRow]) -> str:
    """Write the first claims with their verdicts, tests before other kinds, and the number of the others.

    Claims under another reading than the first are left out: figures show the first.

    Returns:
        The sentences; empty text without claims.
    """
    rows = [row for row in rows if kind_name(row.kind) != "another reading"]
    ordered = sorted(rows, key=lambda row: list(KINDS).index(kind_name(row.kind)))
    sentences = [f"{row.claim.rstrip('.')}: {_judgement(row.verdict)}." for row in ordered[:SPELLED]]
    rest = len(ordered) - SPELLED
    return " ".join([*sentences, *([f"The report has {counted(rest, 'more claim')}."] if rest > 0 else [])])


def _judgement(verdict: str) -> str:
    """Verdict of a claim; one that was not judged is preceded by ``not judged``."""
    return verdict if verdict in (*JUDGED, *FINDINGS) else f"not judged, {verdict}"
