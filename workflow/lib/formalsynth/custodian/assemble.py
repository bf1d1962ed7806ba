"""Crossing of a release: assembled from its numbers and declarations, and handed to the public side."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.core.family import FAMILIES
from formalsynth.core.job import Synthesizer
from formalsynth.core.mechanism import MECHANISMS, STRICT_KINDS
from formalsynth.core.progress import tell
from formalsynth.core.registry import is_own
from formalsynth.custodian.budget import LedgerEntry, read_comparisons, spent
from formalsynth.custodian.candidates import StudySetup, strict_claim
from formalsynth.custodian.compare import REPORT
from formalsynth.custodian.crossing import (
    AS_IS,
    Crossing,
    Declarations,
    Earlier,
    OwnCode,
    Unchanged,
    sha256,
    statement_of,
    text_of,
    write_crossing,
)  # fmt: skip
from formalsynth.custodian.guarantees import Audit, ledger_kind, release_kind
from formalsynth.custodian.public import compute_release, software
from formalsynth.custodian.release_folder import formatted, unique_rows
from formalsynth.custodian.schema import Declared, ReleaseConfig
from formalsynth.custodian.synthetic_sets import Crossed
from formalsynth.runtime.files import checksum, write_text
from formalsynth.runtime.scratch import scratch_folder

NONE = Earlier()
"""No entry before a release."""


@dataclass(frozen=True)
class ReleasePlan:
    """A release as it is declared, before the file is opened."""

    declared: Declared
    study: StudySetup
    synthesizer: Synthesizer
    declarations: Declarations
    """Public declarations."""

    @property
    def direct(self) -> bool:
        """True if all sets come from noisy tables, False if they are posterior draws."""
        return self.declarations.family is None

    @property
    def own(self) -> Path | None:
        """File of the user's own code that the public side needs; None for none."""
        return Path(FAMILIES.module(self.study.family)) if self.declarations.own else None


def fill_folder(crossing: Crossing, declarations: Declarations, numbers: Crossed, own: Path | None, folder: Path) -> None:
    """Write a crossing to a folder of its own, and let the public side compute the release in another one."""
    tell("Computing the release from what crossed")
    with scratch_folder(folder.parent, "crossing") as place:
        write_crossing(place, crossing, declarations)
        if numbers.as_is is not None:
            write_text(place / AS_IS, formatted(declarations.schema_, numbers.as_is))
        if own is not None:
            shutil.copyfile(own, place / own.name)
        compute_release(place, folder)


def declarations_of(declared: Declared, config: ReleaseConfig, study: StudySetup, synthesizer: Synthesizer) -> Declarations:
    """Collect what is declared and published."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    guarantee = release_kind(mechanism.guarantee, declared.schema.neighbours)
    family = None if mechanism.releases else study.family
    own = None
    if family is not None and is_own(module := FAMILIES.module(family)):
        own = OwnCode(file=Path(module).name, data=dict(study.priors) if study.use else {})
    return Declarations(
        name=declared.name, schema=declared.schema.public, release=config, mechanism=mechanism.name, guarantee=guarantee,
        parameters=synthesizer.parameters if mechanism.guarantee in STRICT_KINDS else {}, family=family, own=own,
        claim=strict_claim(synthesizer, declared.schema.neighbours, config.sets),
    )  # fmt: skip


def crossing_of(
    declared: Declared,
    declarations: Declarations,
    numbers: Crossed,
    date: str,
    audit: Audit,
    earlier: Earlier = NONE,
    own: Path | None = None,
) -> Crossing:  # fmt: skip
    """Collect all that leaves the confidential side."""
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


def earlier_of(entries: Sequence[LedgerEntry], declarations: Declarations) -> Earlier:
    """Summarize the entries of a ledger before a release."""
    ours = ledger_kind(declarations.guarantee), declarations.schema_.neighbours
    kinds = {(ledger_kind(entry.guarantee), entry.neighbours) for entry in entries}
    return Earlier(entries=len(entries), epsilon=spent(entries), mixed=bool(kinds) and kinds != {ours})


def _compared(declared: Declared) -> bool:
    """Return True if candidates were compared on the file; a report without an entry in the ledger is of an older version."""
    return bool(read_comparisons(declared.folder)) or (declared.folder / REPORT).exists()
