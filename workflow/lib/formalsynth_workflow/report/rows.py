"""Text of a ledger row: every number with the name of its cell, and what the claim needs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.notes import NAMES
from formalsynth_workflow.report.formats import ROUNDING, for_people, number

SEPARATOR = " / "
"""Separator between the numbers of a row."""
LISTED = re.compile(r"\[[^\]]*\]|[^,/\s]+")
"""Pattern of a number or an interval in a printed list."""


def ours(row: LedgerRow) -> str:
    """Write the numbers of the run, as in ``Spread: LW 1.44 (0.14), LW final 1.12 (0.11)``."""
    numbers = _parts(row.estimate)
    errors = _parts(row.mcse) if len(_parts(row.mcse)) == len(numbers) else [""] * len(numbers)
    cells = [_named(*cell) for cell in zip(_names(row, len(numbers)), map(_measured, numbers, errors), strict=True)]
    subject = ", ".join(part for part in (row.quantity, row.statistic) if part)
    listed = ("; " if any(", " in cell for cell in cells) else ", ").join(cells)
    return f"{subject[:1].upper()}{subject[1:]}: {listed}" if subject and listed else listed


def needed(row: LedgerRow) -> str:
    """Write what the claim needs, as in ``the claim needs LW above LW final``; empty if the run has no numbers."""
    return f"the claim needs {row.needs}" if row.needs and row.estimate else ""


def printed(row: LedgerRow) -> str:
    """Write the printed numbers, each with the name of its cell if there is one number for each cell."""
    parts, names = LISTED.findall(row.printed), _names(row, 0)
    if len(parts) < 2 or len(parts) != len(names) or not all(re.search(r"\d", part) for part in parts):
        return row.printed
    return "; ".join(_named(name, for_people(part)) for name, part in zip(names, parts, strict=True))


def _measured(text: str, error: str) -> str:
    """Write a number and its error; an error of 0, or as small as that of floating-point arithmetic, is left out."""
    if error in ("", "0"):
        return for_people(text)
    if float(error) <= ROUNDING * abs(float(text)):
        return number(float(text))
    return f"{for_people(text)} ({for_people(error)})"


def _named(name: str, text: str) -> str:
    """Write a name and its number, with a colon if the name itself ends in a digit."""
    return f"{name}{':' * name[-1:].isdigit()} {text}".strip()


def _parts(text: str | None) -> list[str]:
    return text.split(SEPARATOR) if text else []


def _names(row: LedgerRow, count: int) -> Sequence[str]:
    """Names of a row's cells; numbers in parentheses for an older ledger, which has no names."""
    names = row.cells.split(NAMES) if row.cells else []
    if count in (0, len(names)):
        return names
    return [""] if count == 1 else [f"({k})" for k in range(1, count + 1)]
