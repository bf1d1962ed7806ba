"""Ledger of a source: one text file for all files of the same people. Entries are only added, and never deleted.

Each line has the hash of the line before it. Each study keeps the head of the ledger after its last entry, so a ledger that was
lost, or replaced by an older copy, stops it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import Field

from formalsynth.core.model import Model
from formalsynth.core.text import DataError
from formalsynth.runtime.private import FILE, private_folder, write_private, write_private_bytes
from formalsynth_release.same_rows import Sketch

VARIABLE = "FORMALSYNTH_LEDGERS"  # environment variable with the folder of the ledgers, for an office that shares one
CONFIDENTIAL = "confidential"  # folder of a study's confidential files
HEAD_FILE = f"{CONFIDENTIAL}/ledger.head"  # head of the ledger after the last entry of a study
KEY, KEY_LENGTH = "key", 32  # file with the key of the hashes, and its number of bytes
FIRST = "0" * 64  # hash in the first line, instead of that of a line before it
HEAD = re.compile(r"([1-9]\d{0,8}):([0-9a-f]{64})")  # head of a ledger: the number of its entries and the hash of the last line


T = TypeVar("T", bound=Model)


class _Dated(Model):
    """What all entries have."""

    date: str


class OpenedEntry(_Dated):
    """First entry of a ledger."""

    kind: Literal["opened"] = "opened"
    source: str
    key: str  # keyed hash of the source: hashes made with another key would match nothing


class FileEntry(_Dated):
    """Entry for a file of the source, with keyed hashes that recognize it in other sources."""

    kind: Literal["file"] = "file"
    sketch: Sketch


class BudgetEntry(_Dated):
    """Entry for a budget: the first one declared, or a changed one."""

    kind: Literal["budget"] = "budget"
    budget: float = Field(gt=0, allow_inf_nan=False)
    reason: str = Field("", max_length=1000)  # reason for a change


class ReleaseEntry(_Dated):
    """Entry for a release, or for an attempt at one: its epsilon counts, whatever its outcome."""

    kind: Literal["release"] = "release"
    study: str
    neighbours: Literal["add_remove", "replace"]
    epsilon: float = Field(gt=0, allow_inf_nan=False)  # largest epsilon that it may claim: its declared ceiling


class CrossingEntry(_Dated):
    """Entry for the crossing of a release, before it is stored under its name."""

    kind: Literal["crossing"] = "crossing"
    release: int = Field(ge=0)  # index among the releases
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class OutcomeEntry(_Dated):
    """Entry for the end of a release."""

    kind: Literal["outcome"] = "outcome"
    release: int = Field(ge=0)
    outcome: Literal["released", "stopped"]


class ComparisonEntry(_Dated):
    """Entry for a comparison of a release with the file, which spends no epsilon but may affect later declarations."""

    kind: Literal["comparison"] = "comparison"
    study: str


Entry = OpenedEntry | FileEntry | BudgetEntry | ReleaseEntry | CrossingEntry | OutcomeEntry | ComparisonEntry


class Line(Model):
    """Line of a ledger."""

    before: str  # hash of the line before it
    entry: Entry = Field(discriminator="kind")


def today() -> str:
    """Return the date in the format of the ledger."""
    return datetime.now(UTC).date().isoformat()


def ledgers_folder() -> Path:
    """Return the folder of the ledgers of all sources.

    Raises:
        DataError: it cannot be used.
    """
    if (chosen := os.environ.get(VARIABLE)) is not None:
        if not (Path(chosen).is_absolute() and Path(chosen).is_dir()):
            what = "the absolute path of an existing folder. In a new one, no epsilon counts as spent"
            raise DataError(f"{VARIABLE}: given {chosen!r}; allowed: {what}")
        return Path(chosen)
    try:
        state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
        return private_folder(state / "formalsynth" / "ledgers")
    except (OSError, RuntimeError) as error:
        raise DataError(f"{VARIABLE}: not given, and there is no home folder ({error}): name a folder for the ledgers") from error


def _mode() -> int:
    """Return the mode of files in the folder of ledgers: open to its group if a group shares the folder (``chmod 2770``)."""
    shared = stat.S_IWGRP | stat.S_ISGID
    return 0o660 if ledgers_folder().stat().st_mode & shared == shared else FILE


def ledger_key() -> bytes:
    """Return the key of the hashes, made for the first ledger.

    Raises:
        DataError: it is missing or damaged.
    """
    path = ledgers_folder() / KEY
    if not path.exists() and not any(ledgers_folder().glob("*.jsonl")):
        write_private_bytes(path, secrets.token_bytes(KEY_LENGTH), _mode())
    key = path.read_bytes() if path.is_file() else b""
    if len(key) != KEY_LENGTH or any(ledger.entries[0] != opening(ledger, key) for ledger in other_ledgers("")):
        raise DataError(f"{path}: is missing, damaged or replaced, so no file can be compared with other sources: restore it")
    return key


def opening(ledger: Ledger, key: bytes) -> OpenedEntry:
    """Return the first entry of a ledger, with its own date if it has one."""
    date = ledger.entries[0].date if ledger.entries else today()
    return OpenedEntry(date=date, source=ledger.source, key=hmac.new(key, ledger.source.encode(), hashlib.sha256).hexdigest())


@contextlib.contextmanager
def locked(path: Path, busy: str = "") -> Iterator[None]:
    """Lock a file until the block ends.

    Raises:
        DataError: it is locked and ``busy`` is given, or its file system does not support locks.
    """
    lock = FileLock(path, timeout=0 if busy else -1, mode=_mode())
    try:
        held = lock.acquire()
    except Timeout:
        raise DataError(f"{path.parent}: {busy}") from None
    except NotImplementedError as error:
        raise DataError(f"{path}: cannot be locked: use a folder on a file system that supports locks") from error
    with held:
        yield


@dataclass
class Ledger:
    """Ledger of a source; it may be changed only inside :func:`opened`."""

    source: str
    lines: list[str]
    entries: list[Entry] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """File of the ledger."""
        return ledgers_folder() / f"{self.source}.jsonl"

    def of(self, kind: type[T]) -> list[T]:
        """Return the entries of a kind."""
        return [entry for entry in self.entries if isinstance(entry, kind)]

    @property
    def budgets(self) -> tuple[float, ...]:
        """Budgets that were declared, the current one last."""
        return tuple(entry.budget for entry in self.of(BudgetEntry))

    def outcome(self, release: int) -> str:
        """Return the state of a release: started, released or stopped."""
        return next((entry.outcome for entry in self.of(OutcomeEntry) if entry.release == release), "started")

    def crossing(self, release: int) -> str:
        """Return the sha256 of the crossing of a release; empty if none was stored."""
        return next((entry.sha256 for entry in self.of(CrossingEntry) if entry.release == release), "")

    @property
    def head(self) -> str:
        """Number of entries and hash of the last line, with which later changes of any entry are found."""
        return f"{len(self.lines)}:{_hash(self.lines[-1])}" if self.lines else "none"

    def check_head(self, kept: str, by: str) -> int:
        """Check that the ledger begins with the entries that a head covers, and return their number.

        Raises:
            DataError: it does not, or the head is not valid.
        """
        parts = HEAD.fullmatch(kept.strip())
        if not parts:
            allowed = "a number of entries, a colon and 64 hexadecimal digits, as formalsynth budget prints"
            raise DataError(f"{by}: given {kept!r}; allowed: {allowed}")
        number = int(parts[1])
        if number > len(self.lines) or _hash(self.lines[number - 1]) != parts[2]:
            lost = "the ledger was lost, changed, or replaced by an older copy. Restore it; nothing is released until then"
            raise DataError(f"{self.path}: does not begin with the {number} entries that {by} covers: {lost}")
        return number

    def add(self, *entries: Entry) -> None:
        """Add entries, and write the ledger to the disk.

        Raises:
            OSError: the disk is full, for example; the ledger is unchanged.
        """
        lines = [*self.lines]
        for entry in entries:
            tree = {"before": _hash(lines[-1]) if lines else FIRST, "entry": entry.model_dump(mode="json")}
            lines.append(json.dumps(tree, sort_keys=True, separators=(",", ":")))
        write_private(self.path, "".join(f"{line}\n" for line in lines), _mode())
        self.lines, self.entries = lines, [*self.entries, *entries]


def read_ledger(source: str) -> Ledger:
    """Read the ledger of a source, which is empty before its first entry.

    Raises:
        DataError: it is damaged, or not a file.
    """
    ledger = Ledger(source, [])
    if ledger.path.is_symlink() or (ledger.path.exists() and not ledger.path.is_file()):
        raise DataError(f"{ledger.path}: is a link or not a file: put the ledger itself here")
    if not ledger.path.exists():
        return ledger
    try:
        ledger.lines = ledger.path.read_text(encoding="utf-8").splitlines()
        ledger.entries = list(_entries(ledger.lines, source))
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(f"{ledger.path}: is damaged ({reason}); nothing is released until it is restored") from error
    return ledger


@contextlib.contextmanager
def opened(source: str, study: Path) -> Iterator[Ledger]:
    """Lock all ledgers, and read that of a source; the study then keeps its head.

    Raises:
        DataError: the ledger is damaged, or does not contain all entries that the study has seen.
    """
    private_folder(study / CONFIDENTIAL)
    with locked(ledgers_folder() / ".lock"):
        ledger = read_ledger(source)
        check_study(ledger, study)
        yield ledger
        if ledger.lines:
            write_private(study / HEAD_FILE, f"{source} {ledger.head}\n")


def check_study(ledger: Ledger, study: Path) -> None:
    """Check a ledger against the head that a study has kept.

    Raises:
        DataError: the ledger does not contain all entries that the study has seen, or the study had another source.
    """
    path = study / HEAD_FILE
    if path.exists():
        source, _, head = path.read_text(encoding="utf-8").strip().partition(" ")
        if source != ledger.source:
            allowed = f"{source}, in whose ledger this study has entries. For a file of other people, make another study"
            raise DataError(f"{study}: source: given {ledger.source}; allowed: {allowed}")
        ledger.check_head(head, str(path))


def other_ledgers(source: str) -> list[Ledger]:
    """Read the ledgers of all other sources."""
    names = sorted(path.stem for path in ledgers_folder().glob("*.jsonl"))
    return [read_ledger(name) for name in names if name != source]


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()


def _entries(lines: Sequence[str], source: str) -> Iterator[Entry]:
    """Read the entries of a ledger.

    Raises:
        ValueError: a line is not an entry, or does not follow from the ones before it.
    """
    if not lines:
        raise ValueError("it has no entry")
    before, releases = FIRST, 0
    for place, line in enumerate(lines, 1):
        read = Line.model_validate_json(line, strict=True)
        entry = read.entry
        if read.before != before:
            raise ValueError(f"entry {place} does not follow the one before it: something was edited, deleted or moved")
        if isinstance(entry, OpenedEntry) != (place == 1) or (isinstance(entry, OpenedEntry) and entry.source != source):
            raise ValueError(f"entry {place} is of the wrong kind, or of another source")
        if isinstance(entry, CrossingEntry | OutcomeEntry) and entry.release >= releases:
            raise ValueError(f"entry {place} is for a release without an entry")
        releases += isinstance(entry, ReleaseEntry)
        before = _hash(line)
        yield entry
