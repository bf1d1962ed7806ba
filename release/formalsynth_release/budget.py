"""Ledger of a file: the epsilon spent on it, recorded before anything is drawn, and the comparisons made on it.

A study's ledger is in its folder, with a copy in the folder of the ledgers of all the user's studies. It is never deleted.
Entries are only added, and each contains the hash of the one before it. Epsilon spent in all ledgers of the same rows adds up.
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
from formalsynth.core.words import counted, is_short
from formalsynth.runtime.private import FILE as FILE_MODE
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.runtime.scratch import sweep
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import LONGEST, check_size, load_yaml
from formalsynth_release.crossing import CROSSING
from formalsynth_release.guarantees import ledger_kind
from formalsynth_release.hash_chain import (
    HEAD,
    NAME,
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
from formalsynth_release.same_rows import (
    INDEX,
    RULE,
    VARIABLE,
    Content,
    Known,
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
from formalsynth_release.schema import RELEASE, SCHEMA

CONFIDENTIAL, UNFINISHED = "confidential", "unfinished"
"""Folder of a study's confidential files, and the folder in it with the crossing of a release that is not published yet."""
FILE = f"{CONFIDENTIAL}/budget.jsonl"
LOCK = ".ledger.lock"
PAID = (UNFINISHED, LOCK)
"""Output next to the ledger whose epsilon is spent but which is not published yet, and the ledger's lock file."""
TINY = 1e-9
LONGEST_REASON = 1000
"""Largest number of letters of the reason for a changed budget."""
ALONE = "There is no folder for the ledgers of all studies, so a release of the same rows by another study would go unnoticed."
"""Sentence for a user without a folder of all ledgers."""
OF_OTHERS = "declared for the same rows in another study"
"""Reason recorded for a new budget in a ledger that was used for other rows before."""


Recorded = LedgerEntry | BudgetEntry | ComparisonEntry
"""Entries that the history of a ledger shows."""


@dataclass(frozen=True)
class Started:
    """Release with an entry in the ledger."""

    place: int
    """Index among the releases of the study."""
    earlier: tuple[LedgerEntry, ...]
    """The study's earlier releases. Other studies' releases of the same rows count against the budget but are not published:
    which studies these are depends on every row."""
    budgets: tuple[float, ...]
    """Budgets that the study has had, the current one last."""


def read_ledger(folder: Path, needed: bool = False) -> list[LedgerEntry]:
    """Read the entries of all releases in the ledger of a study, each with its outcome.

    Raises:
        DataError: the ledger is damaged or a link, or it is needed and only its copy exists.
    """
    return _releases(entries_of(_read(folder, needed)))


def read_comparisons(folder: Path) -> list[ComparisonEntry]:
    """Read the entries of all comparisons in the ledger of a study.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    return [entry for entry in entries_of(_read(folder)) if isinstance(entry, ComparisonEntry)]


def read_history(folder: Path) -> list[Recorded]:
    """Read the ledger of a study in its order: budgets, comparisons, and releases with their outcomes.

    Raises:
        DataError: the ledger is damaged, or a link.
    """
    entries = entries_of(_read(folder))
    releases = iter(_releases(entries))
    recorded = (entry for entry in entries if isinstance(entry, Recorded))
    return [next(releases) if isinstance(entry, LedgerEntry) else entry for entry in recorded]


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
    """Read the lines of a study's ledger: the longer of its two copies, one of which must continue the other."""
    path = folder / FILE
    if path.is_symlink():
        raise DataError(f"{path}: is a link, and new entries would not reach the ledger that it points to: put that ledger here")
    ours, together = _lines(path), ledgers_folder()
    if needed and (copies := copies_of(folder)):
        raise DataError(f"{path}: is missing: restore it from its copy {' or '.join(copies)}")
    copy = _copy(together, _name(ours)) if together and ours else None
    theirs = _lines(copy) if copy else []
    if ours[: len(theirs)] != theirs[: len(ours)]:
        raise DataError(
            f"{path}: differs from its copy {copy}, and neither continues the other; nothing is released until both are "
            "the same: restore the one that was changed"
        )
    return max(ours, theirs, key=len)


def copies_of(folder: Path) -> list[str]:
    """List the copies of all ledgers that a study in this folder has had, if its own ledger is missing."""
    together = ledgers_folder()
    if not together or (folder / FILE).exists() or not (known := read_known(together)):
        return []
    place = place_of(together, folder)
    return sorted({str(_copy(together, entry.ledger)) for entry in known if entry.study == place})


