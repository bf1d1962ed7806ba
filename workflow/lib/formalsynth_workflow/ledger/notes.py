"""Format of numbers, units, quantities and notes in the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth.core.rows import SHAPE_COLUMNS
from formalsynth.core.words import METRICS, counted

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Estimate

NAMES = " | "
"""Separator between the names of cells; the numbers of cells are separated by slashes."""
UNITS = {
    "set": "synthetic data sets",
    "draw": "posterior draws",
    "n_syn": "values of n_syn",
    "epsilon": "values of epsilon",
}
"""Plural names of units, keyed by column, if different from the column name plus an s."""

STATISTIC_WORDS = {
    "sd": "spread",
    "spread": "range",
    "iqr": "interquartile range",
    "q1": "lower quartile",
    "q3": "upper quartile",
    "min": "smallest value",
    "max": "largest value",
}
"""Words for statistics whose names are not words."""


def quantity(estimate: Estimate) -> str:
    """Name of the column that a claim is about; empty if it has no name in words."""
    column = estimate.value[0]
    if column in SHAPE_COLUMNS:
        shape = column.removeprefix("bound_")
        return f"{STATISTIC_WORDS.get(shape, shape)} of the by-record bounds as shares of Δ"
    base = column.removesuffix("_centre")
    words = METRICS.get(f"{estimate.table}.{base}", METRICS.get(base))
    if words is None or estimate.over == "value":
        return ""
    if base != column:
        return f"{words.name} of several synthetic data sets"
    return f"{words.name} of a data set" if words.name in ("Mean", "Median") else words.name


def statistic(estimate: Estimate, units: int) -> str:
    """Statistic that a claim compares, in words; without the name of the statistic for a single unit."""
    name = STATISTIC_WORDS.get(estimate.statistic, estimate.statistic) if units > 1 else ""
    if estimate.above is not None:
        return f"share above {estimate.above:,.6g}"
    if estimate.distance is not None:
        other = {DATA: "the data", "population": "the population"}.get(str(estimate.distance), str(estimate.distance))
        return f"{name} distance to {other}".strip()
    return f"{name} share of the largest value".strip() if estimate.of_largest else name


def listed(names: Sequence[str], word: str) -> str:
    """Join names by a word such as ``above``; names of numbers and of differences, and more than three, are not repeated."""
    if any("=" in name or " less " in name for name in names) or len(names) > 3:
        return f"each {word} the next" if len(names) > 2 else f"the first {word} the second"
    return f" {word} ".join(names)


def at_least(share: float | None, units: str) -> str:
    """Words for a required share of the units, as in ``, in at least 90 % of the replicates``; empty for None."""
    return f", in {'at least ' if share < 1 else ''}{share_of(share, units)}" if share is not None else ""


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
    """Join texts, each after the name of its cell; a single text, or one that is the same for all, gets no name."""
    if len(set(texts)) == 1:
        return texts[0]
    return "; ".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))


def unit_name(by: str) -> str:
    """Plural name of a claim's units, given their column."""
    return UNITS.get(by, f"{by}s")


def without(lost: Sequence[int]) -> str:
    """Note on the replicates that are left out because they have no finite result; empty if there are none."""
    numbers = f" ({', '.join(map(str, lost))})" if len(lost) <= 5 else ""
    return f"{counted(len(lost), 'replicate')} without a finite result left out{numbers}" if lost else ""


def share_of(share: float, units: str) -> str:
    """Share of units for a note: none, all, or a whole percentage that is never rounded to 0 or 100."""
    if share in (0, 1):
        return f"{'all' if share else 'none of the'} {units}"
    return f"{100 * round(min(max(share, 0.01), 0.99), 2):.0f} % of the {units}"


def sentences(*parts: str) -> str:
    """Write the nonempty parts of a note as sentences."""
    return " ".join(f"{part[:1].upper() if part[1:2].islower() else part[:1]}{part[1:].rstrip('.')}." for part in parts if part)
