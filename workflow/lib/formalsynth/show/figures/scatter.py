"""Scatter plots: one column against another, record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.show.drawing import frames, headed, sizes
from formalsynth.show.figures.base import Figure, figure_kind
from formalsynth.show.style import COLUMN, TEXT

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay

MARKERS = ("o", "^", "s", "v")


@figure_kind("scatter")
class Scatter(Figure):
    """One point for each row and synthesizer."""

    ALT = "Scatter plot"
    READING = "A point for each record"
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

    def marked(self, display: FigureDisplay, table: pd.DataFrame) -> list[str]:
        """None: the points are records, and the caption says the guarantees."""
        return []

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> list[Line2D]:
        """The points, as they are drawn, where synthesizers share a frame."""
        from matplotlib.lines import Line2D

        if self.panels == "synthesizer":
            return []
        looks = [display.looks[id] for id in table["synthesizer"].unique()]
        return [
            Line2D([], [], linestyle="", marker=MARKERS[place % len(MARKERS)], markersize=4, color=look.colour, label=look.label)
            for place, look in enumerate(looks)
        ]

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A column wide, with the frames below each other."""
        return COLUMN, 1.8 * len(self._groups(display, table)) + 0.45

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """One frame, or one for each synthesizer, with the same limits across."""
        groups = self._groups(display, table)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            self._points(axis, display, group)
            headed(axis, title, sizes(display, group))
            axis.set_ylabel(self.y)
            axis.margins(y=0.12)
            axis.set_xlim(*with_margin(table["x"]))
        axis.set_xlabel(self.x_label)

    def _groups(self, display: FigureDisplay, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
        if self.panels != "synthesizer":
            return [("", table)]
        return [(display.looks[id].label, group) for id, group in table.groupby("synthesizer", sort=False)]

    def _points(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """The points of each synthesizer, and its dashed line at the largest of them."""
        for place, (id, points) in enumerate(table.groupby("synthesizer", sort=False)):
            look, marker = display.looks[id], MARKERS[place % len(MARKERS)]
            axis.scatter(
                points["x"], points["value"], s=7, alpha=0.45, linewidths=0, color=look.colour, marker=marker, rasterized=True
            )
            if self.line == "delta":
                largest = points["value"].max()
                axis.axhline(largest, linestyle=(0, (4, 2)), color=look.colour, linewidth=0.9)
                axis.annotate(
                    f"Δ = {largest:.3g}", (0.005, largest), xycoords=axis.get_yaxis_transform(),
                    xytext=(0, 1.5 - 10 * (place % 2)), textcoords="offset points", fontsize=TEXT, color=look.colour,
                )  # fmt: skip


def with_margin(values: pd.Series) -> tuple[float, float]:
    """Limits of an axis that frames share."""
    margin = 0.04 * (values.max() - values.min()) or 0.5
    return float(values.min() - margin), float(values.max() + margin)