def _lines(path: Path) -> list[str]:
    """Read the lines of a ledger file, which may be from an earlier version."""
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
        raise DataError(f"{path}: is damaged{why}; nothing is released until it is intact: restore it from a copy") from error
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
        budget: the budget in ``release.yaml``.
        content: hashes of the rows; without them, only the study's own ledger counts.

    Raises:
        DataError: the release would exceed the budget, or the budget differs from the recorded one.
    """
    with _alone(folder) as together:
        book = _book(folder, together, content)
        _check_listed(together, book)
        for sentence in _of_earlier_versions(together, book) if together else []:
            tell(f"Warning: {sentence}")
        if book.budgets and budget not in book.budgets:
            allowed = " or ".join(f"{number:g}" for number in sorted(set(book.budgets)))
            raise DataError(
                f"{folder / 'release.yaml'}: budget: given {budget:g}; allowed: {allowed}, as the file's ledger records. "
                "A budget is declared once, before anyone looks at the file; a change is recorded in the study that declared it, "
                f"and every later release from there states it: formalsynth budget STUDY --change {budget:g} --reason TEXT"
            )
        former = entries_of(book.lines)
        releases, budgets = _releases(former), _budgets(former)
        before = spent([*releases, *(release for other in book.others.values() for release in _releases(other))])
        if before + entry.epsilon > budget + TINY:
            raise DataError(
                f"{folder / 'release.yaml'}: ceiling: given {entry.epsilon:g}; {before:g} of the budget of {budget:g} for all "
                "releases from the file is already spent: lower the ceiling, or publish no more from it"
            )
        declared = BudgetEntry(date=entry.date, budget=budget, reason=OF_OTHERS if budgets else "")
        added_now: list[Entry] = [entry] if budgets[-1:] == (budget,) else [declared, entry]
        _add(folder, together, book, *added_now)
        return Started(len(releases), tuple(releases), (*budgets, *_budgets(added_now)))


def change_budget(folder: Path, budget: float, reason: str) -> None:
    """Add an entry for a changed budget.

    Raises:
        DataError: the budget is not valid, none was declared before, or it is the current one.
    """
    if not 0 < budget < math.inf:
        raise DataError(f"--change: given {budget:g}; allowed: a number above 0")
    if not is_short(budget):
        raise DataError(f"--change: given {budget!r}; allowed: at most 6 significant digits")
    if len(reason) > LONGEST_REASON:
        raise DataError(f"--reason: given {len(reason)} letters; allowed: at most {LONGEST_REASON}")
    with _alone(folder) as together:
        lines = _read(folder, needed=True)
        former = _budgets(entries_of(lines))
        if not former or former[-1] == budget:
            declared = f"it is already {former[-1]:g}" if former else "the ledger has none until the first release"
            raise DataError(f"{folder / FILE}: the budget cannot be changed to {budget:g}: {declared}")
        _write(folder, together, added(lines, BudgetEntry(date=today(), budget=budget, reason=reason)))


def record_comparison(folder: Path, compared: Sequence[str], content: Content | None = None) -> None:
    """Add an entry for a comparison before anyone can read its report."""
    with _alone(folder) as together:
        book = _book(folder, together, content)
        _check_listed(together, book)
        entries: list[Entry] = [ComparisonEntry(date=today(), compared=tuple(compared))]
        if not {*_budgets(entries_of(book.lines))[-1:]} <= {*book.budgets}:  # the ledger belonged to other rows
            entries.insert(0, BudgetEntry(date=today(), budget=min(book.budgets), reason=OF_OTHERS))
        _add(folder, together, book, *entries)


def finish(folder: Path, place: int, outcome: str, crossing: str = "") -> None:
    """Add an entry for the outcome of a release, with the sha256 of its crossing; its epsilon stays spent."""
    with _alone(folder) as together:
        entry = OutcomeEntry.model_validate({"date": today(), "release": place, "outcome": outcome, "crossing": crossing})
        if not (lines := _read(folder, needed=True)):
            raise DataError(f"{folder / FILE}: is missing: restore it from a copy")
        _write(folder, together, added(lines, entry))


def record_crossing(folder: Path, place: int, crossing: str) -> None:
    """Add an entry for the sha256 of the crossing of a started release, with which it is compared before it is published."""
    finish(folder, place, "started", crossing)


class _Book(NamedTuple):
    """Ledger of a study, with what all ledgers record about its rows; read once, under a lock if it will be written."""

    lines: list[str]
    known: list[Known]
    """Files of all ledgers."""
    ours: Known | None
    """The study's file; None if its rows are not given."""
    listed: list[Known]
    """Files for which the study's ledger is listed."""
    others: dict[str, list[Entry]]
    """Other ledgers of the same rows, by name."""
    budgets: Sequence[float]
    """Budgets allowed for the rows: that of a ledger listed for them, otherwise those of other ledgers; empty at first."""


