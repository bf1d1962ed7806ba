"""Spreads: the standard deviation of a column over data sets, by sample size."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.limit_law import OfLimitLaw
from formalsynth_workflow.show.names import write_names
from formalsynth_workflow.show.spreads import draw_spreads
from formalsynth_workflow.show.types import Canvas, DataFrame, Series


@figure_kind("spread")
class Spread(OfLimitLaw):
    """Standard deviation of the values over data sets, by sample size; one line for each synthesizer, named at its end."""

    X_COLUMN = "n"
    HEIGHT = 2.4
    MARGIN = 0.0
    ALT = "Lines of a standard deviation by sample size"
    READING = "Bars: two standard errors; dotted: the rate n^-1/2"
    LAW_WORDS = "Dashed: standard deviation of the limit law"

    kind: Literal["spread"]
    value: str = Field(description="Column whose standard deviation is drawn.")

    def logarithmic(self, table: DataFrame) -> Series:
        """Return the standard deviation at each point."""
        return table.groupby(["synthesizer", "n"])["value"].transform("std").fillna(0.0)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a line for each synthesizer with its name, the limit law, and the rate."""
        axis = canvas.subplots()
        ends = draw_spreads(axis, display, table)
        axis.set_ylabel(display.value_label)
        write_names(axis, ends, self.HEIGHT - 0.5)
