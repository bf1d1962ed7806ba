"""A figure as a whole: its frames below a title and above its legend, on a drawing or on a part of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from formalsynth.show.drawing import below, guarantee_marks, legend_height, printed_handle, titled
from formalsynth.show.style import COLUMN, INK, TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay

IN_UNITS = ("value", "line", "printed_low", "printed_high")
"""Columns of a tidy table that are in the unit of the values."""
WARNING = "#a00000"
"""Colour of the title over stand-in data."""


@dataclass(frozen=True)
class Composition:
    """What stands around the frames of a figure, and how large it all is."""

    title: str
    legend: Sequence[Line2D]
    across: int
    """Columns of the legend."""
    width: float
    height: float
    """In inches, with title and legend."""


def composition(display: FigureDisplay, table: pd.DataFrame, subject: str, warning: str = "") -> Composition:
    """What stands around the frames of a figure.

    Args:
        display: the figure.
        table: its tidy table, as it is painted.
        subject: its title, as long as it likes.
        warning: a line above the title.
    """
    figure = display.figure
    width, height = figure.inches(display, table)
    handles = figure.legend(display, table)
    marks = guarantee_marks(display, figure.marked(display, table), bool(handles))
    across = (2 if handles else 4) * (1 if width <= COLUMN else 2)
    printed = [] if display.parts else printed_handle(table, bool(handles))
    # Legends fill their columns first: of one more than fits in a line, the second stands below the first.
    marks = [*marks[:1], *printed, *marks[1:]] if len(marks) == across else [*marks, *printed]
    title = titled(subject, width, warning)
    lines = title.count("\n") + 1 if title else 0
    height += 0.15 * lines + 0.04 + legend_height([*handles, *marks], across)
    return Composition(title, [*handles, *marks], across, width, height)


def compose(display: FigureDisplay, table: pd.DataFrame, canvas: Canvas, around: Composition) -> None:
    """Paint a figure with its title and its legend."""
    display.figure.paint(display, table, canvas)
    colour = WARNING if display.stand_in else INK
    if around.title:
        canvas.suptitle(around.title, x=0.01, ha="left", fontsize=TITLE, fontweight="bold", color=colour)
    below(canvas, around.legend, around.across)


def divided(display: FigureDisplay, table: pd.DataFrame) -> pd.DataFrame:
    """The table with its values and lines in the unit in which the figure is drawn."""
    return table.assign(**{column: table[column] / display.figure.per for column in IN_UNITS if column in table})