def _book(folder: Path, together: Path | None, content: Content | None = None) -> _Book:
    """Read the ledger of a study, or the copy of a ledger that this folder's study had for the same rows, or open a new one.

    Raises:
        DataError: the study's ledger was replaced by one of other rows, or a ledger is missing.
    """
    lines, known, ours = _read(folder), read_known(together) if together else [], None
    if together and content is not None:
        ours = known_as(together, "", folder, content)
        rows = linked(known, [ours])
        same = [entry for entry in known if entry.rows in rows]
        here = sorted({entry.ledger for entry in same if entry.study == ours.study})
        if lines and here and _name(lines) not in {entry.ledger for entry in same}:
            copy = _copy(together, here[0])
            raise DataError(f"{folder / FILE}: is not the ledger of this study: restore it from its copy {copy}")
        if not lines and here:
            lines = max((_listed_lines(together, name) for name in here), key=len)
            tell(f"{folder / FILE} is missing: its copy {_copy(together, _name(lines))} is used instead")
        if not lines and (of_old := [entry.ledger for entry in known if entry.study == ours.study and entry.rule < RULE]):
            copy = _copy(together, of_old[-1])
            raise DataError(
                f"{folder / FILE}: is missing, and an earlier version listed a ledger for this folder: restore it from its copy "
                f"{copy}; if its file was another one, use another folder for this study"
            )
    lines = lines or added([], OpenedEntry(date=today(), ledger=secrets.token_hex(16)))
    ours = ours and ours.model_copy(update={"ledger": _name(lines)})
    listed = [entry for entry in known if entry.ledger == _name(lines)]
    files = [*listed, *([ours] if ours else [])]
    others = {name: entries_of(_listed_lines(together, name)) for name in of_same_rows(known, files)} if together else {}
    budgets: Sequence[float] = _budgets(entries_of(lines))[-1:]
    if ours and not (budgets and linked(known, [ours]) <= {entry.rows for entry in listed}):
        budgets = _of_these_rows(ours, linked(known, files), budgets, known, others)
    return _Book(lines, known, ours, listed, others, budgets)


def _check_listed(together: Path | None, book: _Book) -> None:
    """Check that each other ledger with a release is listed.

    Raises:
        DataError: one is not, so the list has lost it.
    """
    if not together:
        return
    listed = {_name(book.lines), *(entry.ledger for entry in book.known)}
    for path in sorted(together.glob("*.jsonl")):
        if NAME.fullmatch(path.stem) and path.stem not in listed and _releases(entries_of(_lines(path))):
            raise DataError(
                f"{path}: contains releases and is not in {together / INDEX}, so their rows are not known: restore the list from "
                "a copy, or run formalsynth check in the study of this ledger, with its unchanged file; if that study is gone, "
                "move the ledger away"
            )


