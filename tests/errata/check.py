"""Numeric checks of errata, and their register.

A check compares two readings of a formula, as printed and as derived, with references from another method: an integral, a search,
a simulation, or other printed numbers of the paper. The finding holds if all values of the derived reading agree with the
references, and at least one value of the printed reading does not.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from formalsynth.core.arrays import Array


class Interval(NamedTuple):
    """Closed interval from ``low`` to ``high``; a single number if they are equal."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.6g}"
        if self.low == -math.inf:
            return f"≤ {self.high:.6g}"
        return f"≥ {self.low:.6g}" if self.high == math.inf else f"{self.low:.6g} to {self.high:.6g}"


def near(value: float, error: float) -> Interval:
    """Interval of a number plus or minus an error."""
    return Interval(value - error, value + error)


def at_most(value: float) -> Interval:
    """Interval of the numbers up to an upper bound."""
    return Interval(-math.inf, value)


def simulated_mean(values: Array) -> Interval:
    """Interval of the expectation of independent values (R,): their mean plus or minus four standard errors."""
    return near(float(values.mean()), 4 * float(values.std(ddof=1)) / math.sqrt(len(values)))


def simulated_delta(losses: Array, epsilon: float) -> Interval:
    """Interval of the δ at ε, given simulated privacy losses (R,): the mean of ``(1 − exp(ε − loss))_+``."""
    return simulated_mean(-np.expm1(np.minimum(epsilon - losses, 0.0)))


class Row(NamedTuple):
    """Comparison of both readings with a reference; each value is a number or an interval."""

    quantity: str
    printed: Interval | float
    derived: Interval | float
    reference: Interval | float
    """Reference value with its error."""
    method: str
    """Method that gives the reference."""

    def agrees(self, value: Interval | float) -> bool:
        """Check whether a value overlaps with the reference; an infinite end meets only an infinite end."""
        low, high = _interval(value)
        reference = _interval(self.reference)
        return low <= reference.high and reference.low <= high


def _interval(value: Interval | float) -> Interval:
    return value if isinstance(value, Interval) else Interval(float(value), float(value))


def holds(rows: Sequence[Row]) -> bool:
    """Check whether the derived reading agrees everywhere and the printed reading does not."""
    return all(row.agrees(row.derived) for row in rows) and not all(row.agrees(row.printed) for row in rows)


@dataclass(frozen=True)
class Check:
    """Numeric check of one erratum."""

    title: str
    printed: str
    derived: str
    also: Sequence[str]
    """Numbers of other errata that were merged into this one."""
    notes: Callable[[], Sequence[str]]
    rows: Callable[[], Sequence[Row]]

    def lines(self, rows: Sequence[Row]) -> Iterator[str]:
        """Lines of the output: both readings as text, and the comparisons as a table."""
        yield from (self.title, f"  printed: {self.printed}", f"  derived: {self.derived}")
        cells = [("", "printed", "derived", "reference", "")]
        for row in rows:
            values = [f"{_interval(value)} {'✓' if row.agrees(value) else '✗'}" for value in (row.printed, row.derived)]
            cells.append((row.quantity, *values, str(_interval(row.reference)), row.method))
        first, *widths = [max(map(len, column)) for column in list(zip(*cells, strict=True))[:-1]]
        for quantity, *numbers, method in cells:
            columns = [number.rjust(width) for number, width in zip(numbers, widths, strict=True)]
            yield "  ".join(["", quantity.ljust(first), *columns, method]).rstrip()
        yield from self.notes()


CHECKS: dict[str, Check] = {}
"""Checks, keyed by the number of the erratum; :func:`find_checks` fills it."""


def numeric_check(
    name: str, *, printed: str, derived: str, also: Sequence[str] = (), notes: Callable[[], Sequence[str]] = tuple
) -> Callable[[Callable[[], Sequence[Row]]], Callable[[], Sequence[Row]]]:
    """Register a function that returns the comparisons; its docstring is the title of the check.

    Args:
        name: number of the erratum, as in ``config/errata.yaml``.
        printed: the formula of the paper.
        derived: the derived formula.
        also: numbers of other errata that were merged into this one.
        notes: function that returns more lines of the output.
    """

    def register(rows: Callable[[], Sequence[Row]]) -> Callable[[], Sequence[Row]]:
        CHECKS[name] = Check(rows.__doc__ or "", printed, derived, also, notes, rows)
        return rows

    return register


def find_checks() -> dict[str, Check]:
    """Import the checks of this folder, and return them."""
    for path in sorted(Path(__file__).parent.glob("e[0-9]*.py")):
        importlib.import_module(path.stem)
    return CHECKS
