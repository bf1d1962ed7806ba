"""How the ledger writes numbers, units and notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.words import counted

NAMES = " | "
"""What stands between the names of cells; between their numbers it is a slash."""
UNITS = {"set": "synthetic data sets", "draw": "posterior draws"}
"""Names of units that are not the plural of their column."""


def joined(numbers: Array) -> str:
    """Numbers (k,) with four significant digits, but all before the point of numbers that are written out in print."""
    texts = ["" if np.isnan(x) else f"{x:.0f}" if 1e4 <= abs(x) < 1e7 else f"{x:.4g}" for x in np.atleast_1d(numbers)]
    return " / ".join(texts).strip(" /")


def rounded(numbers: Array, errors: Array) -> tuple[str, str]:
    """Numbers (k,) and their errors in two digits, with as many decimals; a number without an error as in :func:`joined`."""
    pairs = [_rounded(number, error) for number, error in zip(numbers, errors, strict=True)]
    return " / ".join(number for number, _ in pairs).strip(" /"), " / ".join(error for _, error in pairs).strip(" /")


def _rounded(number: float, error: float) -> tuple[str, str]:
    """A number and its error."""
    if not (np.isfinite(error) and error > 0):
        return joined(np.array([number])), joined(np.array([error]))
    digits = 1 - int(np.floor(np.log10(float(f"{error:.1e}"))))
    return f"{round(number, digits):.{max(digits, 0)}f}", f"{round(error, digits):.{max(digits, 0)}f}"


def named(names: Sequence[str], texts: Sequence[str]) -> str:
    """Each text behind the name of its cell; a single one needs no name."""
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def unit_name(by: str) -> str:
    """What the units of a claim are called, from the column whose values they are."""
    return UNITS.get(by, f"{by}s")


def without(lost: Sequence[int]) -> str:
    """The replicates that lack a finite result, in words; empty for none."""
    numbers = f" ({', '.join(map(str, lost))})" if len(lost) <= 5 else ""
    return f"without {counted(len(lost), 'replicate')} that lack a finite result{numbers}" if lost else ""


def sentences(*parts: str) -> str:
    """The parts of a note that are not empty, in one line."""
    return "; ".join(part.rstrip(".") for part in parts if part)
