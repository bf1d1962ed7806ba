"""Text of a ledger row: every number with the name of its cell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.notes import NAMES

SEPARATOR = " / "
"""Separator between the numbers of a row."""
LISTED = re.compile(r"\[[^\]]*\]|[^,/\s]+")
"""Pattern of a number or an interval in a printed list."""
ORDERS = {"order", "gain"}
"""Kinds of test that compare each cell with the next."""


def ours(row: LedgerRow) -> str:
    """Write the numbers of the run, as in ``Weighted 3.91 ± 0.02 > LW 2.78 ± 0.01``; an error of 0 is left out."""
    numbers = _parts(row.estimate)
    errors = _parts(row.mcse) if len(_parts(row.mcse)) == len(numbers) else [""] * len(numbers)
    errors = ["" if error == "0" else error for error in errors]
    texts = [f"{number} ± {error}" if error else number for number, error in zip(numbers, errors, strict=True)]
    names = _names(row, len(numbers))
    cells = [_named(name, text) for name, text in zip(names, texts, strict=True)]
    if row.test not in ORDERS or len(cells) < 2:
        return "; ".join(cells)
    signs = [_sign(float(a), float(b), "≈" if any(errors) else "=") for a, b in itertools.pairwise(numbers)]
    return cells[0] + "".join(f" {sign} {cell}" for sign, cell in zip(signs, cells[1:], strict=True))


def printed(row: LedgerRow) -> str:
    """Write the printed numbers, each with the name of its cell if there is one number for each cell."""
    parts, names = LISTED.findall(row.printed), _names(row, 0)
    if len(parts) < 2 or len(parts) != len(names) or not all(re.search(r"\d", part) for part in parts):
        return row.printed
    return "; ".join(_named(name, part) for name, part in zip(names, parts, strict=True))


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


def _sign(first: float, second: float, same: str) -> str:
    return same if first == second else ">" if first > second else "<"
