"""Budget of a source: epsilon counts as spent before anything is drawn; and the command ``budget``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from formalsynth.core.text import DataError, is_short
from formalsynth_release.ledger import (
    BudgetEntry,
    ComparisonEntry,
    Entry,
    FileEntry,
    Ledger,
    OutcomeEntry,
    ReleaseEntry,
    check_study,
    ledger_key,
    opened,
    opening,
    other_ledgers,
    read_ledger,
    today,
)
from formalsynth_release.same_rows import Content, common, sketch_of
from formalsynth_release.schema import RELEASE, SCHEMA
from formalsynth_release.study import Declared

TINY = 1e-9


def spent(releases: Sequence[ReleaseEntry]) -> float:
    """Sum the epsilon of all entries, whatever their outcome."""
    return math.fsum(entry.epsilon for entry in releases)


def start(declared: Declared, epsilon: float, budget: float, content: Content) -> Ledger:
    """Add an entry for a release before anything is drawn for it, and return the ledger without that entry.

    Raises:
        DataError: the release would exceed the budget, the budget is not the recorded one, or the people of the file may be those
            of another source.
    """
    source, folder = declared.schema.source, declared.folder
    with opened(source, folder) as ledger:
        _check_budget(ledger, folder, epsilon, budget)
        sketch = sketch_of(content, key := ledger_key())
        found = [
            f"CONFIDENTIAL: {declared.csv}: may be of the same people as a file of the source {other.source}: {shared}"
            for other in ([] if declared.schema.other_people else other_ledgers(source))
            if (shared := next(filter(None, (common(content, sketch, entry.sketch) for entry in other.of(FileEntry))), ""))
        ]
        if found:
            known = "If it is known without the files that these are other people, declare other_people: true"
            same = f"{folder / SCHEMA}: source: declare the same source for all files of the same people. {known}"
            raise DataError("\n".join([*found, same]))
        new: list[Entry] = [] if ledger.entries else [opening(ledger, key)]
        if sketch not in [entry.sketch for entry in ledger.of(FileEntry)]:
            new.append(FileEntry(date=today(), sketch=sketch))
        if not ledger.budgets:
            new.append(BudgetEntry(date=today(), budget=budget))
        entry = ReleaseEntry(date=today(), study=declared.name, neighbours=declared.schema.neighbours, epsilon=epsilon)
        ledger.add(*new, entry)
        return Ledger(source, ledger.lines[:-1], ledger.entries[:-1])


def _check_budget(ledger: Ledger, folder: Path, epsilon: float, budget: float) -> None:
    """Check that a release is within the budget of its source.

    Raises:
        DataError: it is not, or the budget differs from the recorded one.
    """
    if ledger.budgets and budget != ledger.budgets[-1]:
        change = f"To change it, which later releases state: formalsynth budget {folder} --change {budget:g} --reason TEXT"
        allowed = f"{ledger.budgets[-1]:g}, as the ledger of the source {ledger.source} records. {change}"
        raise DataError(f"{folder / RELEASE}: budget: given {budget:g}; allowed: {allowed}")
    before = spent(ledger.of(ReleaseEntry))
    if before + epsilon > budget + TINY:
        spent_before = f"{before:g} of the budget of {budget:g} for all releases from the source {ledger.source} is already spent"
        lower = "lower the ceiling, or publish no more from it"
        raise DataError(f"{folder / RELEASE}: ceiling: given {epsilon:g}; {spent_before}: {lower}")


def record(declared: Declared, kind: type[Entry], **fields: object) -> None:
    """Add an entry of today: for the crossing or the end of a release, or for a comparison.

    Raises:
        DataError: the ledger is missing or damaged.
    """
    with opened(declared.schema.source, declared.folder) as ledger:
        new = [] if ledger.entries else [opening(ledger, ledger_key())]
        ledger.add(*new, kind.model_validate({"date": today(), **fields}))


def finish(declared: Declared, place: int, outcome: str) -> None:
    """Add an entry for the outcome of a release; its epsilon stays spent."""
    record(declared, OutcomeEntry, release=place, outcome=outcome)


def change_budget(declared: Declared, budget: float, reason: str) -> None:
    """Add an entry for a changed budget.

    Raises:
        DataError: the budget is not valid, none was declared before, or it is the current one.
    """
    if not 0 < budget < math.inf or not is_short(budget):
        raise DataError(f"--change: given {budget!r}; allowed: a number above 0 with at most 6 significant digits")
    with opened(declared.schema.source, declared.folder) as ledger:
        if not ledger.budgets or ledger.budgets[-1] == budget:
            why = f"it is already {budget:g}" if ledger.budgets else "the ledger has none until the first release"
            raise DataError(f"{ledger.path}: the budget cannot be changed to {budget:g}: {why}")
        ledger.add(BudgetEntry(date=today(), budget=budget, reason=reason[:1000]))


def spent_note(declared: Declared, releases: int) -> str:
    """State the epsilon spent by all releases of the source after the first ``releases`` ones."""
    try:
        ledger = read_ledger(declared.schema.source)
    except DataError as error:
        return f"Whether epsilon is spent is not known: {error}"
    entries = ledger.of(ReleaseEntry)
    if entries[releases:]:
        return f"An epsilon of {spent(entries[releases:]):g} counts as spent: see formalsynth budget {declared.folder}."
    begun = [entry for k, entry in enumerate(entries) if ledger.crossing(k) and ledger.outcome(k) == "started"]
    if ours := [entry for entry in begun if entry.study == declared.name]:
        return f"No more epsilon is spent than the {spent(ours):g} of the unfinished release."
    return "No epsilon is spent."


def budget(declared: Declared, head: str | None = None) -> list[str]:
    """List the entries of the ledger of a study's source.

    Args:
        declared: the study.
        head: head that someone has kept, with which the ledger is compared.

    Raises:
        DataError: the ledger is damaged, or does not begin with the entries that a head covers.
    """
    ledger = read_ledger(declared.schema.source)
    check_study(ledger, declared.folder)
    of = f" of {ledger.budgets[-1]:g}" if ledger.budgets else ""
    lines = [line for entry in ledger.entries if (line := _row(ledger, entry))]
    lines.append(f"Spent by all releases from the source {ledger.source}: {spent(ledger.of(ReleaseEntry)):g}{of}.")
    if len({entry.neighbours for entry in ledger.of(ReleaseEntry)}) > 1:
        lines.append("For a replaced row, an epsilon for add_remove counts twice.")
    if head is not None:
        number = ledger.check_head(head, "--head")
        lines.append(f"The head matches: no entry up to {number} has changed. Later entries: {len(ledger.lines) - number}.")
    return [*lines, head_line(declared)]


def head_line(declared: Declared) -> str:
    """Write a line with the head of the ledger, for someone else to keep."""
    head, later = read_ledger(declared.schema.source).head, f"formalsynth budget {declared.folder} --head HEAD"
    return f"Head of the ledger: {head}. Ask the disclosure officer to keep this line: {later} finds later changes of the ledger."


def _row(ledger: Ledger, entry: Entry) -> str:
    """Format an entry for people; those that only belong to a release are empty."""
    if isinstance(entry, BudgetEntry):
        return f"{entry.date}  budget {entry.budget:g}: {entry.reason or 'declared'}"
    if isinstance(entry, ComparisonEntry):
        return f"{entry.date}  {entry.study}: a release was compared with the file, which no epsilon covers"
    if isinstance(entry, ReleaseEntry):
        place = next(k for k, release in enumerate(ledger.of(ReleaseEntry)) if release is entry)
        unpublished = "not published: release finishes it" if ledger.crossing(place) else "its crossing is not recorded"
        state = {"started": f"started, {unpublished}"}.get(ledger.outcome(place), ledger.outcome(place))
        return f"{entry.date}  {entry.study}: epsilon at most {entry.epsilon:g} ({entry.neighbours}), {state}"
    return ""
