"""Summary of a ledger: counts of verdicts, claims that are listed separately, and errata, each error counted once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from formalsynth.core.words import counted
from formalsynth_workflow.ledger.claims import ANOTHER, KINDS, kind_name
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.verdicts import DIRECTION, MISPRINT, NOT_REPRODUCED, REFUTED, REPRODUCED, UNDETERMINED, VERDICTS

JUDGED = (REPRODUCED, DIRECTION, UNDETERMINED, NOT_REPRODUCED)
"""Verdicts that count in the headline."""
FINDINGS = (MISPRINT, REFUTED)
"""Verdicts of claims that are part of an erratum; the erratum is counted instead of the claims."""


@dataclass(frozen=True)
class Apart:
    """Claims of a kind other than test."""

    kind: str
    meaning: str
    claims: int
    reproduced: int


@dataclass(frozen=True)
class ErratumClaims:
    """An erratum with its claims in the run."""

    erratum: Erratum
    claims: Sequence[LedgerRow]
    """Its claims, in the order of the ledger."""

    @property
    def shown(self) -> bool:
        """True if at least one of its claims fails in this run."""
        return any(claim.verdict in FINDINGS for claim in self.claims)


@dataclass(frozen=True)
class Findings:
    """Summary of a ledger."""

    counts: Mapping[tuple[str, str, str], int]
    """Numbers of claims, by paper, verdict and kind."""
    errata: Sequence[ErratumClaims]
    """All errata of the papers."""
    readings: int = 0
    """Number of claims of kind test whose verdict differs between readings of their paper."""

    def of(self, verdicts: Iterable[str], paper: str = "", kind: str = "test") -> int:
        """Count the claims of a kind, or of every kind if empty, that have one of the verdicts, in one paper or in all."""
        chosen, counts = set(verdicts), self.counts.items()
        return sum(n for (key, verdict, own), n in counts if verdict in chosen and paper in ("", key) and kind in ("", own))

    @property
    def claims(self) -> int:
        """Number of claims of every kind."""
        return sum(self.counts.values())

    @property
    def apart(self) -> list[Apart]:
        """Claims of the other kinds in the ledger, by kind."""
        groups = [
            Apart(kind, meaning, self.of(VERDICTS, kind=kind), self.of([REPRODUCED], kind=kind))
            for kind, meaning in KINDS.items()
            if kind != "test"
        ]
        return [group for group in groups if group.claims]

    @property
    def judged(self) -> int:
        """Number of claims of kind test that the run could judge."""
        return self.of(JUDGED)

    @property
    def unjudged(self) -> dict[str, int]:
        """Number of claims of kind test that could not be judged, by verdict."""
        verdicts = dict.fromkeys(verdict for _, verdict, kind in self.counts if kind == "test")
        return {verdict: self.of([verdict]) for verdict in verdicts if verdict not in (*JUDGED, *FINDINGS)}

    def headline(self, error: float = math.nan) -> str:
        """State the verdicts on the claims of kind test; every number is a number of claims.

        Args:
            error: standard deviation of the number of reproduced claims over redrawn replicates; NaN if it is unknown.
        """
        counts = {verdict: self.of([verdict]) for verdict in JUDGED}
        known, share = not math.isnan(error), f" ({counts[REPRODUCED] / self.judged:.0%})" if self.judged else ""
        held = f"{counts.pop(REPRODUCED)}{f' ± {error:.0f}' if known else ''}{share} {REPRODUCED}"
        judged = ", ".join([held, *(f"{number} {verdict}" for verdict, number in counts.items())])
        apart = {verdict: self.of([verdict]) for verdict in FINDINGS} | self.unjudged
        others = ", ".join(f"{number} {verdict}" for verdict, number in apart.items() if number)
        parts = [
            f"Of {self.judged} claims of the papers that this run judged: {judged}",
            f"Not counted: {others}" if others else "",
            f"{counted(self.readings, 'verdict')} would differ under another reading of the paper" if self.readings else "",
            "The error is the standard deviation over redrawn replicates" if known else "",
        ]
        return " ".join(f"{part}." for part in parts if part)


def findings(rows: Sequence[LedgerRow], errata: Sequence[Erratum]) -> Findings:
    """Summarize a ledger.

    Args:
        rows: the ledger.
        errata: errata of its papers.
    """
    counts = Counter((row.paper, row.verdict, kind_name(row.kind)) for row in rows)
    named = [ErratumClaims(erratum, [row for row in rows if row.erratum in (erratum.id, *erratum.also)]) for erratum in errata]
    return Findings(counts, named, len(_depending(rows)))


def _depending(rows: Sequence[LedgerRow]) -> set[str]:
    """Ids of the claims of kind test with another verdict under another reading of their paper."""
    verdicts = {row.id: row.verdict for row in rows if kind_name(row.kind) == "test"}
    others = [(row.kind.removeprefix(ANOTHER), row.verdict) for row in rows if row.kind.startswith(ANOTHER)]
    return {id for id, verdict in others if verdicts.get(id, verdict) != verdict}
