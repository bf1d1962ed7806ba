"""Common base of the painters of figures, and their register. Fields of the kinds are in ``displays/figures``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from formalsynth.core.registry import Registry
from formalsynth.displays.figure import Figure, Framed
from formalsynth.show.drawing import printed_handle

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.displays.display import FigureDisplay, Panel

PRINTED_WORDS = "Grey: what the paper prints, with both ends where it is an interval"
"""Sentence of a caption where printed values are drawn."""
Fields = TypeVar("Fields", bound=Figure)
FramedFields = TypeVar("FramedFields", bound=Framed)


class Painter(Generic[Fields]):
    """Painter of one figure: the rows of its tidy table, its drawing, its legend and the words of its caption."""

    READING: ClassVar[str] = ""
    """Sentence of the caption on how to read the drawing."""

    def __init__(self, display: FigureDisplay, figure: Fields) -> None:
        self.display, self.figure = display, figure

    def reading(self) -> str:
        """Sentence of the caption on how to read the drawing."""
        return self.READING

    def printed_words(self) -> str:
        """Sentence of the caption on printed values, where the figure has some."""
        return PRINTED_WORDS

    def printed_handles(self, table: pd.DataFrame, lines: bool) -> list[Line2D]:
        """Entries of the legend for printed values; ``lines`` where the other entries are lines."""
        return printed_handle(table, lines)

    def printed_range(self, table: pd.DataFrame) -> str:
        """Ranges of printed values and of ours, for the caption; empty where there are no printed points."""
        return ""

    def line_at(self, panel: Panel, column: str) -> float:
        """Place of the dashed line of a frame; NaN for none."""
        return float("nan")

    def line_words(self) -> str:
        """Words of the caption on dashed lines and markers; empty where there are none."""
        return ""

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Tidy table with the rows and columns that only this kind draws.

        Args:
            tidy: one row for each value.
            collected: the collected tables of every scenario.
        """
        return tidy

    def legend(self, table: pd.DataFrame) -> Sequence[Line2D]:
        """Entries of the legend below the frames, without the kinds of guarantee."""
        return []

    def bars(self) -> Sequence[Line2D]:
        """Entries of the legend for bars through markers, after all others."""
        return []

    def marked(self, table: pd.DataFrame) -> Sequence[str]:
        """Synthesizers whose markers show the kind of their guarantee."""
        return list(table["synthesizer"].unique())

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width and height in inches, without title and legend; the table is the painted one."""
        raise NotImplementedError

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a tidy figure table.

        Args:
            table: as made by :func:`formalsynth.show.tidy.figure_table`, without the rows that have no value.
            canvas: an empty drawing, or a part of one.
        """
        raise NotImplementedError


class FramedPainter(Painter[FramedFields]):
    """Painter of frames that may have a dashed line across the values."""

    def line_at(self, panel: Panel, column: str) -> float:
        """Place of the dashed line of a frame; NaN for none."""
        line = self.figure.line
        if line == "half_epsilon" and panel.epsilon is not None:
            return panel.epsilon / 2
        if line == "population":
            return self.display.truths[column]
        return float(line) if isinstance(line, float) else float("nan")

    def line_label(self) -> str:
        """Label of the dashed line."""
        line = self.figure.line
        return self.figure.line_label or (f"{line:g}" if isinstance(line, float) else {"half_epsilon": "ε/2"}.get(line, line))

    def line_words(self) -> str:
        """Words of the caption on the dashed lines; empty where there are none."""
        line = self.figure.line
        if isinstance(line, float):
            return f"Dashed line: {f'{self.figure.line_label}, ' if self.figure.line_label else ''}{line:g}"
        words = {"half_epsilon": "ε / 2", "population": "the value in the simulated population"}
        return f"Dashed line: {words[line]}" if line in words else ""


PAINTERS: Registry[type[Painter[Any]]] = Registry("painter", "show/figures/*.py")
"""Painters by the kind of figure."""


painter = PAINTERS.register
"""Decorator that registers a subclass of :class:`Painter` for a kind of figure."""


def painter_of(display: FigureDisplay) -> Painter[Any]:
    """Painter of a figure; the painter of its kind has to be registered."""
    return PAINTERS[display.figure.kind](display, display.figure)
