"""How the ledger writes numbers, units and notes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array

NAMES = " | "
"""What stands between the names of cells; between their numbers it is a slash."""
UNITS = {"set": "synthetic data sets", "draw": "posterior draws"}
"""Names of units that are not the plural of their column."""


def joined(numbers: Array) -> str:
    """Numbers (k,) with four significant digits, but all before the point of numbers that are written out in print."""
    texts = ["" if np.isnan(x) else f"{x:.0f}" if 1e4 <= abs(x) < 1e7 else f"{x:.4g}" for x in np.atleast_1d(numbers)]
    return " / ".join(texts).strip(" /")


def named(names: Sequence[str], texts: Sequence[str]) -> str:
    """Each text behind the name of its cell; a single one needs no name."""
    if len(texts) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def unit_name(by: str) -> str:
    """What the units of a claim are called, from the column whose values they are."""
    return UNITS.get(by, f"{by}s")


def sentences(*parts: str) -> str:
    """The parts of a note that are not empty, in one line."""
    return "; ".join(part.rstrip(".") for part in parts if part)
