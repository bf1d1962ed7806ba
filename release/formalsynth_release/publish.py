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

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError, counted
from formalsynth.runtime.private import private_folder, write_private, write_private_bytes
from formalsynth.runtime.scratch import scratch_folder, sweep
from formalsynth_release.budget import Started, finish, head_line, record, start
from formalsynth_release.crossing import (
    CROSSING,
    DECLARATIONS,
    MOST_RELEASED,
    Crossing,
    Declarations,
    Earlier,
    EarlierRelease,
    Part,
    read_crossing,
    sha256,
    text_of,
)
from formalsynth_release.declarations import checked_declarations, rows_of
from formalsynth_release.layout import Layout
from formalsynth_release.ledger import (
    CONFIDENTIAL,
    ComparisonEntry,
    CrossingEntry,
    Ledger,
    ReleaseEntry,
    ledgers_folder,
    locked,
    read_ledger,
    today,
)
from formalsynth_release.public import compute_release, software
from formalsynth_release.records import no_rows
from formalsynth_release.rows import usable
from formalsynth_release.schema import RELEASE
from formalsynth_release.study import Declared, read_release
from formalsynth_release.tables import measured
from formalsynth_release.verdict import refuse_weak
from formalsynth_release.verify import verify

UNFINISHED = f"{CONFIDENTIAL}/unfinished"
"""Folder in a study with the crossing of a release that is not published yet."""
LEAST = 2
"""Minimum number of rows in a synthetic set."""
LARGER = 4
"""Factor by which a crossing may be larger than that of a file without rows."""
LEDGER_BYTES = 1 << 18
"""Number of bytes reserved for a release's entries in the ledger."""
OPEN_FOLDER, OPEN_FILE = 0o755, 0o644
STEM = "release"
"""Start of the names of folders in which releases are computed."""
CHANGED = (
    "Warning: schema.yaml or release.yaml was changed since that release began. It does not have the changes: they need another "
    "release, for more epsilon."
)


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
        config = read_release(declared.folder)
        public = checked_declarations(declared, config)
        sweep(to.parent, STEM)
        if (place := _unfinished(declared)) is not None:
            again = "An earlier release was finished from its crossing, with the declarations made then; no more was spent."
            same = (declared.folder / UNFINISHED / DECLARATIONS).read_text(encoding="utf-8") == text_of(public)
            return [again, *([] if same else [CHANGED]), *_publish(declared, place, to)]
        return _publish(declared, _crossed(declared, public, to), to)


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
        started = start(declared, config.ceiling, config.budget, checked.content)
        try:
            tables = measured(schema, table, config.ceiling)
            crossing = crossing_of(public, rows, tables, started)
            for room in rooms:
                room.unlink(missing_ok=True)  # a release of another source may have removed that of all ledgers
            _store(declared, started.place, crossing, public)
        except BaseException as error:  # any error may have depended on the data
            if read_ledger(schema.source).crossing(started.place):
                error.add_note("The same command finishes the release from its crossing, and spends no more.")
            else:
                error.add_note("The same command would begin another release and spend the same epsilon again.")
                with contextlib.suppress(OSError, DataError, KeyboardInterrupt):  # the notes belong to the first error
                    finish(declared, started.place, "stopped")
            raise
    return started.place


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
    try:
        for path, needed in sizes.items():
            try:
                write_private_bytes(path, os.urandom(needed))  # zeros take no space on some disks
            except OSError as error:
                raise DataError(f"{path.parent}: has no space for {needed} bytes ({error.strerror}): free some") from error
        yield list(sizes)
    finally:
        for path in sizes:
            path.unlink(missing_ok=True)


def crossing_of(public: Declarations, rows: int, tables: tuple[Part, ...], started: Started | None = None) -> Crossing:
    """Collect everything that leaves the confidential side."""
    earlier, compared = Earlier(budgets=(public.release.budget,)), False
    if started:
        entries = started.before.of(ReleaseEntry)
        releases = tuple(
            EarlierRelease.model_validate(
                {"date": entry.date, "epsilon": entry.epsilon, "outcome": started.before.outcome(place)}
            )
            for place, entry in enumerate(entries)
        )
        mixed = bool({entry.neighbours for entry in entries} - {public.schema_.neighbours})
        earlier = Earlier(releases=releases, mixed=mixed, budgets=started.budgets)
        compared = bool(started.before.of(ComparisonEntry))
    return Crossing(
        statement=public.guarantee, date=today(), software=software(), declarations=sha256(text_of(public)),
        seed=secrets.token_hex(32), rows=rows, compared=compared, earlier=earlier, tables=tables,
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
    releases, stored = ledger.of(ReleaseEntry), _recorded(ledger, folder)
    if stored and ledger.outcome(stored[0]) == "started":
        read_crossing(folder)
        return stored[0]
    if stored:
        _remove(folder)
        raise DataError(
            f"{folder}: this release was already published, so its crossing was deleted; nothing was spent. The same command now "
            "begins another release, for more epsilon"
        )
    ours = [k for k, entry in enumerate(releases) if entry.study == declared.name and ledger.outcome(k) == "started"]
    if any(map(ledger.crossing, ours)) or not releases:
        raise DataError(
            f"{folder / CROSSING}: is not the crossing that the ledger recorded, so it was changed: restore it from a copy, or "
            "delete its folder; its epsilon stays spent"
        )
    _remove(folder)  # the process was killed before the crossing was recorded
    return None


def _recorded(ledger: Ledger, folder: Path) -> list[int]:
    """Return the indices of the releases for which a ledger has the crossing in a folder."""
    total = sha256_of(folder / CROSSING)
    return [k for k in range(len(ledger.of(ReleaseEntry))) if ledger.crossing(k) == total]


def unpublished(declared: Declared) -> list[str]:
    """Describe the crossing of an unfinished release; none if there is no such release."""
    folder = declared.folder / UNFINISHED
    if not folder.exists():
        return []
    after = f"The next formalsynth release {declared.folder} publishes it."
    if not _recorded(read_ledger(declared.schema.source), folder):
        after = "The ledger does not have its crossing, so it cannot be published."
    return [f"Epsilon spent, but not published: {folder}. {after}"]


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
                    path.chmod(OPEN_FILE)
                folder.rename(to)
                to.chmod(OPEN_FOLDER)
            os.sync()
    except BaseException as error:
        error.add_note(f"The same command finishes the release from its crossing, in {stored}, and spends no more.")
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
