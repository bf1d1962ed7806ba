"""Crossing of a release: assembled from its numbers and declarations."""

from __future__ import annotations

import secrets

from formalsynth_release.budget import Started, read_comparisons, spent
from formalsynth_release.compare import REPORT
from formalsynth_release.crossing import Crossing, Declarations, Earlier, Part, sha256, statement_of, text_of
from formalsynth_release.guarantees import ledger_kind
from formalsynth_release.public import software
from formalsynth_release.schema import Declared

NONE = Earlier()
"""Earlier entries of a study without any."""


def crossing_of(
    declared: Declared, declarations: Declarations, rows: int, tables: tuple[Part, ...], date: str, earlier: Earlier = NONE
) -> Crossing:
    """Collect everything that leaves the confidential side."""
    return Crossing(
        statement=statement_of(declarations), date=date, software=software(), declarations=sha256(text_of(declarations)),
        seed=secrets.token_hex(32), rows=rows, compared=_compared(declared), earlier=earlier, tables=tables,
    )  # fmt: skip


def earlier_of(started: Started, declarations: Declarations) -> Earlier:
    """Summarize the entries in the study's ledger before a release."""
    entries = started.earlier
    ours = ledger_kind(declarations.guarantee), declarations.schema_.neighbours
    kinds = {(ledger_kind(entry.guarantee), entry.neighbours) for entry in entries}
    return Earlier(entries=len(entries), epsilon=spent(entries), mixed=bool(kinds) and kinds != {ours}, budgets=started.budgets)


def _compared(declared: Declared) -> bool:
    """Return True if noisy tables were compared with the file; a report without an entry is from an older version."""
    return bool(read_comparisons(declared.folder)) or (declared.folder / REPORT).exists()
