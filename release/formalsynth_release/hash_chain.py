"""Text of a ledger: entries are only added, each with the hash of the line before it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from formalsynth.core.model import Model

FIRST = "0" * 64
"""Hash in the first line, instead of that of a line before it."""
NAME = re.compile(r"[0-9a-f]{32}")
"""Pattern of the name of a ledger."""
HEAD = re.compile(r"([1-9]\d{0,8}):([0-9a-f]{64})")
"""Head of a ledger: the number of its entries and the hash of the last line."""


class OpenedEntry(Model):
    """First entry of a ledger, which names it."""

    kind: Literal["opened"] = "opened"
    date: str
    ledger: str = Field(pattern=f"^{NAME.pattern}$")
    """Name of the ledger, drawn by the operating system."""
    taken_over: bool = False
    """True for a ledger from an earlier version of this software, whose entries follow."""


class BudgetEntry(Model):
    """Entry for a budget: the first one declared, or a changed one."""

    kind: Literal["budget"] = "budget"
    date: str
    budget: float = Field(gt=0, allow_inf_nan=False)
    reason: str = ""
    """Reason for a change."""


class LedgerEntry(Model):
    """Entry for a release, or for an attempt at one."""

    kind: Literal["release"] = "release"
    date: str
    synthesizer: str
    guarantee: str
    neighbours: str
    sets: int
    epsilon: float = Field(ge=0, allow_inf_nan=False)
    """Largest epsilon that it may claim: its declared ceiling."""
    outcome: str
    """State of the release: started, released or stopped; its epsilon counts in every state."""
    crossing: str = ""
    """Sha256 of the crossing: of its content without software versions before the release is published, of its file
    afterwards."""


class OutcomeEntry(Model):
    """Entry for the end of a release, or for the crossing of a started one."""

    kind: Literal["outcome"] = "outcome"
    date: str
    release: int = Field(ge=0)
    """Index among the releases."""
    outcome: Literal["started", "released", "stopped"]
    crossing: str = ""


class ComparisonEntry(Model):
    """Entry for a comparison with the file, which uses the data but spends no epsilon."""

    kind: Literal["comparison"] = "comparison"
    date: str
    compared: tuple[str, ...]
    """Names of what was compared."""


Entry = OpenedEntry | BudgetEntry | LedgerEntry | OutcomeEntry | ComparisonEntry
_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])
_FORMER: TypeAdapter[LedgerEntry | ComparisonEntry] = TypeAdapter(LedgerEntry | ComparisonEntry)


def hash_of(line: str) -> str:
    """Compute the sha256 of a line."""
    return hashlib.sha256(line.encode()).hexdigest()


def added(lines: Sequence[str], entry: Entry) -> list[str]:
    """Return the lines of a ledger with one more entry."""
    before = hash_of(lines[-1]) if lines else FIRST
    line = json.dumps({"before": before, "entry": entry.model_dump(mode="json")}, sort_keys=True, separators=(",", ":"))
    return [*lines, line]


def entries_of(lines: Sequence[str]) -> list[Entry]:
    """Read the entries of a ledger.

    Raises:
        ValueError: a line is not an entry, or does not follow the line before it.
    """
    before, entries = FIRST, []
    for place, line in enumerate(lines):
        read = json.loads(line)
        if not isinstance(read, dict) or set(read) != {"before", "entry"}:
            raise ValueError(f"line {place + 1} is not an entry")
        if read["before"] != before:
            raise ValueError(f"entry {place + 1} does not follow the one before it: something was edited, deleted or moved")
        entry = _ENTRY.validate_json(json.dumps(read["entry"]), strict=True)
        if isinstance(entry, OpenedEntry) != (place == 0):
            raise ValueError(f"entry {place + 1} is of the wrong kind")
        entries.append(entry)
        before = hash_of(line)
    return entries


def is_former(lines: Sequence[str]) -> bool:
    """Return True for the lines of an earlier version, which had no hashes."""
    first = json.loads(lines[0])
    return isinstance(first, dict) and "before" not in first


def taken_over(lines: Sequence[str], opened: OpenedEntry) -> list[str]:
    """Convert the lines of an earlier version to a ledger with hashes.

    Raises:
        ValueError: a line is not an entry.
    """
    chain = added([], opened)
    for line in lines:
        chain = added(chain, _FORMER.validate_json(line, strict=True))
    return chain


def head_of(lines: Sequence[str]) -> str:
    """Return the head of a ledger, which later proves that no entry up to it was changed."""
    return f"{len(lines)}:{hash_of(lines[-1])}" if lines else "none, because it has no entries"
