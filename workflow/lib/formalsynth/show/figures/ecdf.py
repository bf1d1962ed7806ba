"""Empirical distribution functions: distributions of values, drawn without a bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from formalsynth.displays.figures.ecdf import Ecdf
from formalsynth.show.drawing import by_frame, frames, headed, line_handles, line_look, line_place, sizes
from formalsynth.show.groups import by_name
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


APART = 0.12
"""Distance between markers along a line, as a share of the frame's diagonal."""


@painter("ecdf")
class EcdfPainter(Painter[Ecdf]):
    """Painter of empirical distribution functions: a step function for each synthesizer."""

    COUNTS_INFINITE = True
    READING = "The height of a line is the share of the values up to that point"

    def logarithmic(self, table: pd.DataFrame) -> pd.Series | None:
        """Largest value of each line: the others count for the height at which it begins."""
        return table.groupby(["scenario", "panel", "synthesizer"])["value"].transform("max") if self.figure.log else None

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Legend entries for the lines, as drawn."""
        return line_handles(self.display, table)

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames below each other."""
        return COLUMN, 1.7 * len(by_frame(self.display, table)) + 0.45

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw one frame for each panel, or for each scenario in the order of the figure."""
        groups = by_frame(self.display, table)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            if self.figure.log:
                axis.set_xscale("log")
            self._curves(axis, group)
            headed(axis, title, sizes(self.display, group))
            axis.set_ylabel("share up to here")
        axis.set_xlabel(self.figure.y)

    def _curves(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw a step function for each synthesizer, with the same style and markers in every frame."""
        for id, part in by_name(table, "synthesizer"):
            look, place = self.display.looks[id], line_place(self.display, id)
            # Axes.ecdf is not used: with compress=True, it counts only one of several tied values.
            values, counts = np.unique(part["value"], return_counts=True)
            axis.plot(
                np.append(values[:1], values), np.append(0, counts.cumsum() / counts.sum()), drawstyle="steps-post",
                label=look.label,
                markevery=(APART * (place + 1) / (len(self.display.ids) + 1), APART),
                **line_look(look.colour, mark_of(look.guarantee), place),
            )  # fmt: skip
