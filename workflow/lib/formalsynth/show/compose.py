"""Composition of a figure: title, frames and legend, on a drawing or on a part of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formalsynth.show.drawing import below, guarantee_marks, legend_height, titled
from formalsynth.show.painter import painter_of
from formalsynth.show.style import COLUMN, INK, TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.displays.display import FigureDisplay

IN_UNITS = ("value", "line", "printed_low", "printed_high")
"""Columns of a tidy table that are measured in the unit of the values."""
WARNING = "#a00000"
"""Colour of the title of a figure with stand-in data."""


@dataclass(frozen=True)
class Composition:
    """Title and legend of a figure, and its size."""

    title: str
    legend: Sequence[Line2D]
    across: int
    """Number of columns of the legend."""
    width: float
    """Width in inches."""
    height: float
    """Height in inches, including title and legend."""


def composition(display: FigureDisplay, table: pd.DataFrame, subject: str, warning: str = "") -> Composition:
    """Title, legend and size of a figure.

    Args:
        display: the figure.
        table: its tidy table, in the unit of the drawing.
        subject: the title, of any length.
        warning: a line above the title.
    """
    painter = painter_of(display)
    width, height = painter.inches(table)
    handles = painter.legend(table)
    marks = guarantee_marks(display, painter.marked(table), bool(handles))
    across = (2 if handles else 4) * (1 if width <= COLUMN else 2)
    printed = [] if display.parts else painter.printed_handles(table, bool(handles))
    marks = [*marks, *printed, *painter.bars()]
    title = titled(subject, width, warning)
    lines = title.count("\n") + 1 if title else 0
    height += 0.15 * lines + 0.04 + legend_height([*handles, *marks], across)
    return Composition(title, [*handles, *marks], across, width, height)


def compose(display: FigureDisplay, table: pd.DataFrame, canvas: Canvas, around: Composition) -> None:
    """Paint a figure with its title and its legend."""
    painter_of(display).paint(table, canvas)
    colour = WARNING if display.stand_in else INK
    if around.title:
        canvas.suptitle(around.title, x=0.01, ha="left", fontsize=TITLE, fontweight="bold", color=colour)
    below(canvas, around.legend, around.across)


def divided(display: FigureDisplay, table: pd.DataFrame) -> pd.DataFrame:
    """Convert the values and lines of a table to the unit of the drawing."""
    return table.assign(**{column: table[column] / display.figure.per for column in IN_UNITS if column in table})
