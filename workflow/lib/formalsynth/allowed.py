"""What a setting may be, written beside the parameter that takes it, as in ``epsilon: Positive``.

Config can then be checked against the signatures of the functions that it names.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_type_hints


@dataclass(frozen=True)
class Allowed:
    """The mark of a parameter that takes some values of its type only."""

    what: str
    """In words."""
    holds: Callable[[Any], bool]


LARGEST = 1e9
"""Of whole numbers: more of anything fits into no computer."""

Finite = Annotated[float, Allowed("a number", math.isfinite)]
Positive = Annotated[float, Allowed("a number > 0", lambda value: 0 < value < math.inf)]
NotNegative = Annotated[float, Allowed("a number ≥ 0", lambda value: 0 <= value < math.inf)]
Share = Annotated[float, Allowed("a number ≥ 0, ≤ 1", lambda value: 0 <= value <= 1)]
Inside = Annotated[float, Allowed("a number > 0, < 1", lambda value: 0 < value < 1)]
Whole = Annotated[float, Allowed("a whole number ≥ 1", lambda value: 1 <= value <= LARGEST and value == int(value))]
Several = Annotated[float, Allowed("a whole number ≥ 2", lambda value: 2 <= value <= LARGEST and value == int(value))]
WholeOrZero = Annotated[float, Allowed("a whole number ≥ 0", lambda value: 0 <= value <= LARGEST and value == int(value))]

ASCENDING = (("a", "b"), ("wide_a", "wide_b"), ("low", "high"))
"""Ends of ranges: of two that are given, the first is below the second."""


def one_of(names: Collection[str]) -> Allowed:
    """One of some names."""
    return Allowed(f"one of {', '.join(names)}", lambda value: value in names)


@functools.cache
def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)


def refused(function: Callable[..., Any], given: Mapping[str, Any]) -> tuple[str, Any, str] | None:
    """The first setting that a function cannot use: its name, what is given, and what is allowed.

    Args:
        function: one whose keyword-only parameters are settings.
        given: settings by name, each a parameter of the function. Those that take no number and no text are left to the
            function.
    """
    for name, value in given.items():
        kind, *marks = get_args(_hints(function)[name]) or [_hints(function)[name]]
        marks = [mark for mark in marks if isinstance(mark, Allowed)]
        if kind is str and not isinstance(value, str):
            return name, value, "a text" if not marks else marks[0].what
        if kind in (float, int) and (isinstance(value, bool) or not isinstance(value, int | kind) or value != value):
            return name, value, marks[0].what if marks else {float: "a number", int: "a whole number"}[kind]
        for mark in marks:
            if not mark.holds(value):
                return name, value, mark.what
    for first, second in ASCENDING:
        if first in given and second in given and not given[first] < given[second]:
            return second, given[second], f"more than {first}, which is {given[first]:g}"
    return None
