"""Empirical distribution functions: how values are distributed, without a bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.show.drawing import frames
from formalsynth.show.figures.base import Figure, figure_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay

STYLES = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "^", "s", "D", "v", "P", "X")
"""No multiple of the number of styles: lines that share a style have different markers."""
APART = 0.12
"""Distance of the markers along a line, as a share of the frame's diagonal."""


@figure_kind("ecdf")
class Ecdf(Figure):
    """Empirical distribution functions of the values, a line for each synthesizer."""

    ALT = "Empirical distribution functions"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True

    kind: Literal["ecdf"]
    value: str = Field(description="Column that is drawn.")
    log: bool = Field(False, description="Logarithmic axis of the values.")

    def draw(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """One frame for each panel, or for each scenario in the order of the figure."""
        titles = {scenario.id: scenario.label for scenario in display.scenarios}
        groups = list(table.groupby("scenario" if self.panels == "scenario" else "panel", sort=False))
        groups.sort(key=lambda group: list(titles).index(group[0]) if group[0] in titles else 0)
        drawing, axes = frames(len(groups), False, 5.2 if len(groups) == 1 else 3.8)
        for place, (axis, (name, group)) in enumerate(zip(axes, groups, strict=True)):
            if self.log:
                axis.set_xscale("log")
            self._curves(axis, display, group)
            axis.set_title(titles.get(name, name), fontsize=9)
            axis.set(xlabel=self.y, ylabel="" if place else "share of the values up to here")
        axes[-1].legend(frameon=False, loc="lower right", fontsize=8)
        return drawing

    def _curves(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """A line of steps for each synthesizer, with a style and markers of its own; it keeps them in every frame."""
        for id, part in table.groupby("synthesizer", sort=False):
            look, place = display.looks[id], display.ids.index(id)
            # Not Axes.ecdf: with compress=True it gives tied values the share below them plus one.
            values, counts = np.unique(part["value"], return_counts=True)
            axis.plot(
                np.append(values[:1], values), np.append(0, counts.cumsum() / counts.sum()), drawstyle="steps-post",
                label=look.label, color=look.colour, linewidth=1.2, linestyle=STYLES[place % len(STYLES)],
                marker=MARKERS[place % len(MARKERS)], markersize=4.5,
                markevery=(APART * (place + 1) / (len(display.ids) + 1), APART),
            )  # fmt: skip
