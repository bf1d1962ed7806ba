"""Kinds of tables: the fields that all share, the estimate that each makes, and their register.

A kind is one file in ``show/tables``: a class with the keys that config may set, and the method :meth:`Table.estimate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth.core.kinds import ByKind
from formalsynth.core.model import Model, Number, WholeNumber
from formalsynth.core.registry import Registry
from formalsynth.core.statistics import STATISTICS, standard_error
from formalsynth.core.words import metric
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.show.display import Display
from formalsynth_workflow.show.types import DataFrame

Collected: TypeAlias = "Mapping[str, DataFrame]"
"""Collected tables that a table reads, by name."""


class Entry(NamedTuple):
    """One number of a table."""

    value: float
    mcse: float
    """Monte Carlo standard error; NaN if there is none."""
    number: int
    """Number of values that it summarizes."""


class Table(Model):
    """Fields of one table, with printed values next to ours. Each kind adds the keys that only it uses, and :meth:`estimate`."""

    table: ClassVar[Literal["sets", "replicates", "audit"]] = "replicates"
    """Collected table with the values that the estimates summarize."""
    OVER_SIZES: ClassVar[bool] = False
    """True if each number needs several sample sizes."""

    kind: str = Field(description="Kind of the numbers.")
    scenario: str = Field(description="Scenario whose results it shows.")
    size: WholeNumber | None = Field(None, description="Only this sample size of the scenario, before the scale shrinks it.")
    statistics: list[str] = Field(description="Rows.")
    synthesizers: list[str | list[str]] = Field(description="Columns.")
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers that have these values, or lack these parameters."
    )
    subject: str = Field(description="Subject of the table in its caption.")
    printed: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="Printed values by synthesizer id and statistic."
    )
    note: str = Field("", description="Sentence that ends the caption.")
    details: str = Field("", description="Sentences on how the values were made, after the caption.")

    def tables(self) -> list[str]:
        """Names of all collected tables that it reads."""
        return [self.table]

    @property
    def summarized(self) -> str:
        """Column that every row summarizes, from the field ``value``; empty if each row is a column."""
        return getattr(self, "value", "")

    def shown_columns(self) -> list[str]:
        """Names that the shown quantities have in :data:`formalsynth.core.words.METRICS`."""
        return list(dict.fromkeys(self.statistics))

    def printed_columns(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Intervals of printed values, by synthesizer and column of the collected table; a single number is both ends."""
        return {id: {row: (value, value) for row, value in rows.items()} for id, rows in self.printed.items()}

    @classmethod
    def heading(cls, statistic: str) -> str:
        """Name of a row in plain words."""
        return metric(statistic).name

    def rows_allowed(self) -> tuple[str, ...] | None:
        """Names allowed in ``statistics``; None for any numeric column of the collected table."""
        return None

    def estimate(self, collected: Collected, statistic: str, id: str) -> Entry:
        """Estimate the number for one row and synthesizer.

        Args:
            collected: the collected tables that it reads, by name.
            statistic: name of the row.
            id: the synthesizer.
        """
        raise NotImplementedError


TABLES: Registry[type[Table]] = Registry("kind of table", "show/tables/*.py", package=PACKAGE)
DEFAULT = "sample"
"""Kind of a table that does not set the key ``kind``."""


table_kind = TABLES.register
"""Decorator that registers a subclass of :class:`Table` as a kind; its field ``kind`` is a Literal of the same name."""


class TableDisplay(Display):
    """Content of one table. Its kind must be registered before :meth:`of` is called."""

    NAME = "Table"

    entry: Annotated[Table, ByKind(TABLES)]
    parameters: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Parameters that differ between synthesizers with the same label, by synthesizer."""


def column_of(table: DataFrame, id: str, column: str) -> Array:
    """Numbers (n,) of a synthesizer in a column, with true and false as 1 and 0; missing values are left out."""
    import pandas as pd

    values = table.loc[table["synthesizer"] == id, column].replace({"True": 1, "False": 0})
    numbers: Array = pd.to_numeric(values).dropna().to_numpy(dtype=float)
    return numbers


def estimate_of(values: Array, statistic: str) -> Entry:
    """Estimate a statistic of values (n,), with its error; NaN if there are too few of them."""
    fewest = 2 if statistic == "sd" else 1
    value = float(STATISTICS[statistic](values)) if len(values) >= fewest else float(np.nan)
    return Entry(value, unless_tied(standard_error(values, statistic)), len(values))


def unless_tied(error: float) -> float:
    """Error of a quantile; NaN instead of 0, because an error of 0 only means that neighbouring values are tied."""
    return error if error > 0 else float(np.nan)