def _of_these_rows(
    ours: Known, files: set[str], own: Sequence[float], known: Sequence[Known], others: Mapping[str, Sequence[Entry]]
) -> list[float]:
    """Return the budgets allowed for rows that are not listed with a budget: only a recorded change can increase one.

    Args:
        ours: file of the study.
        files: rows of all files that its ledger has ever been used for, in all declared formats.
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


def _add(folder: Path, together: Path | None, book: _Book, *entries: Entry) -> None:
    """Write entries, and list the file after its ledger exists but before the last entry, so spent epsilon is always listed."""
    *lines, last = itertools.accumulate(entries, added, initial=book.lines)
    if together and book.ours and book.ours not in book.known:
        _write(folder, together, lines[-1], listed=True)
        keep_known(together, book.ours)
    _write(folder, together, last, listed=True)


def _copy(together: Path, name: str) -> Path:
    """Path of the copy of a ledger."""
    return together / f"{name}.jsonl"


def _listed_lines(together: Path, name: str) -> list[str]:
    """Read the lines of a ledger in the folder of all ledgers.

    Raises:
        DataError: the ledger is missing, or its file contains another one.
    """
    path = _copy(together, name)
    if not (lines := _lines(path)):
        raise DataError(f"{path}: is listed but missing; nothing is released until it is restored from a copy")
    if _name(lines) != name:
        raise DataError(f"{path}: contains another ledger, {_name(lines)}; nothing is released until it is restored from a copy")
    return lines


def spent_elsewhere(folder: Path) -> list[str]:
    """Describe the spending in other ledgers of the same rows, and ledgers of the study whose own copy is missing."""
    if copies := copies_of(folder):
        return [f"A study in this folder had the ledger {path}: restore it, unless it is for another file." for path in copies]
    book = _book(folder, ledgers_folder())
    entries = entries_of(book.lines)
    elsewhere = math.fsum(spent(_releases(other)) for other in book.others.values())
    total = elsewhere + spent(_releases(entries))
    budget = max([number for ledger in (entries, *book.others.values()) for number in _budgets(ledger)], default=math.inf)
    beyond = (
        f"All together {total:g}, MORE THAN THE BUDGET of {budget:g}: a ledger was lost or an older copy restored, unless these "
        "are releases of several files."
    )
    return [
        *([f"Other ledgers of the same rows: epsilon {elsewhere:g}, which also counts here."] * (elsewhere > 0)),
        *([beyond] * (total > budget + TINY)),
    ]


def _of_earlier_versions(together: Path, book: _Book) -> list[str]:
    """Warn of ledgers that were listed by the rule of an earlier version only."""
    present = {entry.ledger for entry in book.known if entry.rule == RULE} | {book.ours.ledger if book.ours else ""}
    older = len({entry.ledger for entry in book.known} - present)
    return [
        f"{together / INDEX} has {counted(older, 'ledger')} of an earlier version, whose rows are not known to be others: "
        "formalsynth check in the studies of such ledgers lists them again"
    ] * (older > 0)


def _list_again(folder: Path, together: Path, book: _Book) -> None:
    """Renew an older copy of a ledger, and list a ledger that the list has lost, or has by the rule of an earlier version.

    It is listed for the present rows only if that cannot make their budget larger.
    """
    own, theirs = _budgets(entries_of(book.lines))[-1:], [_budgets(entries)[-1:] for entries in book.others.values()]
    within = bool(own) and all(own <= budget for budget in theirs if budget)
    known = any(entry.rule == RULE for entry in book.listed)
    restored = _lines(_copy(together, _name(book.lines))) != book.lines  # the list may be older, too
    if known or within:
        _write(folder, together, book.lines, listed=True)
    if (restored or not known) and within and book.ours:
        keep_known(together, book.ours)


def overlapping(folder: Path, content: Content) -> list[str]:
    """Describe how the rows of a study overlap files whose releases are in another ledger.

    Raises:
        DataError: a ledger is damaged.
    """
    with _alone(folder) as together:  # it may create the key
        if not together:
            return [ALONE]
        book = _book(folder, together, content)
        assert book.ours is not None
        if _releases(entries_of(book.lines)) and (folder / FILE).exists():
            _list_again(folder, together, book)
        shared = overlaps(book.known, book.ours, list(book.others))
        ledgers = {name: entries_of(_listed_lines(together, name)) for name in (*book.others, *shared)}
    releases, sentences = spent(_releases(entries_of(book.lines))), []
    listed = {entry.rows for entry in book.listed if entry.rule == RULE}  # empty if made with another folder
    if releases and listed and not listed & linked(book.known, [book.ours]):
        sentences.append(
            f"these are not the rows of this study's earlier releases, but their epsilon of {releases:g} still counts"
        )
    sentences += _of_earlier_versions(together, book)
    amounts = {name: spent(_releases(entries)) for name, entries in ledgers.items()}
    counts = "which does not count here, but adds up for people who are in both files"
    equal = "these rows, or earlier rows of this study, have another ledger"
    return sentences + [
        f"another ledger, {name}, is for an overlapping file ({shared[name]}): it records a spent epsilon of {amount:g}, {counts}"
        if name in shared
        else f"{equal}, {name}: it records a spent epsilon of {amount:g}, which also counts here"
        for name, amount in amounts.items()
        if amount
    ]


def head(folder: Path) -> str:
    """Write a sentence with the head of the ledger, for someone else to keep."""
    return (
        f"Head of the ledger: {head_of(_read(folder))}. Ask the disclosure officer to keep this line: formalsynth budget "
        f"{folder} --head HEAD later checks that no entry up to this point was changed or lost."
    )


def check_head(folder: Path, kept: str) -> str:
    """Compare the ledger of a study with a saved head.

    Raises:
        DataError: the ledger does not begin with the entries that the head covers.
    """
    lines, parts = _read(folder), HEAD.fullmatch(kept.strip())
    if not parts:
        raise DataError(
            f"--head: given {kept!r}; allowed: a number of entries, a colon and 64 hexadecimal digits, as formalsynth budget "
            "prints"
        )
    number = int(parts[1])
    if number > len(lines):
        lost = f"the saved head covers {counted(number, 'entry', 'entries')}, but the ledger has only {len(lines)}"
        raise DataError(f"{folder / FILE}: {lost}: entries were deleted, or this is an older copy")
    if hash_of(lines[number - 1]) != parts[2]:
        raise DataError(
            f"{folder / FILE}: entry {number}, or one before it, does not match the saved head: the ledger was changed"
        )
    return (
        f"The saved head matches entry {number}: no entry up to that point has been changed. "
        f"Later entries: {len(lines) - number}."
    )


@contextlib.contextmanager
def only_release(folder: Path) -> Iterator[None]:
    """Lock a study for a release or a purge, from beginning to end: two at once would use each other's files.

    Raises:
        DataError: another one is under way.
    """
    with _locked(folder / ".release.lock", FILE_MODE, "another release of this study is under way: wait for it to end"):
        yield


@contextlib.contextmanager
def _locked(path: Path, mode: int, busy: str = "") -> Iterator[None]:
    """Lock a file: another machine would not see a lock on a folder, nor could one process take it twice.

    Raises:
        DataError: it is locked and ``busy`` is given, or its file system does not support locks.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, mode)
    try:
        with contextlib.suppress(PermissionError):  # another member of the group created it
            os.fchmod(descriptor, mode)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (fcntl.LOCK_NB if busy else 0))
        except BlockingIOError:
            raise DataError(f"{path.parent}: {busy}") from None
        except OSError as error:
            why = "two releases could spend the same epsilon: use a folder on a file system that supports locks"
            raise DataError(f"{path}: cannot be locked ({error.strerror}), so {why}") from error
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[Path | None]:
    """Lock the ledger and the folder of all ledgers, yielding the latter: two releases cannot spend the same remaining budget."""
    together = ledgers_folder()
    own = private_folder((folder / FILE).parent)
    above = [together.resolve(), *together.resolve().parents] if together else []
    studies = [
        place for place in above if place == folder.resolve() or all((place / name).exists() for name in (SCHEMA, RELEASE))
    ]
    if studies:
        raise DataError(f"{VARIABLE}: {together} is in the folder of a study, {studies[0]}; allowed: one outside all studies")
    with contextlib.ExitStack() as held:
        for place in filter(None, (own, together)):
            held.enter_context(_locked(place / LOCK, mode_in(place)))
            sweep(place, "")  # delete files that killed processes left: no later one uses their names
        yield together


