"""Common types of the estimators of tables, and their register. The fields of each kind are in ``displays/tables``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from formalsynth.core.registry import Registry
from formalsynth.displays.table import Table

if TYPE_CHECKING:
    import pandas as pd

Collected: TypeAlias = "Mapping[str, pd.DataFrame]"
"""Collected tables that a table reads, by name."""


class Estimate(NamedTuple):
    """One number of a table."""

    value: float
    mcse: float
    """Monte Carlo standard error; NaN if there is none."""
    number: int
    """Number of values that it summarizes."""


Estimator: TypeAlias = "Callable[[Any, Collected, str, str], Estimate]"
"""Function that computes a number of a table from its fields, its collected tables, a statistic and a synthesizer."""
ESTIMATORS: Registry[Estimator] = Registry("estimator", "show/tables/*.py")
"""Estimators by kind of table."""


estimator = ESTIMATORS.register
"""Decorator that registers the function that computes the numbers of a kind of table."""


def estimate(entry: Table, collected: Collected, statistic: str, id: str) -> Estimate:
    """Estimate the number for one row and synthesizer; the estimator of the kind of table must be registered.

    Args:
        entry: the fields of the table.
        collected: the collected tables that it reads, by name.
        statistic: name of the row.
        id: the synthesizer.
    """
    return ESTIMATORS[entry.kind](entry, collected, statistic, id)
