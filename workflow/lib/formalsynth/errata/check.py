"""What a check of an erratum is, and the register of them.

A check has two readings of one formula, the printed one and the derived one, and a function that compares any reading with
numbers found in another way: an integral, a search, a simulation, or what the paper itself prints beside it. The finding holds
where everything that the derived reading says agrees with what is found, and something that the printed one says does not.
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
    """Numbers from ``low`` to ``high``, ends included; a single number where they are equal."""

    low: float
    high: float

    def meets(self, other: Interval) -> bool:
        """Whether some number is in both; an infinite end meets only an infinite end."""
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
    """A number."""
    return Interval(value, value)


def near(value: float, error: float) -> Interval:
    """A number that may be off by so much."""
    return Interval(value - error, value + error)


def at_most(value: float) -> Interval:
    """A bound from above."""
    return Interval(-math.inf, value)


def simulated_mean(values: Array) -> Interval:
    """The expectation of independent values (R,): their mean, give or take four standard errors."""
    return near(float(values.mean()), 4 * float(values.std(ddof=1)) / math.sqrt(len(values)))


@dataclass(frozen=True)
class Comparison:
    """One thing that a formula says, and what is found."""

    what: str
    says: Interval
    """By the formula: a number, or a bound."""
    found: Interval
    """In another way, with its error."""
    how: str
    """In which way."""

    @property
    def agrees(self) -> bool:
        """Whether both can be true."""
        return self.says.meets(self.found)


@dataclass(frozen=True)
class Reading(Generic[Formula]):
    """A formula as text and as a function."""

    text: str
    formula: Formula


@dataclass(frozen=True)
class NumericCheck(Generic[Formula]):
    """The check of one erratum."""

    name: str
    """Number of the erratum."""
    also: Sequence[str]
    """Numbers that it had before it was merged."""
    title: str
    printed: Reading[Formula]
    derived: Reading[Formula]
    compare: Callable[[Formula], Sequence[Comparison]]
    table: Callable[[], Sequence[str]] | None = None
    """Lines of a table that is printed below the comparisons."""

    def run(self) -> Evidence:
        """Both readings compared."""
        return Evidence(self.compare(self.printed.formula), self.compare(self.derived.formula))


@dataclass(frozen=True)
class Evidence:
    """What a check has found: the same comparisons for both readings."""

    printed: Sequence[Comparison]
    derived: Sequence[Comparison]

    @property
    def holds(self) -> bool:
        """Whether the derived reading agrees throughout and the printed one does not."""
        return all(each.agrees for each in self.derived) and not all(each.agrees for each in self.printed)


CHECKS: Registry[NumericCheck[Any]] = Registry("numeric check of an erratum", "errata/checks/*.py")
"""By the number of the erratum."""


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
        derived: the one that follows instead.
        also: numbers that the erratum had before it was merged.
        table: more that is printed.
    """

    def register(compare: Callable[[Formula], Sequence[Comparison]]) -> Callable[[Formula], Sequence[Comparison]]:
        title = (compare.__doc__ or "").strip().splitlines()[0]
        CHECKS.add(name, NumericCheck(name, also, title, printed, derived, compare, table), compare.__module__)
        return compare

    return register
