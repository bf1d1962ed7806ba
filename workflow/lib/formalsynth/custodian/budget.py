"""Ledger of a file: epsilon spent on it, written before anything is drawn, and comparisons on it; never removed.

The ledger of a study is in its folder, with a copy among the ledgers of all studies of the user. Entries are only added, and each
has the hash of the one before it. Ledgers of the same rows count together.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import json
import math
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from formalsynth.core.progress import tell
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.guarantees import ledger_kind
from formalsynth.custodian.hash_chain import (
    HEAD,
    BudgetEntry,
    ComparisonEntry,
    Entry,
    LedgerEntry,
    OpenedEntry,
    OutcomeEntry,
    added,
    entries_of,
    hash_of,
    head_of,
    is_former,
    taken_over,
)
from formalsynth.custodian.same_rows import (
    VARIABLE,
    Content,
    Known,
    as_formerly,
    keep_known,
    known_as,
    ledgers_folder,
    linked,
    mode_in,
    of_same_rows,
    overlaps,
    place_of,
    read_known,
)
from formalsynth.custodian.schema import RELEASE, SCHEMA
from formalsynth.plan.yaml_file import LONGEST, check_size
from formalsynth.runtime.private import FILE as FILE_MODE
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.runtime.scratch import sweep

FILE = "confidential/budget.jsonl"
LOCK = ".ledger.lock"
PAID = ("noisy-counts-*.yaml", "unfinished", LOCK)
"""Files and folders next to the ledger that a release has paid for, and has not published; and the file of its lock."""
TINY = 1e-9
ALONE = "There is no folder for the ledgers of all studies, so that a release of the same rows by another is not seen."
"""Sentence where there is no folder of all ledgers."""
OF_OTHERS = "declared for the same rows in another study"
"""Reason for the budget of a ledger that was one of other rows."""


@dataclass(frozen=True)
class Started:
    """Release that the ledger has an entry of."""

    place: int
    """Index among the releases of the study."""
    earlier: tuple[LedgerEntry, ...]
    """Releases of the study before it. Those of other studies of the same rows count against the budget and are not published:
    which studies these are depends on every row."""
    budgets: tuple[float, ...]
    """Budgets that the study had, the present one last."""


def read_ledger(folder: Path, needed: bool = False) -> list[LedgerEntry]:
    """Read the entries of all releases in the ledger of a study, each with its outcome.

    Raises:
        DataError: the ledger is damaged, or a link, or it is needed and only its copy is there.
    """
    return _releases(entries_of(_read(folder, needed)))


def read_comparisons(folder: Path) -> list[ComparisonEntry]:
    """Read the entries of all comparisons in the ledger of a study.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    return [entry for entry in entries_of(_read(folder)) if isinstance(entry, ComparisonEntry)]


