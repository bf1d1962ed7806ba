"""Columns of CmdStan: elements of variables, named ``name.i.j``, first index fastest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from formalsynth.core.arrays import Array


def variable_of(column: str) -> str:
    """Variable to which a column belongs."""
    return column.partition(".")[0]


def last_elements(columns: Sequence[str]) -> list[str]:
    """Last element of each variable, which contains the variable's sizes."""
    return [list(elements)[-1] for _, elements in itertools.groupby(columns, variable_of)]


def size_of(last: str) -> int:
    """Count the elements of a variable, given its last element."""
    return math.prod(_shape(last))


def by_variable(last: Sequence[str], values: Array) -> dict[str, Array]:
    """Split values by variable, with the draws along their first axis.

    Args:
        last: last element of each variable.
        values: (S, columns) values.
    """
    ends = np.cumsum([0, *map(size_of, last)])
    return {
        variable_of(name): np.array(values[:, start:end].reshape(len(values), *_shape(name), order="F"), order="C")
        for name, (start, end) in zip(last, itertools.pairwise(ends), strict=True)
    }


def _shape(last: str) -> list[int]:
    return [int(index) for index in last.split(".")[1:]]
