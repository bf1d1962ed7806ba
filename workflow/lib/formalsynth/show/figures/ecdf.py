"""Empirical distribution functions: how values are distributed, without a bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.show.drawing import by_frame, frames, headed, line_handles, line_look, line_place, sizes
from formalsynth.show.figures.base import Figure, figure_kind
from formalsynth.show.style import COLUMN, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay

APART = 0.12
"""Distance of the markers along a line, as a share of the frame's diagonal."""


@figure_kind("ecdf")
class Ecdf(Figure):
    """Empirical distribution functions of the values, a line for each synthesizer."""

    ALT = "Empirical distribution functions"
    READING = "Lines rise to the share of the values up to a point"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True

    kind: Literal["ecdf"]
    value: str = Field(description="Column that is drawn.")
    log: bool = Field(False, description="Logarithmic axis of the values.")

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> list[Line2D]:
        """The lines, as they are drawn."""
        return line_handles(display, table)

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A column wide, with the frames below each other."""
        return COLUMN, 1.7 * len(by_frame(display, table)) + 0.45

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """One frame for each panel, or for each scenario in the order of the figure."""
        groups = by_frame(display, table)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            if self.log:
                axis.set_xscale("log")
            self._curves(axis, display, group)
            headed(axis, title, sizes(display, group))
            axis.set_ylabel("share up to here")
        axis.set_xlabel(self.y)

    def _curves(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """A line of steps for each synthesizer, with a style and markers of its own; it keeps them in every frame."""
        for id, part in table.groupby("synthesizer", sort=False):
            look, place = display.looks[id], line_place(display, id)
            # Not Axes.ecdf: with compress=True it gives tied values the share below them plus one.
            values, counts = np.unique(part["value"], return_counts=True)
            axis.plot(
                np.append(values[:1], values), np.append(0, counts.cumsum() / counts.sum()), drawstyle="steps-post",
                label=look.label,
                markevery=(APART * (place + 1) / (len(display.ids) + 1), APART),
                **line_look(look.colour, mark_of(look.guarantee), place),
            )  # fmt: skip
