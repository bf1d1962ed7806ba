"""Base class and register of figure painters. The fields of each kind are in ``displays/figures``."""

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

PRINTED_WORDS = "Grey: the value that the paper prints, or both ends of a printed interval"
"""Sentence of a caption if printed values are drawn."""
Fields = TypeVar("Fields", bound=Figure)
FramedFields = TypeVar("FramedFields", bound=Framed)


class Painter(Generic[Fields]):
    """Painter of one figure: makes the rows of its tidy table, its drawing, its legend and sentences of its caption."""

    READING: ClassVar[str] = ""
    """Sentence of the caption on how to read the drawing."""
    EMPTY_ROWS: ClassVar[bool] = False
    """True if a synthesizer without values has an empty row, with the reason in it; otherwise, reasons are below the frames."""
    COUNTS_INFINITE: ClassVar[bool] = False
    """True if the drawing counts values, so that infinite ones count too if a label has others."""

    def __init__(self, display: FigureDisplay, figure: Fields) -> None:
        self.display, self.figure = display, figure

    def reading(self) -> str:
        """Sentence of the caption on how to read the drawing."""
        return self.READING

    def printed_words(self) -> str:
        """Sentence of the caption on printed values; used only if the figure has some."""
        return PRINTED_WORDS

    def printed_handles(self, table: pd.DataFrame, lines: bool) -> list[Line2D]:
        """Legend entries for printed values; ``lines`` is True if the other entries are lines."""
        return printed_handle(table, lines)

    def printed_range(self, table: pd.DataFrame) -> str:
        """Ranges of printed values and of ours, for the caption; empty if there are no printed points."""
        return ""

    def line_at(self, panel: Panel, column: str) -> float:
        """Value at which a frame has its dashed line; NaN for none."""
        return float("nan")

    def line_words(self) -> str:
        """Words of the caption on dashed lines and markers; empty if there are none."""
        return ""

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Return the tidy table with the additional rows and columns that only this kind draws.

        Args:
            tidy: one row for each value.
            collected: the collected tables of every scenario.
        """
        return tidy

    def logarithmic(self, table: pd.DataFrame) -> pd.Series | None:
        """Value of each row's mark, which a logarithmic axis only shows if it is positive; None for other axes."""
        return None

    def legend(self, table: pd.DataFrame) -> Sequence[Line2D]:
        """Legend entries below the frames, without the kinds of guarantee."""
        return []

    def bars(self) -> Sequence[Line2D]:
        """Legend entries for bars through markers, placed after all others."""
        return []

    def marked(self, table: pd.DataFrame) -> Sequence[str]:
        """Synthesizers whose markers show their kind of guarantee."""
        return list(table["synthesizer"].unique())

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width and height in inches, without title and legend; ``table`` is the table to paint."""
        raise NotImplementedError

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a tidy figure table.

        Args:
            table: output of :func:`formalsynth.show.left_out.with_reasons`; only with :attr:`EMPTY_ROWS`, it has rows that
                lack a value.
            canvas: an empty drawing, or a part of one.
        """
        raise NotImplementedError


class FramedPainter(Painter[FramedFields]):
    """Painter of frames that may have a dashed line at a value."""

    def line_at(self, panel: Panel, column: str) -> float:
        """Value at which a frame has its dashed line; NaN for none."""
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
        """Words of the caption on the dashed lines; empty if there are none."""
        line = self.figure.line
        if isinstance(line, float):
            return f"Dashed line: {f'{self.figure.line_label}, ' if self.figure.line_label else ''}{line:g}"
        words = {"half_epsilon": "ε / 2", "population": "the value in the simulated population"}
        return f"Dashed line: {words[line]}" if line in words else ""


PAINTERS: Registry[type[Painter[Any]]] = Registry("painter", "show/figures/*.py")
"""Painters by kind of figure."""


painter = PAINTERS.register
"""Decorator that registers a subclass of :class:`Painter` for a kind of figure."""


def painter_of(display: FigureDisplay) -> Painter[Any]:
    """Painter of a figure; a painter of its kind must be registered."""
    return PAINTERS[display.figure.kind](display, display.figure)