def spent_since(folder: Path, entries: int) -> str:
    """Report the epsilon spent by all entries after the first ``entries`` ones."""
    try:
        ledger = read_ledger(folder)
    except DataError:
        return f"{folder / FILE} does not show whether epsilon is spent: restore it from a copy before you do anything else."
    epsilon = spent(ledger[entries:])
    if not epsilon:
        return "No more epsilon is spent." if spent(ledger) else "No epsilon is spent."
    return f"An epsilon of {epsilon:g} counts as spent since this command began: see formalsynth budget {folder}."


def purge(folder: Path) -> list[str]:
    """Delete all confidential files of a study except its ledger, the only record of the spent epsilon.

    Returns:
        Sentences on the files that were deleted, and those that were not.

    Raises:
        DataError: the folder is a link to another one, contains the file, a release or a study, or a release is under way.
    """
    kept = folder / FILE
    if kept.parent.is_symlink():
        raise DataError(f"{kept.parent}: is a link; nothing was deleted: delete what it points to yourself, or remove the link")
    with only_release(folder):
        inside = sorted(kept.parent.iterdir()) if kept.parent.is_dir() else []
        gone = [path for path in inside if path != kept and path.name not in PAID]
        if others := _not_of_purge(folder, gone):
            raise DataError(f"{others[0]}: would be deleted, and is no output of this study; nothing was deleted: move it away")
        for path in gone:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    names = ", ".join(path.name for path in gone) or "nothing, because there was nothing to delete"
    return [
        f"Deleted: {names}.",
        f"Kept: {kept.name}, which records what was spent and compared. The file itself, results of runs and releases are where "
        "they were, and so are crossings whose epsilon is spent. Deleting does not overwrite the disk.",
    ]


