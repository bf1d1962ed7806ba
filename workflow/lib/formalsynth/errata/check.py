"""Numeric checks of errata, and their register.

A check contains two readings of a formula, as printed and as derived, and a function that compares a reading with reference
values from another method: an integral, a search, a simulation, or other printed numbers of the paper. The finding holds if all
values of the derived reading agree with the references, and at least one value of the printed reading does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from formalsynth.core.arrays import Array
from formalsynth.core.registry import Registry

Formula = TypeVar("Formula")


@dataclass(frozen=True)
class Interval:
    """Closed interval from ``low`` to ``high``; a single number if they are equal."""

    low: float
    high: float

    def meets(self, other: Interval) -> bool:
        """Check whether the intervals overlap; an infinite end meets only an infinite end."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.low:.6g}"
        if self.low == -math.inf:
            return f"≤ {self.high:.6g}"
        if self.high == math.inf:
            return f"≥ {self.low:.6g}"
        return f"{self.low:.6g} to {self.high:.6g}"


def exactly(value: float) -> Interval:
    """Interval that contains a single number."""
    return Interval(value, value)


def near(value: float, error: float) -> Interval:
    """Interval of a number plus or minus an error."""
    return Interval(value - error, value + error)


def at_most(value: float) -> Interval:
    """Interval of the numbers up to an upper bound."""
    return Interval(-math.inf, value)


def simulated_mean(values: Array) -> Interval:
    """Interval of the expectation of independent values (R,): their mean plus or minus four standard errors."""
    return near(float(values.mean()), 4 * float(values.std(ddof=1)) / math.sqrt(len(values)))


@dataclass(frozen=True)
class Comparison:
    """Comparison of a formula's value with a reference."""

    quantity: str
    value: Interval
    """Value from the formula: a number, or a bound."""
    reference: Interval
    """Reference value from another method, with its error."""
    method: str
    """Method that gives the reference."""

    @property
    def agrees(self) -> bool:
        """True if the value and the reference are compatible."""
        return self.value.meets(self.reference)


@dataclass(frozen=True)
class Reading(Generic[Formula]):
    """Reading of a formula, as text and as a function."""

    text: str
    formula: Formula


@dataclass(frozen=True)
class NumericCheck(Generic[Formula]):
    """Numeric check of one erratum."""

    name: str
    """Number of the erratum."""
    also: Sequence[str]
    """Numbers of other errata that were merged into this one."""
    title: str
    printed: Reading[Formula]
    derived: Reading[Formula]
    compare: Callable[[Formula], Sequence[Comparison]]
    table: Callable[[], Sequence[str]] | None = None
    """Function that returns the lines of a table below the comparisons."""

    def run(self) -> Evidence:
        """Compare both readings with the references."""
        return Evidence(self.compare(self.printed.formula), self.compare(self.derived.formula))


@dataclass(frozen=True)
class Evidence:
    """Result of a check: the same comparisons for each reading."""

    printed: Sequence[Comparison]
    derived: Sequence[Comparison]

    @property
    def holds(self) -> bool:
        """True if the derived reading agrees everywhere and the printed reading does not."""
        derived = all(comparison.agrees for comparison in self.derived)
        return derived and not all(comparison.agrees for comparison in self.printed)


CHECKS: Registry[NumericCheck[Any]] = Registry("numeric check of an erratum", "errata/checks/*.py")
"""Checks, keyed by the number of the erratum."""


def numeric_check(
    name: str,
    *,
    printed: Reading[Formula],
    derived: Reading[Formula],
    also: Sequence[str] = (),
    table: Callable[[], Sequence[str]] | None = None,
) -> Callable[[Callable[[Formula], Sequence[Comparison]]], Callable[[Formula], Sequence[Comparison]]]:
    """Register a function that compares a reading; the first line of its docstring is the title of the check.

    Args:
        name: number of the erratum, as in ``config/errata.yaml``.
        printed: the formula of the paper.
        derived: the derived formula.
        also: numbers of other errata that were merged into this one.
        table: function that returns the lines of an additional table.
    """

    def register(compare: Callable[[Formula], Sequence[Comparison]]) -> Callable[[Formula], Sequence[Comparison]]:
        title = (compare.__doc__ or "").strip().splitlines()[0]
        CHECKS.add(name, NumericCheck(name, also, title, printed, derived, compare, table), compare.__module__)
        return compare

    return register
