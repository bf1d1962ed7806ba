"""Ledger of a file: epsilon spent on it, written before anything is drawn, and comparisons on it; never removed."""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, TypeAdapter

from formalsynth.core.model import Model
from formalsynth.core.text import DataError
from formalsynth.custodian.guarantees import ledger_kind
from formalsynth.plan.yaml_file import check_size
from formalsynth.runtime.private import private_folder, write_private

FILE = "confidential/budget.jsonl"
TINY = 1e-9


class LedgerEntry(Model):
    """Entry of a release, or of an attempt at one."""

    date: str
    synthesizer: str
    guarantee: str
    neighbours: str
    sets: int
    epsilon: float = Field(ge=0)
    """Largest epsilon that it may claim: its declared ceiling."""
    outcome: str
    """State of the release: started, released or stopped; each of them counts."""
    crossing: str = ""
    """Sha256 of the crossing of a release."""


class ComparisonEntry(Model):
    """Entry of a comparison of candidates on the file, which uses the data and spends no epsilon."""

    date: str
    compared: tuple[str, ...]
    """Ids of the candidates."""


_LINE: TypeAdapter[LedgerEntry | ComparisonEntry] = TypeAdapter(LedgerEntry | ComparisonEntry)


def read_ledger(folder: Path) -> list[LedgerEntry]:
    """Read the entries of all releases in the ledger of a study.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    return _releases(_read(folder))


def read_comparisons(folder: Path) -> list[ComparisonEntry]:
    """Read the entries of all comparisons in the ledger of a study.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    return [entry for entry in _read(folder) if isinstance(entry, ComparisonEntry)]


def _releases(ledger: Sequence[LedgerEntry | ComparisonEntry]) -> list[LedgerEntry]:
    return [entry for entry in ledger if isinstance(entry, LedgerEntry)]


def _read(folder: Path) -> list[LedgerEntry | ComparisonEntry]:
    path = folder / FILE
    if path.is_symlink():
        raise DataError(f"{path}: is a link, and new entries would not reach the ledger that it leads to: put that ledger here")
    if not path.exists():
        return []
    try:
        lines = check_size(path).read_text(encoding="utf-8").splitlines()
        if not lines:  # a ledger is written with its first entry, so an empty one has lost them
            raise ValueError("no entries")
        return [_LINE.validate_json(line, strict=True) for line in lines]
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: is damaged; nothing is released until it is whole: restore it from a copy") from error


def spent(ledger: Sequence[LedgerEntry]) -> float:
    """Sum the epsilon of all entries, whatever their outcome."""
    try:
        return math.fsum(entry.epsilon for entry in ledger)
    except OverflowError:
        return math.inf


def start(folder: Path, entry: LedgerEntry, budget: float) -> int:
    """Add an entry for a release before anything is drawn for it.

    Returns:
        Index of the entry among those of releases.

    Raises:
        DataError: it would go beyond the budget.
    """
    with _alone(folder):
        return _start(folder, entry, budget)


def _start(folder: Path, entry: LedgerEntry, budget: float) -> int:
    ledger = _read(folder)
    releases = _releases(ledger)
    before = spent(releases)
    if before + entry.epsilon > budget + TINY:
        raise DataError(
            f"{folder / 'release.yaml'}: ceiling: given {entry.epsilon:g}; of the budget of {budget:g} for all releases from the "
            f"file {before:g} is spent: lower the ceiling, or publish no more of it"
        )
    _write(folder, [*ledger, entry])
    return len(releases)


def record_comparison(folder: Path, candidates: Sequence[str]) -> None:
    """Add an entry for a comparison before anybody can read its report."""
    with _alone(folder):
        _write(folder, [*_read(folder), ComparisonEntry(date=today(), compared=tuple(candidates))])


def finish(folder: Path, place: int, outcome: str, crossing: str = "") -> None:
    """Record the outcome of an entry, and the sha256 of its crossing; its epsilon stays spent."""
    with _alone(folder):
        ledger = _read(folder)
        entry = _releases(ledger)[place]
        finished = entry.model_copy(update={"outcome": outcome, "crossing": crossing})
        _write(folder, [finished if line is entry else line for line in ledger])


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the ledger, so that two releases cannot spend the same rest of the budget."""
    private_folder((folder / FILE).parent)
    held = os.open((folder / FILE).parent, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def spent_since(folder: Path, entries: int) -> str:
    """Report the epsilon spent by all entries after the first ``entries``."""
    try:
        epsilon = spent(read_ledger(folder)[entries:])
    except DataError:
        return f"Whether epsilon is spent cannot be read from {folder / FILE}: restore it from a copy before anything else."
    if not epsilon:
        return "No epsilon is spent."
    return f"An epsilon of {epsilon:g} counts as spent since this command began: see formalsynth budget {folder}."


def purge(folder: Path) -> list[str]:
    """Delete everything confidential of a study but its ledger, without which nobody knows what is spent.

    Returns:
        What was deleted, and what was not, in sentences.

    Raises:
        DataError: the folder is a link to another one.
    """
    kept = folder / FILE
    if kept.parent.is_symlink():
        raise DataError(f"{kept.parent}: is a link; nothing was deleted: delete what it points to yourself, or remove the link")
    gone = [path for path in sorted(kept.parent.iterdir()) if path != kept] if kept.parent.is_dir() else []
    for path in gone:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    names = ", ".join(path.name for path in gone) or "nothing, there was nothing"
    return [
        f"Deleted: {names}.",
        f"Kept: {kept.name}, which records what is spent and compared. The file itself, the results of runs and releases "
        "are where they were. Deleting does not overwrite the disk.",
    ]


def today() -> str:
    """Return the date in the format of the ledger."""
    return datetime.now(UTC).date().isoformat()


def _write(folder: Path, ledger: Sequence[LedgerEntry | ComparisonEntry]) -> None:
    write_private(folder / FILE, "".join(entry.model_dump_json() + "\n" for entry in ledger))


def table(ledger: Sequence[LedgerEntry], budget: float | None, comparisons: Sequence[ComparisonEntry] = ()) -> list[str]:
    """Format the ledger, a line for each entry."""
    compared = [
        f"{entry.date}  compared on the file, for which no epsilon accounts: {', '.join(entry.compared)}" for entry in comparisons
    ]
    lines = [
        f"{entry.date}  {entry.synthesizer}: epsilon at most {entry.epsilon:g} for {entry.sets} sets, "
        f"{ledger_kind(entry.guarantee)} ({entry.neighbours}), {entry.outcome}"
        for entry in ledger
    ] or ["Nothing was released from this file yet."]
    total = f"Together: {spent(ledger):g}" + ("." if budget is None else f" of {budget:g}.")
    kinds = {ledger_kind(entry.guarantee) for entry in ledger}
    if len(kinds) > 1:
        total += " The kinds of guarantee differ, so the sum is what is claimed, not one guarantee of one kind."
    return [*compared, *lines, total]
