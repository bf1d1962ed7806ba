"""Lines: means over replicates against another column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from formalsynth.displays.figures.line import Line
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
from formalsynth.show.groups import by_name
from formalsynth.show.painter import FramedPainter, painter
from formalsynth.show.style import COLUMN, PAGE, PRINTED, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


REFERENCE: dict[str, Any] = {"color": PRINTED, "linestyle": (0, (1, 1)), "linewidth": 1.4, "zorder": 1.5}
"""Look of the line that all synthesizers share."""


@painter("line")
class LinePainter(FramedPainter[Line]):
    """Painter of lines through means over replicates, with two standard errors."""

    READING = "Points: means; bars: two standard errors"

    def reading(self) -> str:
        """Meaning of points and error bars; empty where nothing is repeated."""
        return self.READING if any(scenario.replicates > 1 for scenario in self.display.scenarios) else ""

    def printed_range(self, table: pd.DataFrame) -> str:
        """Ranges of values, printed and ours."""
        if "printed_low" not in table or table["printed_low"].isna().all():
            return ""
        printed, ours = table["printed_low"], table.groupby(["scenario", "synthesizer"])["value"].mean()
        ranges = f"{printed.min():.2g} to {printed.max():.2g} as printed, {ours.min():.2g} to {ours.max():.2g} as ours"
        return f"{self.figure.y}: {ranges}"

    def line_words(self) -> str:
        """Words of the caption on the dashed line and the axis of the values."""
        axis = "The axis of the values is even below 0.1 and logarithmic above" if self.figure.from_zero else ""
        return ". ".join(text for text in (super().line_words(), axis) if text)

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Lines, as they are drawn."""
        from matplotlib.lines import Line2D

        grey = [Line2D([], [], label=self.figure.reference_label, **REFERENCE)] if self.figure.reference else []
        return [*line_handles(self.display, table), *grey]

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column with the frames below each other; a page where differences are next to them."""
        return PAGE if self.figure.against else COLUMN, 1.55 * len(by_frame(self.display, table)) + 0.4

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw one frame for each panel, or for each scenario in the order of the figure, with its differences next to it."""
        groups, against, y = by_frame(self.display, table), self.figure.against, self.figure.y
        rows = frames(canvas, [1] * len(groups), 2 if against else 1)
        for axes, (title, group) in zip(rows, groups, strict=True):
            drawn = [(group, y), *([(differences(group, against), f"minus {against}")] if against else [])]
            for axis, (part, label) in zip(axes, drawn, strict=True):
                self._curves(axis, part)
                if label == y:
                    self._references(axis, part)
                axis.set_ylabel(label)
                self._scales(axis, part, label == y)
                self._named(axis, part)
            headed(axes[0], title, sizes(self.display, group))
            axes[0].margins(y=0.12)
            dashed(axes[0], group["line"], self.line_label(), upwards=False)
        if against:
            headed(rows[0][1], "difference in the same replicate", "")
        for place, axis in enumerate(rows[-1]):
            axis.set_xlabel(f"{self.figure.x_label}{', difference' * (place > 0 and self.figure.of_result)}")

    def _scales(self, axis: Axes, table: pd.DataFrame, level: bool) -> None:
        """Set logarithmic axes, ticks at few values across, and a line at no difference."""
        if not level:
            axis.axhline(0, color="#1a1a1a", linewidth=0.6, zorder=0)
        if self.figure.x_log and (level or not self.figure.of_result):
            axis.set_xscale("log")
        if self.figure.log and level:
            axis.set_yscale("log")
        if self.figure.from_zero and level:
            from_nothing(axis, "y")
        if not self.figure.of_result:
            ticks_at(axis.xaxis, table["x"].dropna())

    def _named(self, axis: Axes, table: pd.DataFrame) -> None:
        """Write the names and values of lines above the upper edge."""
        top = self.figure.top
        if top is None:
            return
        axis.set_ylim(top=top)
        least = table.groupby("label", sort=False)["value"].min()
        words = [f"↑ {label}: at least {value:.2g}" for label, value in least.items() if value > top]
        axis.text(0.01, 0.98, "\n".join(words), ha="left", va="top", transform=axis.transAxes)

    def _curves(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw a line for each label, through the means of its points."""
        for _, part in table.groupby("label", sort=False):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            id = part["synthesizer"].iloc[0]
            look = self.display.looks[id]
            drawn = line_look(look.colour, mark_of(look.guarantee), line_place(self.display, id))
            if part["x"].isna().all():  # without the parameter across
                axis.axhline(part["value"].mean(), **drawn)
            else:
                axis.errorbar(points["x"].mean(), mean, error_bars(error), capsize=1.5, elinewidth=0.8, **drawn)

    def _references(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw in grey the line that all synthesizers share, and printed values with the markers of their lines."""
        if self.figure.reference:
            points = table.groupby("x")["common"].mean()
            axis.plot(points.index, points, **REFERENCE)
        if "printed_low" in table:
            across = "printed_x" if "printed_x" in table else "x"
            for id, part in by_name(table.dropna(subset=["printed_low", across]), "synthesizer"):
                marker = MARKERS[line_place(self.display, id) % len(MARKERS)]
                printed = part[[across, "printed_low"]].drop_duplicates()
                axis.scatter(
                    printed[across], printed["printed_low"], s=14, marker=marker, facecolors="none", edgecolors=PRINTED,
                    linewidths=0.9, zorder=3,
                )  # fmt: skip


def differences(table: pd.DataFrame, against: str) -> pd.DataFrame:
    """Values less those of one label in the same replicate at the same point, and x too where it is a result itself.

    Args:
        table: the rows of a frame.
        against: the label whose values are subtracted.
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
