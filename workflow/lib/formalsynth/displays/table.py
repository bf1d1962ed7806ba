"""Fields that all kinds of tables share, and the register of kinds. The estimators are in ``show/tables``."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from formalsynth.core.model import Model, Number, WholeNumber
from formalsynth.core.registry import Registry
from formalsynth.core.words import metric


class Table(Model):
    """Fields of one table, with printed values next to ours. Each kind adds the keys that only it uses."""

    READS: ClassVar[Literal["sets", "replicates", "audit"]] = "replicates"
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

    @property
    def table(self) -> str:
        """Collected table that it reads."""
        return self.READS

    def tables(self) -> list[str]:
        """Names of all collected tables that it reads."""
        return [self.table]

    @property
    def summarized(self) -> str:
        """Column that every row summarizes; empty if each row is a column."""
        return ""

    def columns(self) -> list[str]:
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


TABLES: Registry[type[Table]] = Registry("kind of table", "displays/tables/*.py")
DEFAULT = "sample"
"""Kind of a table that does not set the key ``kind``."""


table_kind = TABLES.register
"""Decorator that registers a subclass of :class:`Table` as a kind; its field ``kind`` is a Literal of the same name."""
