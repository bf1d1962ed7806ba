"""The command ``release``: makes a crossing from the file, and a folder that may be published from the crossing."""

from __future__ import annotations

import contextlib
from pathlib import Path

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth_release.assemble import crossing_of, earlier_of
from formalsynth_release.budget import ALONE, CONFIDENTIAL, finish, head, only_release, start, today
from formalsynth_release.crossing import CROSSING
from formalsynth_release.declarations import checked_declarations, rows_of
from formalsynth_release.hash_chain import LedgerEntry
from formalsynth_release.rehearsal import rehearse
from formalsynth_release.release_folder import check_place
from formalsynth_release.rows import usable
from formalsynth_release.same_rows import ledgers_folder
from formalsynth_release.sandbox import holding
from formalsynth_release.schema import Declared, read_release
from formalsynth_release.tables import measured
from formalsynth_release.unfinished import Unfinished, crossing_folder, finish_release, store, unfinished

LEAST = 2
"""Minimum number of rows in a synthetic set."""


def release(declared: Declared, to: Path) -> list[str]:
    """Make a release.

    The confidential side writes the ledger, draws the noise, and writes a crossing. The public side computes the folder from the
    crossing, in a process that can open nothing else. All this is rehearsed on made-up rows before anything counts as spent.

    Args:
        declared: the study.
        to: folder of the release; it must not exist.

    Returns:
        Lines to print.

    Raises:
        ConfigError: a declaration is missing or not allowed; no seed is allowed.
        DataError: the file cannot be used, the budget is spent, the ceiling is too low, or another release is under way.
    """
    with only_release(declared.folder):
        return _release(declared, to)


def _release(declared: Declared, to: Path) -> list[str]:
    config = read_release(declared.folder)
    public = checked_declarations(declared, config)
    _check_confinement(declared)
    if stored := unfinished(declared.folder):
        finished = "An earlier release was finished from its crossing, with the declarations made then; no more was spent."
        return [finished, *_finished(stored, to)]
    check_place(to)
    if to.resolve().is_relative_to((declared.folder / CONFIDENTIAL).resolve()):
        raise DataError(f"{to}: is in the folder of the study's confidential files; allowed with --to: any other place")
    file = usable(declared)
    for warning in file.warnings:
        tell(f"Warning (CONFIDENTIAL): {warning}")
    if (rows := rows_of(declared.schema, config, len(file.table))) < LEAST:
        raise DataError(f"{declared.csv}: {counted(rows, 'row')} can be used, and this number is published; needed: {LEAST}")
    entry = LedgerEntry(
        date=today(), synthesizer=config.synthesizer, guarantee=public.guarantee, neighbours=declared.schema.neighbours,
        sets=config.sets, epsilon=config.ceiling, outcome="started",
    )  # fmt: skip
    rehearse(declared, public, to, rows)  # whatever stops a release without its file stops it before anything counts as spent
    started = start(declared.folder, entry, config.budget, file.content)
    try:
        tables = measured(declared.schema, file.table, config.ceiling)
        crossing = crossing_of(declared, public, rows, tables, entry.date, earlier_of(started, public))
        stored = store(declared.folder, started.place, crossing, public)
    except BaseException as error:  # any error may have depended on the data
        _add_notes(error, declared.folder)
        with contextlib.suppress(OSError, DataError, KeyboardInterrupt):  # the notes belong to the first error
            finish(declared.folder, started.place, "stopped")
        raise
    return _finished(stored, to)


def _add_notes(error: BaseException, study: Path) -> None:
    """Add notes to a release's error: the output whose epsilon is spent, and what the same command would do now."""
    if crossing_folder(study).exists():
        error.add_note("The same command finishes the release from its crossing, and spends no more.")
        return
    error.add_note("The same command would begin another release and spend the same epsilon again.")


def _finished(stored: Unfinished, to: Path) -> list[str]:
    """Finish a release; return the lines to print."""
    folder = stored.study
    try:
        finish_release(stored, to)
    except BaseException as error:
        error.add_note(f"The same command finishes the release from its crossing, in {stored.folder}, and spends no more.")
        raise
    return [
        f"Released: {to}. All files were computed from {to / CROSSING}, which you can read; formalsynth verify repeats this.",
        f"Have someone else read it before it is sent, starting with {to / 'LEGAL.md'}.",
        f"To see what was spent on the file: formalsynth budget {folder}",
        head(folder),
        *([] if ledgers_folder() else [f"Warning: {ALONE} Name one in FORMALSYNTH_LEDGERS."]),
    ]


def _check_confinement(declared: Declared) -> None:
    """Check that the public side can read neither the file nor the study.

    Raises:
        DataError: one of them is in a folder with software, which every process may read.
    """
    for path in (declared.csv, declared.folder):
        if folders := holding(path):
            raise DataError(f"{path}: is in {folders[0]}, which contains software and is readable by the public side: move it")
