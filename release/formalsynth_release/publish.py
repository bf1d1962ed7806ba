"""The command ``release``: one transaction from the file to a folder that may be published.

The ledger entry comes first, then the noise. All numbers from the file are stored as a crossing, whose sha256 the ledger has,
and the folder is computed from the crossing alone. A release that stops after that is finished by the same command: with the
same bytes, and without more epsilon.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError, counted
from formalsynth.core.yaml_text import yaml_text
from formalsynth.runtime.private import forbid_core_dumps, private_folder, write_private, write_private_bytes
from formalsynth.runtime.scratch import scratch_folder, sweep
from formalsynth_release.budget import finish, head_line, record, start
from formalsynth_release.crossing import (
    CROSSING,
    DECLARATIONS,
    MOST_RELEASED,
    Crossing,
    Declarations,
    Earlier,
    Part,
    read_crossing,
    sha256,
    text_of,
)
from formalsynth_release.declarations import checked_declarations, rows_of
from formalsynth_release.layout import Layout
from formalsynth_release.ledger import (
    CONFIDENTIAL,
    BudgetEntry,
    ComparisonEntry,
    CrossingEntry,
    Ledger,
    ReleaseEntry,
    ledgers_folder,
    locked,
    read_ledger,
    today,
)
from formalsynth_release.levels import no_rows
from formalsynth_release.public import compute_release, software
from formalsynth_release.rows import usable
from formalsynth_release.schema import RELEASE, SCHEMA
from formalsynth_release.study import Declared, read_declared, read_release
from formalsynth_release.tables import measured
from formalsynth_release.verdict import refuse_weak
from formalsynth_release.verify import verify

UNFINISHED = f"{CONFIDENTIAL}/unfinished"  # folder in a study with the crossing of a release that is not published yet
LEAST = 2  # minimum number of rows in a synthetic set
LARGER = 4  # factor by which a crossing may be larger than that of a file without rows
LEDGER_BYTES = 1 << 18  # number of bytes reserved for a release's entries in the ledger
STEM = "release"  # start of the names of folders in which releases are computed
FINISHES = "The same command finishes the release from its crossing, and spends no more."


def release(declared: Declared, to: Path) -> list[str]:
    """Make a release, or finish one that was stopped after its crossing was stored.

    Args:
        declared: the study.
        to: folder of the release; it must not exist.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the file cannot be used, the budget is spent, or another release of the study is under way.
    """
    private_folder(declared.folder / CONFIDENTIAL)
    with locked(declared.folder / ".release.lock", "another release of this study is under way: wait for it to end"):
        public = checked_declarations(declared, read_release(declared.folder))
        sweep(to.parent, STEM)
        if (place := _unfinished(declared)) is None:
            return _publish(declared, _crossed(declared, public, to), to)
        again = "An earlier release was finished from its crossing, with the declarations made then; no more was spent"
        return [f"{again}. What was changed since needs another release, for more epsilon.", *_publish(declared, place, to)]


def release_table(frame: pd.DataFrame, schema: dict[str, object], study: Path, to: Path) -> Path:
    """Write the declarations of a study, and release a table, which is in its folder only until the end."""
    forbid_core_dumps()
    table = private_folder(private_folder(study) / CONFIDENTIAL) / "frame.csv"
    declared = {"file": f"{CONFIDENTIAL}/{table.name}", "rows": len(frame)} | schema
    write_private(study / RELEASE, yaml_text(declared.pop("release", {}), flow=None))
    write_private(study / SCHEMA, yaml_text(declared, flow=None))
    try:
        write_private(table, frame.to_csv(index=False, lineterminator="\n"))
        for line in release(read_declared(study), to):
            tell(line)
    finally:
        table.unlink(missing_ok=True)
    return to


def _crossed(declared: Declared, public: Declarations, to: Path) -> int:
    """Spend epsilon, draw the noise, and store the crossing; return the index of the release in the ledger."""
    schema, config, folder = declared.schema, public.release, declared.folder
    refuse_weak(schema, config.ceiling)
    check_place(to)
    if to.resolve().is_relative_to((folder / CONFIDENTIAL).resolve()):
        raise DataError(f"{to}: is in the folder of the study's confidential files; allowed with --to: any other place")
    table, checked = usable(declared)
    for warning in checked.warnings:
        tell(f"Warning (CONFIDENTIAL): {warning}")
    rows = rows_of(schema, config, len(table))
    if rows < LEAST:
        raise DataError(f"{declared.csv}: {counted(rows, 'row')} can be used, and this number is published; needed: {LEAST}")
    if rows * config.sets > MOST_RELEASED:
        raise DataError(f"{folder / RELEASE}: {rows} rows in each of {config.sets} sets; allowed: {MOST_RELEASED} together")
    with _room(declared, public, rows) as rooms:
        before = start(declared, config.ceiling, config.budget, checked.content)
        place = len(before.of(ReleaseEntry))
        try:
            crossing = crossing_of(public, rows, measured(schema, table, config.ceiling), before)
            for room in rooms:
                room.unlink(missing_ok=True)  # a release of another source may have removed that of all ledgers
            _store(declared, place, crossing, public)
        except BaseException as error:  # any error may have depended on the data
            if read_ledger(schema.source).crossing(place):
                error.add_note(FINISHES)
            else:
                error.add_note("The same command would begin another release and spend the same epsilon again.")
                with contextlib.suppress(OSError, DataError, KeyboardInterrupt):  # the notes belong to the first error
                    finish(declared, place, "stopped")
            raise
    return place


@contextlib.contextmanager
def _room(declared: Declared, public: Declarations, rows: int) -> Iterator[list[Path]]:
    """Reserve space for the crossing and the ledger, by files of their size: a full disk costs nothing here.

    The size is that of noisy numbers of no rows, so a missing library costs nothing either.

    Raises:
        DataError: there is no space.
    """
    schema = declared.schema
    empty = measured(schema, no_rows(schema), public.release.ceiling, kept=Layout(schema).pairs)
    size = len(text_of(crossing_of(public, rows, empty)))
    sizes = {declared.folder / CONFIDENTIAL / "room": LARGER * size + LEDGER_BYTES, ledgers_folder() / ".room": LEDGER_BYTES}
    with contextlib.ExitStack() as stack:
        for path, needed in sizes.items():
            stack.callback(path.unlink, missing_ok=True)
            try:
                write_private_bytes(path, os.urandom(needed))  # zeros take no space on some disks
            except OSError as error:
                raise DataError(f"{path.parent}: has no space for {needed} bytes ({error.strerror}): free some") from error
        yield list(sizes)


def crossing_of(public: Declarations, rows: int, tables: tuple[Part, ...], before: Ledger | None = None) -> Crossing:
    """Collect everything that leaves the confidential side, with what the ledger had before this release."""
    before = before or Ledger("", [], [BudgetEntry(date=today(), budget=public.release.budget)])
    entries = before.of(ReleaseEntry)
    releases = [{"date": of.date, "epsilon": of.epsilon, "outcome": before.outcome(k)} for k, of in enumerate(entries)]
    mixed = bool({entry.neighbours for entry in entries} - {public.schema_.neighbours})
    earlier = Earlier.model_validate({"releases": releases, "mixed": mixed, "budgets": before.budgets})
    return Crossing(
        statement=public.guarantee, date=today(), software=software(), declarations=sha256(text_of(public)), rows=rows,
        seed=secrets.token_hex(32), compared=bool(before.of(ComparisonEntry)), earlier=earlier, tables=tables,
    )  # fmt: skip


def _store(declared: Declared, place: int, crossing: Crossing, public: Declarations) -> None:
    """Store a crossing on the disk, readable only by its owner, and its sha256 in the ledger."""
    folder, text = private_folder(declared.folder / UNFINISHED), text_of(crossing)
    write_private(folder / DECLARATIONS, text_of(public))
    write_private(folder / CROSSING, text)
    record(declared, CrossingEntry, release=place, sha256=sha256(text))


def _unfinished(declared: Declared) -> int | None:
    """Return the index of the release whose crossing is stored but not published; None if there is none.

    Raises:
        DataError: the crossing was changed, or was already published.
    """
    folder = declared.folder / UNFINISHED
    if not folder.exists():
        return None
    ledger = read_ledger(declared.schema.source)
    releases, total = ledger.of(ReleaseEntry), sha256_of(folder / CROSSING)
    stored = [k for k in range(len(releases)) if ledger.crossing(k) == total]
    if stored and ledger.outcome(stored[0]) == "started":
        read_crossing(folder)
        return stored[0]
    ours = [k for k, entry in enumerate(releases) if entry.study == declared.name and ledger.outcome(k) == "started"]
    if not stored and (any(map(ledger.crossing, ours)) or not releases):
        changed = "is not the crossing that the ledger recorded, so it was changed"
        raise DataError(f"{folder / CROSSING}: {changed}: restore it from a copy, or delete its folder; its epsilon stays spent")
    _remove(folder)  # without a record, the process was killed before that
    if stored:
        published = "this release was already published, so its crossing was deleted; nothing was spent"
        raise DataError(f"{folder}: {published}. The same command now begins another release, for more epsilon")
    return None


def _publish(declared: Declared, place: int, to: Path) -> list[str]:
    """Compute the folder of a release from its stored crossing, publish it, and record that; return the lines to print."""
    stored = declared.folder / UNFINISHED
    try:
        tell("Computing the release from its crossing")
        if (to / CROSSING).is_file() and sha256_of(to / CROSSING) == sha256_of(stored / CROSSING):
            verify(to)  # it was published, but the process was killed before it could record that
        else:
            check_place(to)
            with unpublished_folder(to) as folder:
                compute_release(stored, folder)
                for path in folder.iterdir():
                    path.chmod(0o644)
                folder.rename(to)
                to.chmod(0o755)
            os.sync()
    except BaseException as error:
        error.add_note(FINISHES)
        raise
    finish(declared, place, "released")
    _remove(stored)
    return [
        f"Released: {to}. All files were computed from {to / CROSSING}; formalsynth verify {to} repeats this.",
        f"Have someone else read it before it is sent, starting with {to / 'LEGAL.md'}.",
        head_line(declared),
    ]


def sha256_of(path: Path) -> str:
    """Compute the sha256 of a file; empty if it is missing."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _remove(folder: Path) -> None:
    """Remove a folder in one step: a process killed while doing so leaves a scratch folder."""
    with scratch_folder(folder.parent, "crossing") as scratch:
        folder.rename(scratch / folder.name)


def check_place(to: Path) -> None:
    """Check, before anything counts as spent, that the folder of a release can be made.

    Raises:
        DataError: it exists, or cannot be made.
    """
    if os.path.lexists(to):
        raise DataError(f"{to}: already exists; a release is never overwritten: move it away, or choose another folder with --to")
    try:
        with unpublished_folder(to):
            pass
    except OSError as error:
        raise DataError(f"{to}: cannot be made ({error.strerror}): choose another folder with --to") from error


@contextlib.contextmanager
def unpublished_folder(to: Path) -> Iterator[Path]:
    """Make a folder next to that of a release, to be filled and then moved there; it is removed if the release fails."""
    made = not to.parent.exists()
    if made:
        private_folder(to.parent)
    try:
        with scratch_folder(to.parent, STEM) as scratch:
            folder = scratch / to.name
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        if made:
            with contextlib.suppress(OSError):  # it contains the release
                to.parent.rmdir()