def _not_of_purge(folder: Path, gone: Sequence[Path]) -> list[Path]:
    """List what nobody would want to be deleted: the confidential file, releases, and other studies."""
    others = [inside for path in gone for inside in (path, *path.rglob("*")) if inside.name in (CROSSING, SCHEMA, RELEASE)]
    with contextlib.suppress(ConfigError, OSError, KeyError, TypeError):
        file = (folder / str(load_yaml(folder / SCHEMA)["file"])).resolve()
        others += [file for path in gone if file.is_relative_to(path.resolve()) and file.exists()]
    return others


def today() -> str:
    """Return the date in the format of the ledger."""
    return datetime.now(UTC).date().isoformat()


def _write(folder: Path, together: Path | None, lines: Sequence[str], listed: bool = False) -> None:
    """Write both copies, first the one in the folder of all ledgers: an entry counts if either copy contains it.

    Args:
        folder: the study.
        together: folder of all ledgers.
        lines: the ledger.
        listed: True for a ledger that is listed, or will be; a new copy of another one would stop all other studies.

    Raises:
        DataError: an entry could not be read back; nothing was written.
    """
    text = "".join(f"{line}\n" for line in lines)
    try:
        _releases(entries_of(lines))
        if len(text) > LONGEST:
            raise ValueError(f"more than {LONGEST} bytes")
    except (ValueError, LookupError) as error:
        raise DataError(f"{folder / FILE}: an entry was not written, because it could not be read back ({error})") from error
    if together and (listed or _copy(together, _name(lines)).exists()):
        write_private(_copy(together, _name(lines)), text, mode_in(together))
    write_private(folder / FILE, text)


def table(history: Sequence[Recorded], declared: float | None = None) -> list[str]:
    """Format the history of a ledger, a line for each entry.

    Args:
        history: entries, in their order.
        declared: budget in ``release.yaml``; None for none.
    """
    ledger, budgets = [entry for entry in history if isinstance(entry, LedgerEntry)], _budgets(history)
    budget = budgets[-1] if budgets else declared
    lines = [_line(entry) for entry in history]
    if not ledger:
        lines += ["This study has no release yet. formalsynth check shows whether other studies have released the same rows."]
    of = "" if budget is None else f" of {budget:g}"
    total = f"{'Together' if ledger else 'Spent by this study'}: {spent(ledger):g}{of}."
    if declared is not None and budget != declared:
        total += f" The budget in release.yaml, {declared:g}, differs from the recorded one, so a release would be refused."
    kinds = {ledger_kind(entry.guarantee) for entry in ledger}
    if len({entry.neighbours for entry in ledger}) > 1:
        total += " For a replaced row, an epsilon for add_remove counts twice."
    if len(kinds) > 1:
        total += " The kinds of guarantee differ, so the sum is the total claimed, not one guarantee of a single kind."
    return [*lines, total]


def _line(entry: Recorded) -> str:
    if isinstance(entry, BudgetEntry):
        return f"{entry.date}  budget {entry.budget:g}: {entry.reason or 'declared'}"
    if isinstance(entry, ComparisonEntry):
        return f"{entry.date}  compared on the file, which no epsilon covers: {', '.join(entry.compared)}"
    return (
        f"{entry.date}  {entry.synthesizer}: epsilon at most {entry.epsilon:g} for {entry.sets} sets, "
        f"{ledger_kind(entry.guarantee)} ({entry.neighbours}), {entry.outcome}"
    )
