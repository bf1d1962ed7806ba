"""Crossing of a release: assembled from its numbers and declarations, and handed to the public side."""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from formalsynth.custodian.budget import Started, read_comparisons, spent
from formalsynth.custodian.compare import REPORT
from formalsynth.custodian.crossing import (
    AS_IS,
    Crossing,
    Declarations,
    Earlier,
    Unchanged,
    sha256,
    statement_of,
    text_of,
    write_crossing,
)  # fmt: skip
from formalsynth.custodian.guarantees import Audit, ledger_kind
from formalsynth.custodian.public import compute_release, software
from formalsynth.custodian.release_folder import formatted, unique_rows
from formalsynth.custodian.schema import Declared
from formalsynth.custodian.synthetic_sets import Crossed
from formalsynth.runtime.files import checksum, write_text
from formalsynth.runtime.scratch import scratch_folder

NONE = Earlier()
"""Earlier entries of a study without any."""


def fill_folder(crossing: Crossing, declarations: Declarations, numbers: Crossed, own: Path | None, folder: Path) -> None:
    """Write a crossing to a scratch folder, and make the public side compute the release in the given folder."""
    with scratch_folder(folder.parent, "crossing") as place:
        write_files(crossing, declarations, numbers, own, place)
        compute_release(place, folder)


def write_files(crossing: Crossing, declarations: Declarations, numbers: Crossed, own: Path | None, place: Path) -> None:
    """Write all files of a crossing."""
    write_crossing(place, crossing, declarations)
    if numbers.as_is is not None:
        write_text(place / AS_IS, formatted(declarations.schema_, numbers.as_is))
    if own is not None:
        shutil.copyfile(own, place / own.name)


def crossing_of(
    declared: Declared,
    declarations: Declarations,
    numbers: Crossed,
    date: str,
    audit: Audit,
    earlier: Earlier = NONE,
    own: Path | None = None,
) -> Crossing:  # fmt: skip
    """Collect everything that leaves the confidential side."""
    unchanged = None
    if numbers.as_is is not None:
        unchanged = Unchanged(
            columns=tuple(numbers.as_is), rows=len(numbers.as_is), unique=unique_rows(numbers.as_is),
            sha256=sha256(formatted(declarations.schema_, numbers.as_is)),
        )  # fmt: skip
    return Crossing(
        statement=statement_of(declarations, audit), date=date, software=software(), declarations=sha256(text_of(declarations)),
        files={own.name: checksum(own)} if own else {}, seed=secrets.token_hex(32), rows=numbers.rows, audit=audit,
        compared=_compared(declared), earlier=earlier, unchanged=unchanged, draws=numbers.draws, tables=numbers.tables,
    )  # fmt: skip


def earlier_of(started: Started, declarations: Declarations) -> Earlier:
    """Summarize the entries in the study's ledger before a release."""
    entries = started.earlier
    ours = ledger_kind(declarations.guarantee), declarations.schema_.neighbours
    kinds = {(ledger_kind(entry.guarantee), entry.neighbours) for entry in entries}
    return Earlier(entries=len(entries), epsilon=spent(entries), mixed=bool(kinds) and kinds != {ours}, budgets=started.budgets)


def _compared(declared: Declared) -> bool:
    """Return True if candidates were compared on the file; a report without an entry in the ledger is from an older version."""
    return bool(read_comparisons(declared.folder)) or (declared.folder / REPORT).exists()