def read_budgets(folder: Path) -> list[BudgetEntry]:
    """Read the entries of all budgets in the ledger of a study.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    return [entry for entry in entries_of(_read(folder)) if isinstance(entry, BudgetEntry)]


def _releases(entries: Sequence[Entry]) -> list[LedgerEntry]:
    releases = [entry for entry in entries if isinstance(entry, LedgerEntry)]
    for entry in entries:
        if isinstance(entry, OutcomeEntry):
            ended = {"outcome": entry.outcome, "crossing": entry.crossing}
            releases[entry.release] = releases[entry.release].model_copy(update=ended)
    return releases


def _budgets(entries: Sequence[Entry]) -> tuple[float, ...]:
    return tuple(entry.budget for entry in entries if isinstance(entry, BudgetEntry))


def _read(folder: Path, needed: bool = False) -> list[str]:
    """Read the lines of the ledger of a study: the longer of its two copies, of which one has to continue the other."""
    path = folder / FILE
    if path.is_symlink():
        raise DataError(f"{path}: is a link, and new entries would not reach the ledger that it leads to: put that ledger here")
    ours, together = _lines(path), ledgers_folder()
    if needed and (copies := copies_of(folder)):
        raise DataError(f"{path}: is missing: restore it from its copy {' or '.join(copies)}")
    copy = _copy(together, _name(ours)) if together and ours else None
    theirs = _lines(copy) if copy else []
    if ours[: len(theirs)] != theirs[: len(ours)]:
        raise DataError(
            f"{path}: differs from its copy {copy}, and none of the two continues the other; nothing is released until both are "
            "the same: restore the one that was changed"
        )
    return max(ours, theirs, key=len)


def copies_of(folder: Path) -> list[str]:
    """Paths of the copies of all ledgers that a study in this folder had, if its own is missing."""
    together = ledgers_folder()
    if not together or (folder / FILE).exists() or not (known := read_known(together)):
        return []
    place = place_of(together, folder)
    return sorted({str(_copy(together, entry.ledger)) for entry in known if entry.study == place})


def _lines(path: Path) -> list[str]:
    """Read the lines of a file, which may be of an earlier version."""
    if not path.exists():
        return []
    try:
        lines = check_size(path).read_text(encoding="utf-8").splitlines()
        if is_former(lines):  # an empty file, which has lost its entries, has no first line
            name = hashlib.sha256("\n".join([str(path.resolve()), *lines]).encode()).hexdigest()[:32]
            lines = taken_over(lines, OpenedEntry(date=str(json.loads(lines[0])["date"]), ledger=name, taken_over=True))
        _releases(entries_of(lines))
    except (OSError, ValueError, LookupError, RecursionError) as error:
        why = f" ({error})" if str(error).startswith("entry") else ""
        raise DataError(f"{path}: is damaged{why}; nothing is released until it is whole: restore it from a copy") from error
    return lines


def _name(lines: Sequence[str]) -> str:
    opened = entries_of(lines[:1])[0]
    assert isinstance(opened, OpenedEntry)
    return opened.ledger


def spent(ledger: Sequence[LedgerEntry]) -> float:
    """Sum the epsilon of all entries, whatever their outcome."""
    try:
        return math.fsum(entry.epsilon for entry in ledger)
    except OverflowError:
        return math.inf


def start(folder: Path, entry: LedgerEntry, budget: float, content: Content | None = None) -> Started:
    """Add an entry for a release before anything is drawn for it.

    Args:
        folder: the study.
        entry: the release.
        budget: what ``release.yaml`` declares.
        content: hashes of the rows; without them only the ledger of the study counts.

    Raises:
        DataError: it would go beyond the budget, or the budget is another than before.
    """
    with _alone(folder) as together:
        book = _book(folder, together, content)
        if book.budgets and budget not in book.budgets:
            allowed = " or ".join(f"{number:g}" for number in sorted(set(book.budgets)))
            raise DataError(
                f"{folder / 'release.yaml'}: budget: given {budget:g}; allowed: {allowed}, which the ledger of the file has. "
                "A budget is declared once, before anybody looks; a change is recorded in the study that declared it, and each "
                f"later release from there states it: formalsynth budget STUDY --change {budget:g} --reason TEXT"
            )
        former = entries_of(book.lines)
        releases, budgets = _releases(former), _budgets(former)
        before = spent([*releases, *(release for other in book.others.values() for release in _releases(other))])
        if before + entry.epsilon > budget + TINY:
            raise DataError(
                f"{folder / 'release.yaml'}: ceiling: given {entry.epsilon:g}; of the budget of {budget:g} for all releases from "
                f"the file {before:g} is spent: lower the ceiling, or publish no more of it"
            )
        declared = BudgetEntry(date=entry.date, budget=budget, reason=OF_OTHERS if budgets else "")
        added_now: list[Entry] = [entry] if budgets[-1:] == (budget,) else [declared, entry]
        _add(folder, together, book, *added_now)
        return Started(len(releases), tuple(releases), (*budgets, *_budgets(added_now)))


def change_budget(folder: Path, budget: float, reason: str) -> None:
    """Add an entry of a changed budget.

    Raises:
        DataError: it is no budget, nothing was declared before, or it is the same.
    """
    if not 0 < budget < math.inf:
        raise DataError(f"--change: given {budget:g}; allowed: a number above 0")
    with _alone(folder) as together:
        lines = _read(folder, needed=True)
        former = _budgets(entries_of(lines))
        if not former or former[-1] == budget:
            declared = f"it is {former[-1]:g}" if former else "the ledger has none before the first release"
            raise DataError(f"{folder / FILE}: the budget cannot be changed to {budget:g}: {declared}")
        _write(folder, together, added(lines, BudgetEntry(date=today(), budget=budget, reason=reason)))


def record_comparison(folder: Path, candidates: Sequence[str], content: Content | None = None) -> None:
    """Add an entry for a comparison before anybody can read its report."""
    with _alone(folder) as together:
        book = _book(folder, together, content)
        compared: list[Entry] = [ComparisonEntry(date=today(), compared=tuple(candidates))]
        if not {*_budgets(entries_of(book.lines))[-1:]} <= {*book.budgets}:  # it was one of other rows
            compared.insert(0, BudgetEntry(date=today(), budget=min(book.budgets), reason=OF_OTHERS))
        _add(folder, together, book, *compared)


def finish(folder: Path, place: int, outcome: str, crossing: str = "") -> None:
    """Add an entry for the outcome of a release, with the sha256 of its crossing; its epsilon stays spent."""
    with _alone(folder) as together:
        entry = OutcomeEntry.model_validate({"date": today(), "release": place, "outcome": outcome, "crossing": crossing})
        if not (lines := _read(folder, needed=True)):
            raise DataError(f"{folder / FILE}: is missing: restore it from a copy")
        _write(folder, together, added(lines, entry))


class _Book(NamedTuple):
    """Ledger of a study, with what all ledgers have on its rows: read once, under a lock where it is written."""

    lines: list[str]
    known: list[Known]
    """Files of all ledgers."""
    ours: Known | None
    """File of the study; None where its rows are not given."""
    former: list[Known]
    """The same file by the rows under which an earlier version listed it."""
    others: dict[str, list[Entry]]
    """Other ledgers of the same rows, by name."""
    budgets: Sequence[float]
    """Budgets of which the rows may have each: that of a ledger that is listed for them, else those of others; none at first."""


def _book(folder: Path, together: Path | None, content: Content | None = None) -> _Book:
    """Read the ledger of a study, or the copy of one that a study of the same rows in this folder had, or open one.

    Raises:
        DataError: a ledger of other rows is in the place of its own, or a ledger is missing.
    """
    lines, known, ours, former = _read(folder), read_known(together) if together else [], None, list[Known]()
    if together and content is not None:
        ours = known_as(together, "", folder, content)
        former = as_formerly(together, ours, content, known)
        rows = linked([*known, *former], [ours])
        same = [entry for entry in known if entry.rows in rows]
        here = sorted({entry.ledger for entry in same if entry.study == ours.study})
        if lines and here and _name(lines) not in {entry.ledger for entry in same}:
            copy = _copy(together, here[0])
            raise DataError(f"{folder / FILE}: is not the ledger of this study: restore it from its copy {copy}")
        if not lines and here:
            lines = max((_listed_lines(together, name) for name in here), key=len)
            tell(f"{folder / FILE} is missing: its copy {_copy(together, _name(lines))} takes its place")
    lines = lines or added([], OpenedEntry(date=today(), ledger=secrets.token_hex(16)))
    ours = ours and ours.model_copy(update={"ledger": _name(lines)})
    former = [entry.model_copy(update={"ledger": _name(lines)}) for entry in former]
    files = [entry for entry in known if entry.ledger == _name(lines)] + former + ([ours] if ours else [])
    others = {name: entries_of(_listed_lines(together, name)) for name in of_same_rows(known, files)} if together else {}
    budgets: Sequence[float] = _budgets(entries_of(lines))[-1:]
    if ours and not (budgets and _is_listed(ours, known, former)):
        budgets = _of_these_rows(ours, linked(known, files), budgets, known, others)
    return _Book(lines, known, ours, former, others, budgets)


def _of_these_rows(
    ours: Known, files: set[str], own: Sequence[float], known: Sequence[Known], others: Mapping[str, Sequence[Entry]]
) -> list[float]:
    """Budgets that a ledger may have for rows for which it is not listed with one: only a recorded change makes a budget larger.

    Args:
        ours: file of the study.
        files: rows of all files that its ledger ever had, in all declared formats.
        own: its budget, if it has one.
        known: files of all ledgers.
        others: other ledgers of these files, by name.
    """
    of_file: dict[str, list[float]] = {rows: [] for rows in files}
    for rows, name in {(entry.rows, entry.ledger) for entry in known if entry.rows in files and entry.ledger in others}:
        of_file[rows] += _budgets(others[name])[-1:]
    of_ours = of_file.pop(ours.rows)
    most = min([*own, *map(max, filter(None, of_file.values()))], default=math.inf)
    return [min(number, most) for number in of_ours] or ([most] if most < math.inf else [])


def _is_listed(ours: Known, known: Sequence[Known], former: Sequence[Known]) -> bool:
    """Return True if a ledger is listed for the rows of a file, in all formats in which it is listed."""
    return linked([*known, *former], [ours]) <= {entry.rows for entry in known if entry.ledger == ours.ledger}


def _add(folder: Path, together: Path | None, book: _Book, *entries: Entry) -> None:
    """Write entries, and list the file before the last of them, after its ledger is there: what is spent is always listed."""
    *lines, last = itertools.accumulate(entries, added, initial=book.lines)
    if together and book.ours and book.ours not in book.known:
        _write(folder, together, lines[-1])
        for file in (*book.former, book.ours):
            keep_known(together, file)
    _write(folder, together, last)


def _copy(together: Path, name: str) -> Path:
    """Path of the copy of a ledger."""
    return together / f"{name}.jsonl"


def _listed_lines(together: Path, name: str) -> list[str]:
    """Lines of a ledger that is listed among all.

    Raises:
        DataError: it is missing, or another one is in its place.
    """
    path = _copy(together, name)
    if not (lines := _lines(path)):
        raise DataError(f"{path}: is listed and missing; nothing is released until it is restored from a copy")
    if _name(lines) != name:
        raise DataError(f"{path}: is another ledger, {_name(lines)}; nothing is released until it is restored from a copy")
    return lines


def spent_elsewhere(folder: Path) -> list[str]:
    """Describe what other ledgers of the same rows have spent, and a ledger of the study whose own copy is missing."""
    if copies := copies_of(folder):
        return [f"A study in this folder had the ledger {path}: unless its file was another one, restore it." for path in copies]
    amounts = [spent(_releases(other)) for other in _book(folder, ledgers_folder()).others.values()]
    return [f"Other ledgers of the same rows: epsilon {math.fsum(amounts):g}, which counts here, too."] if any(amounts) else []


def overlapping(folder: Path, content: Content) -> list[str]:
    """Describe what the rows of a study have in common with files that have another ledger with a release.

    Raises:
        DataError: a ledger is damaged.
    """
    with _alone(folder) as together:  # it may make the key
        if not together:
            return [ALONE]
        book = _book(folder, together, content)
        assert book.ours is not None
        shared = overlaps(book.known, book.ours, list(book.others))
        ledgers = {name: entries_of(_listed_lines(together, name)) for name in (*book.others, *shared)}
    releases, sentences = spent(_releases(entries_of(book.lines))), []
    listed = {entry.rows for entry in book.known if entry.ledger == book.ours.ledger}  # none for those made with other ledgers
    if releases and listed and not listed & linked([*book.known, *book.former], [book.ours]):
        sentences.append(
            f"these are not the rows of this study's earlier releases, of epsilon {releases:g}, which count all the same"
        )
    amounts = {name: spent(_releases(entries)) for name, entries in ledgers.items()}
    counts = "which do not count here, but add up for the people in both"
    equal = "these rows, or former ones of this study, have another ledger"
    return sentences + [
        f"another ledger, {name}, is of rows that it shares: {shared[name]}, with releases of epsilon {amount:g}, {counts}"
        if name in shared
        else f"{equal}, {name}, with releases of epsilon {amount:g}, which count here"
        for name, amount in amounts.items()
        if amount
    ]


def head(folder: Path) -> str:
    """Sentence with the head of the ledger, for somebody else to keep."""
    return (
        f"Head of the ledger: {head_of(_read(folder))}. Let the disclosure officer keep this line: formalsynth budget {folder} "
        "--head HEAD checks later that nothing before it was changed or lost."
    )


def check_head(folder: Path, kept: str) -> str:
    """Compare the ledger of a study with a head that was kept.

    Raises:
        DataError: the ledger does not begin with what the head is of.
    """
    lines, parts = _read(folder), HEAD.fullmatch(kept.strip())
    if not parts:
        raise DataError(
            f"--head: given {kept!r}; allowed: a number of entries, a colon and 64 digits, as formalsynth budget prints"
        )
    number = int(parts[1])
    if number > len(lines):
        lost = f"the kept head is of {counted(number, 'entry', 'entries')} and the ledger has {len(lines)}"
        raise DataError(f"{folder / FILE}: {lost}: entries were deleted, or this is an older copy")
    if hash_of(lines[number - 1]) != parts[2]:
        raise DataError(
            f"{folder / FILE}: entry {number}, or one before it, is not the one of the kept head: the ledger was changed"
        )
    return f"The kept head is that of entry {number}: nothing up to it was changed. Entries after it: {len(lines) - number}."


@contextlib.contextmanager
def only_release(folder: Path) -> Iterator[None]:
    """Lock a study for a release or a purge, from beginning to end: two at once would take each other's files.

    Raises:
        DataError: another one is under way.
    """
    with _locked(folder / ".release.lock", FILE_MODE, "another release of this study is under way: wait for its end"):
        yield


@contextlib.contextmanager
def _locked(path: Path, mode: int, busy: str = "") -> Iterator[None]:
    """Lock a file: one of a folder would not be seen by another machine, nor be taken twice by one process.

    Raises:
        DataError: it is locked and ``busy`` states it, or its file system has no locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
    try:
        with contextlib.suppress(PermissionError):  # somebody else of the group made it
            os.fchmod(descriptor, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError:
            raise DataError(f"{path.parent}: {busy}") from None
        except OSError as error:
            why = "two releases could spend the same: take a folder on a file system that has locks"
            raise DataError(f"{path}: cannot be locked ({error.strerror}), and {why}") from error
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[Path | None]:
    """Lock the ledger and the folder of all ledgers, which it yields: two releases cannot spend the same rest of a budget."""
    together = ledgers_folder()
    own = private_folder((folder / FILE).parent)
    above = [together.resolve(), *together.resolve().parents] if together else []
    studies = [
        place for place in above if place == folder.resolve() or all((place / name).exists() for name in (SCHEMA, RELEASE))
    ]
    if studies:
        raise DataError(f"{VARIABLE}: {together} is in the folder of a study, {studies[0]}; allowed: a folder outside of studies")
    with contextlib.ExitStack() as held:
        for place in filter(None, (own, together)):
            held.enter_context(_locked(place / LOCK, mode_in(place)))
            sweep(place, "")  # a killed process leaves some of which no later one has the name
        yield together


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
        DataError: the folder is a link to another one, or a release is under way.
    """
    kept = folder / FILE
    if kept.parent.is_symlink():
        raise DataError(f"{kept.parent}: is a link; nothing was deleted: delete what it points to yourself, or remove the link")
    with only_release(folder):
        inside = sorted(kept.parent.iterdir()) if kept.parent.is_dir() else []
        gone = [path for path in inside if path != kept and not any(path.match(name) for name in PAID)]
        for path in gone:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    names = ", ".join(path.name for path in gone) or "nothing, there was nothing"
    return [
        f"Deleted: {names}.",
        f"Kept: {kept.name}, which records what is spent and compared. The file itself, the results of runs and releases "
        "are where they were, and so are noisy counts and crossings that were paid for. Deleting does not overwrite the disk.",
    ]


def today() -> str:
    """Return the date in the format of the ledger."""
    return datetime.now(UTC).date().isoformat()


def _write(folder: Path, together: Path | None, lines: Sequence[str]) -> None:
    """Write both copies, the one among all ledgers first: what is in one of them counts.

    Raises:
        DataError: an entry could not be read again; nothing was written.
    """
    text = "".join(f"{line}\n" for line in lines)
    try:
        _releases(entries_of(lines))
        if len(text) > LONGEST:
            raise ValueError(f"more than {LONGEST} bytes")
    except (ValueError, LookupError) as error:
        raise DataError(f"{folder / FILE}: an entry was not written, since nobody could read it again ({error})") from error
    if together:
        write_private(_copy(together, _name(lines)), text, mode_in(together))
    write_private(folder / FILE, text)


def table(
    ledger: Sequence[LedgerEntry], budgets: Sequence[BudgetEntry] = (), declared: float | None = None,
    comparisons: Sequence[ComparisonEntry] = (),
) -> list[str]:  # fmt: skip
    """Format the ledger, a line for each entry.

    Args:
        ledger: releases.
        budgets: budgets, the present one last.
        declared: budget in ``release.yaml``; None for none.
        comparisons: comparisons on the file.
    """
    changed = [f"{entry.date}  budget {entry.budget:g}: {entry.reason or 'declared'}" for entry in budgets]
    budget = budgets[-1].budget if budgets else declared
    compared = [
        f"{entry.date}  compared on the file, for which no epsilon accounts: {', '.join(entry.compared)}" for entry in comparisons
    ]
    lines = [
        f"{entry.date}  {entry.synthesizer}: epsilon at most {entry.epsilon:g} for {entry.sets} sets, "
        f"{ledger_kind(entry.guarantee)} ({entry.neighbours}), {entry.outcome}"
        for entry in ledger
    ] or ["Nothing was released in this study yet. formalsynth check shows whether other studies have released the same rows."]
    total = f"Together: {spent(ledger):g}" + ("." if budget is None else f" of {budget:g}.")
    if declared is not None and budget != declared:
        total += f" release.yaml has another budget, {declared:g}, which a release refuses."
    kinds = {ledger_kind(entry.guarantee) for entry in ledger}
    if len(kinds) > 1:
        total += " The kinds of guarantee differ, so the sum is what is claimed, not one guarantee of one kind."
    return [*changed, *compared, *lines, total]
