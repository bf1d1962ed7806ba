"""Lines: means over replicates against another column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from formalsynth.show.drawing import (
    MARKERS,
    by_frame,
    dashed,
    frames,
    from_nothing,
    headed,
    line_handles,
    line_look,
    line_place,
    sizes,
    ticks_at,
)
from formalsynth.show.figures.base import Framed, figure_kind
from formalsynth.show.style import COLUMN, PAGE, PRINTED, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay

REFERENCE: dict[str, Any] = {"color": PRINTED, "linestyle": (0, (1, 1)), "linewidth": 1.4, "zorder": 1.5}
"""How the line looks that all synthesizers have in common."""


@figure_kind("line")
class Line(Framed):
    """Means over replicates against ``x`` with two standard errors, a line for each label."""

    ALT = "Lines through points"
    READING = "Points: means; bars: two standard errors"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True
    PRINTS = True

    kind: Literal["line"]
    x: str = Field(min_length=1, description="Column across.")
    at: str = Field("", description="Parameter whose values are the points of a line where x is itself a result.")
    x_log: bool = Field(False, description="Logarithmic axis across.")
    x_label: str = Field("", description="Label of the axis across.")
    from_zero: bool = Field(False, description="Axis of the values from 0, logarithmic from 0.1 on, for values that may be 0.")
    top: float | None = Field(None, gt=0, description="Lines that lie above this are named at the upper edge instead of drawn.")
    against: str = Field(
        "", description="Label of those whose values in the same replicate are taken from the others', in frames beside."
    )
    reference: str = Field("", description="Column that all synthesizers of a replicate have in common, drawn as one grey line.")
    reference_label: str = Field("", description="Name of the grey line.")

    def reading(self, display: FigureDisplay) -> str:
        """The meaning of points and error bars; empty where nothing is repeated."""
        return self.READING if any(scenario.replicates > 1 for scenario in display.scenarios) else ""

    def printed_range(self, table: pd.DataFrame) -> str:
        """The smallest and the largest value, as printed and as ours: the printed points may be elsewhere."""
        if "printed_low" not in table or table["printed_low"].isna().all():
            return ""
        printed, ours = table["printed_low"], table.groupby(["scenario", "synthesizer"])["value"].mean()
        return f"{self.y}: {printed.min():.2g} to {printed.max():.2g} as printed, {ours.min():.2g} to {ours.max():.2g} as ours"

    @property
    def common(self) -> str:
        """Column of the grey line."""
        return self.reference

    @property
    def across(self) -> str:
        """Column that runs across."""
        return self.x

    def line_words(self) -> str:
        """Words of the caption on the dashed line and the axis of the values."""
        axis = "The axis of the values is even below 0.1 and logarithmic above" if self.from_zero else ""
        return ". ".join(text for text in (super().line_words(), axis) if text)

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> list[Line2D]:
        """The lines, as they are drawn."""
        from matplotlib.lines import Line2D

        grey = [Line2D([], [], label=self.reference_label, **REFERENCE)] if self.reference else []
        return [*line_handles(display, table), *grey]

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A column wide with the frames below each other; a page where differences stand beside them."""
        return PAGE if self.against else COLUMN, 1.55 * len(by_frame(display, table)) + 0.4

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """One frame for each panel, or for each scenario in the order of the figure, with its differences beside it."""
        groups = by_frame(display, table)
        rows = frames(canvas, [1] * len(groups), 2 if self.against else 1)
        for axes, (title, group) in zip(rows, groups, strict=True):
            drawn = [(group, self.y), *([(differences(group, self.against), f"minus {self.against}")] if self.against else [])]
            for axis, (part, label) in zip(axes, drawn, strict=True):
                self._curves(axis, display, part)
                if label == self.y:
                    self._beside(axis, display, part)
                axis.set_ylabel(label)
                self._scales(axis, part, label == self.y)
                self._named(axis, part)
            headed(axes[0], title, sizes(display, group))
            axes[0].margins(y=0.12)
            dashed(axes[0], group["line"], self.line_label(), upwards=False)
        if self.against:
            headed(rows[0][1], "difference in the same replicate", "")
        for place, axis in enumerate(rows[-1]):
            axis.set_xlabel(f"{self.x_label}{', difference' * (place > 0 and bool(self.at))}")

    def _scales(self, axis: Axes, table: pd.DataFrame, level: bool) -> None:
        """Logarithmic axes, ticks at few values across, and a line at no difference."""
        if not level:
            axis.axhline(0, color="#1a1a1a", linewidth=0.6, zorder=0)
        if self.x_log and (level or not self.at):
            axis.set_xscale("log")
        if self.log and level:
            axis.set_yscale("log")
        if self.from_zero and level:
            from_nothing(axis, "y")
        if not self.at:
            ticks_at(axis.xaxis, table["x"])

    def _named(self, axis: Axes, table: pd.DataFrame) -> None:
        """The names and values of lines above the upper edge."""
        if self.top is None:
            return
        axis.set_ylim(top=self.top)
        least = table.groupby("label", sort=False)["value"].min()
        words = [f"↑ {label}: at least {value:.2g}" for label, value in least.items() if value > self.top]
        axis.text(0.01, 0.98, "\n".join(words), ha="left", va="top", transform=axis.transAxes)

    def _curves(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """A line for each label, through the means of its points."""
        for _, part in table.groupby("label", sort=False):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            id = part["synthesizer"].iloc[0]
            look = display.looks[id]
            axis.errorbar(
                points["x"].mean(), mean, error_bars(error), capsize=1.5, elinewidth=0.8,
                **line_look(look.colour, mark_of(look.guarantee), line_place(display, id)),
            )  # fmt: skip

    def _beside(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """Draw in grey the line that all synthesizers share, and printed values with the markers of their lines."""
        if self.reference:
            points = table.groupby("x")["common"].mean()
            axis.plot(points.index, points, **REFERENCE)
        if "printed_low" in table:
            across = "printed_x" if "printed_x" in table else "x"
            for id, part in table.dropna(subset=["printed_low", across]).groupby("synthesizer", sort=False):
                marker = MARKERS[line_place(display, str(id)) % len(MARKERS)]
                points = part[[across, "printed_low"]].drop_duplicates()
                axis.scatter(
                    points[across], points["printed_low"], s=14, marker=marker, facecolors="none", edgecolors=PRINTED,
                    linewidths=0.9, zorder=3,
                )  # fmt: skip


def differences(table: pd.DataFrame, against: str) -> pd.DataFrame:
    """The values less those of one label in the same replicate at the same point, and x too where it is a result itself.

    Args:
        table: the rows of a frame.
        against: the label whose values are taken away.
    """
    keys = ["scenario", "replicate", "at" if "at" in table else "x"]
    drawn = ["value", *(["x"] if "at" in table else [])]
    own = table[table["label"] == against].groupby(keys)[drawn].mean().add_suffix("_against")
    rest = table[table["label"] != against]
    paired = rest.join(own, on=keys)
    return rest.assign(**{column: paired[column] - paired[f"{column}_against"] for column in drawn})


def error_bars(error: pd.Series) -> pd.Series | None:
    """Error bars, or none where nothing was repeated."""
    return error if (error > 0).any() else None
