"""Contract of a utility statistic: it returns a finite number for each data set and leaves the data set unchanged."""

from __future__ import annotations

import math

from formalsynth.core.arrays import Array, read_only
from formalsynth.core.utility import OwnUtility


def broken_utility(own: OwnUtility, x: Array) -> list[str]:
    """Check a statistic on one data set and on parts of it.

    Args:
        own: the statistic.
        x: (n,) values.

    Returns:
        A sentence for each fault; empty if there are none.
    """
    samples = {"the data": x, "their first half": x[: (len(x) + 1) // 2], "values that are all equal": x[:1].repeat(len(x))}
    return list(dict.fromkeys(filter(None, (_fault(own, values.copy(), name) for name, values in samples.items()))))


def _fault(own: OwnUtility, x: Array, name: str) -> str:
    """Fault on one data set; empty if there is none."""
    try:
        values = [own.statistic(read_only(x)) for _ in range(2)]
        numbers = [float(value) for value in values]
    except Exception as error:
        if "read-only" in str(error):
            return f"writes into the data set that is passed to it ({error}): work on a copy"
        return f"fails on {name}: {type(error).__name__}: {error}"
    if not math.isfinite(numbers[0]):
        return f"returns {numbers[0]} for {name}: the result must be a finite number"
    if numbers[0] != numbers[1]:
        return "returns different numbers for the same data set: it must not use random numbers"
    return ""
