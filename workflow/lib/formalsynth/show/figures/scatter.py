"""Scatter plots: one column against another, record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.show.drawing import frames
from formalsynth.show.figures.base import Figure, figure_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay

MARKERS = ("o", "^", "s", "D")


@figure_kind("scatter")
class Scatter(Figure):
    """One point for each row and synthesizer."""

    ALT = "Scatter plot"
    FRAMES = ("none", "synthesizer")

    kind: Literal["scatter"]
    value: str = Field(description="Column that is drawn.")
    x: str = Field(min_length=1, description="Column across.")
    x_label: str = Field("", description="Label of the axis across.")
    line: Literal["none", "delta"] = Field("none", description="Dashed line: each synthesizer's Δ, its largest value.")

    @property
    def across(self) -> str:
        """Column that runs across."""
        return self.x

    def line_words(self) -> str:
        """What the caption says of the dashed lines; empty where there are none."""
        return "Dashed lines: Δ, the largest bound" if self.line == "delta" else ""

    def draw(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """One frame, or one for each synthesizer, with the same limits across."""
        apart = self.panels == "synthesizer"
        groups = [group for _, group in table.groupby("synthesizer", sort=False)] if apart else [table]
        drawing, axes = frames(len(groups), False, 5.6 if len(groups) == 1 else 4.2)
        for place, (axis, group) in enumerate(zip(axes, groups, strict=True)):
            self._points(axis, display, group)
            axis.set(xlabel=self.x_label, ylabel="" if place else self.y)
            axis.set_xlim(*with_margin(table["x"]))
            axis.legend(frameon=False)
        return drawing

    def _points(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """The points of each synthesizer, and its dashed line at the largest of them."""
        for place, (id, points) in enumerate(table.groupby("synthesizer", sort=False)):
            look, marker = display.looks[id], MARKERS[place % len(MARKERS)]
            axis.scatter(points["x"], points["value"], s=12, alpha=0.35, linewidths=0, color=look.colour, marker=marker)
            axis.scatter([], [], s=30, color=look.colour, marker=marker, label=look.label)
            if self.line == "delta":
                axis.axhline(points["value"].max(), linestyle="--", color=look.colour, linewidth=1.1)


def with_margin(values: pd.Series) -> tuple[float, float]:
    """Limits of an axis that frames share."""
    margin = 0.04 * (values.max() - values.min()) or 0.5
    return float(values.min() - margin), float(values.max() + margin)
