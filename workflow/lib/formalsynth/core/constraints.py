"""Types of numbers in config, written as annotations of parameters: ``epsilon: PositiveNumber``.

Numbers keep their type: an integer is not converted to a float on its way to a table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, WrapValidator

LARGEST = 10**9
"""Largest whole number that config accepts."""


@dataclass(frozen=True)
class Allowed:
    """Allowed values of an array, in words and as a test."""

    what: str
    holds: Callable[[Any], bool]


def _as_given(value: Any, validate: Callable[[Any], Any]) -> Any:
    number = validate(value)
    return value if type(value) is int else number


def _whole(value: float) -> float:
    # pydantic accepts a number that is within rounding of a multiple.
    if value != int(value):
        raise ValueError("Input should be a whole number")
    return value


AsGiven = WrapValidator(_as_given)
"""Validator that keeps an integer an integer where any number is allowed."""
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), AsGiven]
PositiveNumber = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False), AsGiven]
NonNegative = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False), AsGiven]
Proportion = Annotated[float, Field(strict=True, ge=0, le=1), AsGiven]
PositiveProportion = Annotated[float, Field(strict=True, gt=0, le=1), AsGiven]
OpenProportion = Annotated[float, Field(strict=True, gt=0, lt=1), AsGiven]
Count = Annotated[float, Field(strict=True, ge=1, le=LARGEST, multiple_of=1), AfterValidator(_whole), AsGiven]
"""Integer of at least 1; a sweep may write it as 10.0."""
CountOfTwo = Annotated[float, Field(strict=True, ge=2, le=LARGEST, multiple_of=1), AfterValidator(_whole), AsGiven]
ZeroOrOne = Annotated[float, Field(strict=True, ge=0, le=1, multiple_of=1), AfterValidator(_whole), AsGiven]
"""Switch: 1 is on."""
CountOrZero = Annotated[float, Field(strict=True, ge=0, le=LARGEST, multiple_of=1), AfterValidator(_whole), AsGiven]
