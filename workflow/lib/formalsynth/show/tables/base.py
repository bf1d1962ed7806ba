"""What every kind of table has, and the register of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from formalsynth.core.model import Model, Number, WholeNumber
from formalsynth.core.registry import Registry
from formalsynth.core.words import metric

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.show.display import TableDisplay


class Estimate(NamedTuple):
    """One number of a table."""

    value: float
    mcse: float
    """Its Monte Carlo standard error; NaN where there is none to give."""
    number: int
    """How many values it is made from."""


class Table(Model):
    """One table, with the printed values beside ours. A kind adds the keys that it alone uses."""

    READS: ClassVar[Literal["sets", "replicates", "audit"]] = "replicates"
    """The collected table that the estimates come from."""
    OVER_SIZES: ClassVar[bool] = False
    """Whether a number is made from several sample sizes."""

    kind: str = Field(description="How the numbers of the table are made.")
    scenario: str = Field(description="Scenario whose results it shows.")
    size: WholeNumber | None = Field(None, description="Only this sample size of the scenario, before the scale shrinks it.")
    statistics: list[str] = Field(description="Rows.")
    synthesizers: list[str | list[str]] = Field(description="Columns.")
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers with these parameters, or without them."
    )
    subject: str = Field(description="What the caption says.")
    printed: dict[str, dict[str, float]] = Field(
        default_factory=dict, description="Printed values by synthesizer id and statistic."
    )
    note: str = Field("", description="Sentence that ends the caption.")

    @property
    def table(self) -> str:
        """Which collected table it reads."""
        return self.READS

    def tables(self) -> list[str]:
        """Every collected table that it reads."""
        return [self.table]

    @property
    def summarized(self) -> str:
        """The one column that every row summarizes; empty where rows are columns."""
        return ""

    def columns(self) -> list[str]:
        """What the numbers speak of, by the names of :data:`formalsynth.core.words.METRICS`."""
        return list(dict.fromkeys(self.statistics))

    def printed_columns(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Printed values by synthesizer and column of the collected table: the ends of an interval, which a number is twice."""
        return {id: {row: (value, value) for row, value in rows.items()} for id, rows in self.printed.items()}

    @classmethod
    def heading(cls, statistic: str) -> str:
        """The name of a row in plain words."""
        return metric(statistic).name

    def rows_allowed(self) -> tuple[str, ...] | None:
        """Names that ``statistics`` may have; None for any column of numbers in the collected table."""
        return None

    def estimate(self, display: TableDisplay, collected: Mapping[str, pd.DataFrame], statistic: str, id: str) -> Estimate:
        """The number of one row and synthesizer.

        Args:
            display: the table.
            collected: the tables that it reads, by name.
            statistic: name of the row.
            id: the synthesizer.
        """
        raise NotImplementedError


TABLES: Registry[type[Table]] = Registry("kind of table", "show/tables/*.py")
DEFAULT = "sample"
"""The kind of a table that does not say which."""


def table_kind(name: str) -> Callable[[type[Any]], type[Any]]:
    """Register a subclass of :class:`Table` as a kind; its field ``kind`` is a Literal of the same name."""

    def register(kind: type[Any]) -> type[Any]:
        TABLES.add(name, kind, kind.__module__)
        return kind

    return register
