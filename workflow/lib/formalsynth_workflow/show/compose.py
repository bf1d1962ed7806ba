"""Composition of a figure: title, frames and legend, on a drawing or on a part of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from formalsynth_workflow.show.drawing import (
    below,
    columns_of,
    legend_height,
    printed_handle,
    sizes,
    wrapped,
)
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.left_out import by_label, drawn_rows, empty_words, is_empty, with_reasons
from formalsynth_workflow.show.style import COLUMN, INK, TITLE
from formalsynth_workflow.show.types import Canvas, DataFrame, Handle

IN_UNITS = ("value", "line", "printed_low", "printed_high")
"""Columns of a tidy table that are measured in the unit of the values."""
WARNING = "#a00000"
"""Colour of the title of a figure with stand-in data."""
EMPTY = 1.0
"""Height in inches of a figure without values."""


@dataclass(frozen=True)
class Composition:
    """Content of a figure, its title and legend, and its size."""

    table: DataFrame
    """Rows that are drawn, in the unit of the drawing."""
    title: str
    legend: Sequence[Handle]
    columns: int
    """Number of columns of the legend."""
    width: float
    """Width in inches."""
    height: float
    """Height in inches, including title and legend."""
    notes: str = ""
    """Sample sizes, and labels with values that are left out; for a figure without values, only the reasons."""


def composition(display: FigureDisplay, table: DataFrame, subject: str, warning: str = "") -> Composition:
    """Content, title, legend and size of a figure.

    Args:
        display: the figure.
        table: its tidy table.
        subject: the title, of any length.
        warning: a line above the title.
    """
    figure = display.figure
    notes = list(figure.notes(display, table))
    table = table.assign(**{column: table[column] / figure.per for column in IN_UNITS if column in table})
    if not display.parts:
        table = with_reasons(figure, table)
        if is_empty(table):
            title = "\n".join(filter(None, (warning, wrapped(subject, COLUMN))))
            return Composition(table, title, [], 1, COLUMN, EMPTY + _height_of(title), wrapped(empty_words(table), COLUMN))
        left_out = [] if figure.EMPTY_ROWS else by_label(table)
        table = table if figure.EMPTY_ROWS else drawn_rows(table)
        notes = [*filter(None, [sizes(display, table)]), *left_out]
    width, height = figure.inches(display, table)
    handles = [*figure.legend(display, table)]
    handles += [] if display.parts else printed_handle(table, bool(handles))
    title = "\n".join(filter(None, (warning, wrapped(subject, width))))
    words = "\n".join(wrapped(note, width) for note in notes)
    across = columns_of(handles, width)
    height += _height_of(title) + 0.04 + legend_height(handles, across, words)
    return Composition(table, title, handles, across, width, height, words)


def _height_of(title: str) -> float:
    """Height of a title in inches."""
    return 0.15 * (title.count("\n") + 1) if title else 0.0


def compose(display: FigureDisplay, canvas: Canvas, content: Composition) -> None:
    """Paint a figure with its title and its legend."""
    colour = WARNING if display.stand_in else INK
    if content.title:
        canvas.suptitle(content.title, x=0.01, ha="left", fontsize=TITLE, fontweight="bold", color=colour)
    if is_empty(content.table) and not display.parts:
        axis = canvas.subplots()
        axis.set_axis_off()
        axis.text(0.5, 0.5, content.notes, ha="center", va="center", transform=axis.transAxes)
        return
    display.figure.paint(display, content.table, canvas)
    below(canvas, content.legend, content.columns, content.notes)
