"""Lines: means over replicates against another column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.show.drawing import dashed, frames
from formalsynth.show.figures.base import Framed, figure_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay

STYLES = ("-", "--", "-.", ":")
MARKERS = ("o", "^", "s", "D", "v", "P")


@figure_kind("line")
class Line(Framed):
    """Means over replicates against ``x`` with two standard errors, a line for each label."""

    ALT = "Lines with error bars"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True

    kind: Literal["line"]
    x: str = Field(min_length=1, description="Column across.")
    at: str = Field("", description="Parameter whose values are the points of a line where x is itself a result.")
    x_log: bool = Field(False, description="Logarithmic axis across.")
    x_label: str = Field("", description="Label of the axis across.")

    @property
    def across(self) -> str:
        """Column that runs across."""
        return self.x

    def draw(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """One frame for each panel, or for each scenario in the order of the figure."""
        titles = {scenario.id: scenario.label for scenario in display.scenarios}
        groups = list(table.groupby("scenario" if self.panels == "scenario" else "panel", sort=False))
        groups.sort(key=lambda group: list(titles).index(group[0]) if group[0] in titles else 0)
        drawing, axes = frames(len(groups), self.stacked, 4.2 if len(groups) == 1 else 3.2)
        for place, (axis, (name, group)) in enumerate(zip(axes, groups, strict=True)):
            self._curves(axis, display, group)
            axis.set_title(titles.get(name, name), fontsize=9)
            axis.set(xlabel=self.x_label, ylabel="" if place else self.y)
            if self.x_log:
                axis.set_xscale("log")
            if self.log:
                axis.set_yscale("log")
            dashed(axis.axhline, group["line"])
        axes[-1].legend(frameon=False, fontsize=7)
        return drawing

    def _curves(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """A line for each label, through the means of its points."""
        for place, (label, part) in enumerate(table.groupby("label", sort=False)):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            axis.errorbar(
                points["x"].mean(), mean, error_bars(error), label=label, linewidth=1.1, capsize=2, markersize=4,
                color=display.looks[part["synthesizer"].iloc[0]].colour,
                linestyle=STYLES[place % len(STYLES)], marker=MARKERS[place % len(MARKERS)],
            )  # fmt: skip


def error_bars(error: pd.Series) -> pd.Series | None:
    """Error bars, or none where nothing was repeated."""
    return error if (error > 0).any() else None
