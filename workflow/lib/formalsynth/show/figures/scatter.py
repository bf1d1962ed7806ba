"""Scatter plots: one column against another, record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formalsynth.displays.figures.scatter import Scatter
from formalsynth.show.drawing import frames, headed, sizes
from formalsynth.show.groups import by_name
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN, TEXT, edge

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


MARKERS = ("o", "^", "s", "v")


@painter("scatter")
class ScatterPainter(Painter[Scatter]):
    """Painter of scatter plots: one point for each row and synthesizer."""

    READING = "One point for each record"

    def line_words(self) -> str:
        """Words of the caption on the dashed lines; empty if there are none."""
        return "Dashed lines: Δ, the largest bound" if self.figure.line == "delta" else ""

    def marked(self, table: pd.DataFrame) -> list[str]:
        """Return no synthesizers: the points are records, and the caption lists the guarantees."""
        return []

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Legend entries for the points, as drawn, if synthesizers share a frame."""
        from matplotlib.lines import Line2D

        if self.figure.panels == "synthesizer":
            return []
        looks = [self.display.looks[id] for id in table["synthesizer"].unique()]
        return [
            Line2D(
                [],
                [],
                linestyle="",
                marker=MARKERS[place % len(MARKERS)],
                markersize=4,
                color=edge(look.colour),
                label=look.label,
            )
            for place, look in enumerate(looks)
        ]

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames below each other."""
        return COLUMN, 1.8 * len(self._groups(table)) + 0.45

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw one frame, or one for each synthesizer, with the same x limits."""
        groups = self._groups(table)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            self._points(axis, group)
            headed(axis, title, sizes(self.display, group))
            axis.set_ylabel(self.figure.y)
            axis.margins(y=0.12)
            axis.set_xlim(*with_margin(table["x"]))
        axis.set_xlabel(self.figure.x_label)

    def _groups(self, table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
        if self.figure.panels != "synthesizer":
            return [("", table)]
        return [(self.display.looks[id].label, group) for id, group in by_name(table, "synthesizer")]

    def _points(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw the points of each synthesizer, and a dashed line at their largest value."""
        for place, (id, points) in enumerate(by_name(table, "synthesizer")):
            look, marker = self.display.looks[id], MARKERS[place % len(MARKERS)]
            axis.scatter(
                points["x"],
                points["value"],
                s=7,
                alpha=0.45,
                linewidths=0,
                color=edge(look.colour),
                marker=marker,
                rasterized=True,
            )
            if self.figure.line == "delta":
                largest = points["value"].max()
                axis.axhline(largest, linestyle=(0, (4, 2)), color=edge(look.colour), linewidth=0.9)
                axis.annotate(
                    f"Δ = {largest:.3g}", (0.005, largest), xycoords=axis.get_yaxis_transform(),
                    xytext=(0, 1.5 - 10 * (place % 2)), textcoords="offset points", fontsize=TEXT, color=edge(look.colour),
                )  # fmt: skip


def with_margin(values: pd.Series) -> tuple[float, float]:
    """Limits of an axis that frames share, with a margin around the values."""
    margin = 0.04 * (values.max() - values.min()) or 0.5
    return float(values.min() - margin), float(values.max() + margin)
