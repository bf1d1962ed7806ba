"""Format of numbers, units and notes in the ledger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.words import counted

NAMES = " | "
"""Separator between the names of cells; the numbers of cells are separated by slashes."""
UNITS = {
    "set": "synthetic data sets",
    "draw": "posterior draws",
    "n_syn": "values of n_syn",
    "epsilon": "values of epsilon",
}
"""Plural names of units, keyed by column, if different from the column name plus an s."""


def joined(numbers: Array) -> str:
    """Write numbers (k,) with four significant digits; from 10,000 to 10 million as integers."""
    texts = ["" if np.isnan(x) else f"{x:.0f}" if 1e4 <= abs(x) < 1e7 else f"{x:.4g}" for x in np.atleast_1d(numbers)]
    return " / ".join(texts).strip(" /")


def rounded(numbers: Array, errors: Array) -> tuple[str, str]:
    """Write numbers (k,) and their errors, rounded to two digits of the error; numbers without an error as in :func:`joined`."""
    pairs = [_rounded(number, error) for number, error in zip(numbers, errors, strict=True)]
    return " / ".join(number for number, _ in pairs).strip(" /"), " / ".join(error for _, error in pairs).strip(" /")


def _rounded(number: float, error: float) -> tuple[str, str]:
    """Round a number and its error to two digits of the error."""
    if not (np.isfinite(error) and error > 0):
        return joined(np.array([number])), joined(np.array([error]))
    digits = 1 - int(np.floor(np.log10(float(f"{error:.1e}"))))
    return f"{round(number, digits):.{max(digits, 0)}f}", f"{round(error, digits):.{max(digits, 0)}f}"


def percent(share: float) -> str:
    """Write a share as a percentage with two significant digits, without an exponent."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def named(names: Sequence[str], texts: Sequence[str]) -> str:
    """Join texts, each after the name of its cell; a single text gets no name."""
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def unit_name(by: str) -> str:
    """Plural name of a claim's units, given their column."""
    return UNITS.get(by, f"{by}s")


def without(lost: Sequence[int]) -> str:
    """Note on the replicates that are left out because they have no finite result; empty if there are none."""
    numbers = f" ({', '.join(map(str, lost))})" if len(lost) <= 5 else ""
    return f"leaving out {counted(len(lost), 'replicate')} without a finite result{numbers}" if lost else ""


def share_of(share: float, units: str) -> str:
    """Share of units for a note: none, all, or a whole percentage that is never rounded to 0 or 100."""
    if share in (0, 1):
        return f"{'all' if share else 'none'} of the {units}"
    return f"{100 * round(min(max(share, 0.01), 0.99), 2):.0f} % of the {units}"


def sentences(*parts: str) -> str:
    """Join the nonempty parts of a note with semicolons."""
    return "; ".join(part.rstrip(".") for part in parts if part)
