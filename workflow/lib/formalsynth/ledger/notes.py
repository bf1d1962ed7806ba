"""Format of numbers, units and notes in the ledger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.words import counted

NAMES = " | "
"""Separator of the names of cells; their numbers are separated by a slash."""
UNITS = {
    "set": "synthetic data sets",
    "draw": "posterior draws",
    "n_syn": "values of n_syn",
    "epsilon": "values of epsilon",
}
"""Names of units that are not the plural of their column."""


def joined(numbers: Array) -> str:
    """Numbers (k,) with four significant digits; numbers from 10,000 to 10 million without exponent."""
    texts = ["" if np.isnan(x) else f"{x:.0f}" if 1e4 <= abs(x) < 1e7 else f"{x:.4g}" for x in np.atleast_1d(numbers)]
    return " / ".join(texts).strip(" /")


def rounded(numbers: Array, errors: Array) -> tuple[str, str]:
    """Numbers (k,) with their errors in two digits, both with equal decimals; without an error as in :func:`joined`."""
    pairs = [_rounded(number, error) for number, error in zip(numbers, errors, strict=True)]
    return " / ".join(number for number, _ in pairs).strip(" /"), " / ".join(error for _, error in pairs).strip(" /")


def _rounded(number: float, error: float) -> tuple[str, str]:
    """Round a number and its error to two digits of the error."""
    if not (np.isfinite(error) and error > 0):
        return joined(np.array([number])), joined(np.array([error]))
    digits = 1 - int(np.floor(np.log10(float(f"{error:.1e}"))))
    return f"{round(number, digits):.{max(digits, 0)}f}", f"{round(error, digits):.{max(digits, 0)}f}"


def percent(share: float) -> str:
    """Percentage with two significant digits, without exponent."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def named(names: Sequence[str], texts: Sequence[str]) -> str:
    """Texts with the names of their cells; a single text needs no name."""
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def unit_name(by: str) -> str:
    """Plural name of the units of a claim, from their column."""
    return UNITS.get(by, f"{by}s")


def without(lost: Sequence[int]) -> str:
    """Note on the replicates without a finite result; empty for none."""
    numbers = f" ({', '.join(map(str, lost))})" if len(lost) <= 5 else ""
    return f"without {counted(len(lost), 'replicate')} that lack a finite result{numbers}" if lost else ""


def share_of(share: float, units: str) -> str:
    """Share of units for a note: none, all, or two decimals without rounding to 0 or 1."""
    if share in (0, 1):
        return f"{'all' if share else 'none'} of the {units}"
    return f"{min(max(share, 0.01), 0.99):.2f} of the {units}"


def sentences(*parts: str) -> str:
    """Note of one line, from its nonempty parts."""
    return "; ".join(part.rstrip(".") for part in parts if part)
