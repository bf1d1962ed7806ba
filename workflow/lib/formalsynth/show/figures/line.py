"""Lines: means over replicates, plotted against another column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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


PARAMETERS = {"epsilon": "ε"}
"""Displayed names of parameters whose values are written at points."""
HEADINGS = {"audited": "weights recomputed", "held": "weights fixed"}
"""Titles of frames, by the column that they show."""
PRINTED_FRAME, OURS = "as printed", "ours"
"""Titles of the frames if printed points have a separate frame."""
DIFFERENCE = "difference in the same replicate"
"""Title of the frames with differences."""
SPREAD = 0.6
"""Width of a group of dodged points, as a share of the minimum distance between groups."""
NUMBERS_APART = 0.1
"""Minimum distance between numbered points, as a share of the ranges of all points."""
REFERENCE: dict[str, Any] = {"color": PRINTED, "linestyle": (0, (1, 1)), "linewidth": 1.4, "zorder": 1.5}
"""Style of the line that all synthesizers share."""


@painter("line")
class LinePainter(FramedPainter[Line]):
    """Painter of lines through means over replicates, with two standard errors."""

    READING = "Points: means; bars: two standard errors"

    def reading(self) -> str:
        """Meaning of points and error bars; empty if there is only one replicate."""
        return self.READING if any(scenario.replicates > 1 for scenario in self.display.scenarios) else ""

    def printed_range(self, table: pd.DataFrame) -> str:
        """Ranges of the printed values and of ours."""
        if "printed_low" not in table or table["printed_low"].isna().all():
            return ""
        printed, ours = table["printed_low"], table.groupby(["scenario", "synthesizer"])["value"].mean()
        ranges = f"{printed.min():.2g} to {printed.max():.2g} printed, {ours.min():.2g} to {ours.max():.2g} ours"
        return f"{self.figure.y}: {ranges}"

    def line_words(self) -> str:
        """Words of the caption on the dashed line and the value axis."""
        axis = "The value axis is linear below 0.1 and logarithmic above" if self.figure.from_zero else ""
        points = f"Numbers at points: {PARAMETERS.get(self.figure.at, self.figure.at)}" if self.figure.of_result else ""
        return ". ".join(text for text in (super().line_words(), axis, points) if text)

    def printed_words(self) -> str:
        """Sentence of the caption on printed points."""
        return "Printed points are in a separate frame" if self.figure.of_result else super().printed_words()

    def printed_handles(self, table: pd.DataFrame, lines: bool) -> list[Line2D]:
        """Legend entry for printed points, unless they have a separate frame."""
        return [] if self.figure.of_result else super().printed_handles(table, lines)

    def logarithmic(self, table: pd.DataFrame) -> pd.Series | None:
        """Mean at each point, or its x if that is on a logarithmic axis and smaller."""
        if not (self.figure.log or self.figure.x_log):
            return None
        point = ["scenario" if self.figure.panels == "scenario" else "panel", "label", "at" if "at" in table else "x"]
        means = table.groupby(point, dropna=False)[["value", "x"]].transform("mean")
        return means[["value"] * self.figure.log + ["x"] * self.figure.x_log].min(axis=1)

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Legend entries for the lines, as drawn."""
        from matplotlib.lines import Line2D

        grey = [Line2D([], [], label=self.figure.reference_label, **REFERENCE)] if self.figure.reference else []
        handles = line_handles(self.display, table)
        if self.figure.dodged:
            for handle in handles:
                handle.set_linestyle("none")
        return [*handles, *grey]

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames below each other; width of a page if differences are shown next to them."""
        return PAGE if self.figure.against else COLUMN, 1.55 * len(by_frame(self.display, table)) + 0.4

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw one frame for each panel, or for each scenario in the order of the figure, with differences next to it."""
        groups = by_frame(self.display, table)
        kinds = [
            *([PRINTED_FRAME] if self.figure.of_result and "printed_x" in table else []),
            OURS,
            *([DIFFERENCE] if self.figure.against else []),
        ]
        rows = frames(canvas, [1] * len(groups), len(kinds))
        for axes, (title, group) in zip(rows, groups, strict=True):
            for axis, kind in zip(axes, kinds, strict=True):
                self._frame(axis, kind, group)
            at = kinds.index(OURS)
            headed(axes[at], HEADINGS.get(title, title) or (OURS if at else ""), sizes(self.display, group))
            axes[at].margins(y=0.12)
            dashed(axes[at], group["line"], self.line_label(), upwards=False)
        for axis, kind in zip(rows[0], kinds, strict=True):
            if kind != OURS:
                headed(axis, kind, "")
        for axis, kind in zip(rows[-1], kinds, strict=True):
            axis.set_xlabel(f"{self.figure.x_label}{', difference' * (kind == DIFFERENCE and self.figure.of_result)}")

    def _frame(self, axis: Axes, kind: str, group: pd.DataFrame) -> None:
        """Draw a frame with our values, printed values or differences."""
        level = kind != DIFFERENCE
        table = group if level else differences(group, self.figure.against)
        if kind == PRINTED_FRAME:
            table = printed_points(table)
        self._curves(axis, table)
        if kind == OURS and not self.figure.of_result:
            self._references(axis, table)
        axis.set_ylabel(self.figure.y if level else f"minus {self.figure.against}")
        self._scales(axis, table, level)
        self._named(axis, table)
        if self.figure.of_result:
            self._numbered(axis, table)

    def _scales(self, axis: Axes, table: pd.DataFrame, level: bool) -> None:
        """Set logarithmic axes, a tick at each x value if there are few, and a line at a difference of 0."""
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
        """Write the names and values of lines that are entirely above the upper edge."""
        from matplotlib.patheffects import withStroke

        top = self.figure.top
        if top is None:
            return
        axis.set_ylim(top=top)
        least = table.groupby("label", sort=False)["value"].min()
        words = [f"↑ {label}: at least {float(f'{value:.2g}'):,.10g}" for label, value in least.items() if value > top]
        text = axis.text(0.01, 0.98, "\n".join(words), ha="left", va="top", transform=axis.transAxes, zorder=5)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])

    def _numbered(self, axis: Axes, table: pd.DataFrame) -> None:
        """Write the parameter values at the points of one line: the line whose points are furthest apart."""
        from matplotlib.patheffects import withStroke

        name = PARAMETERS.get(self.figure.at, self.figure.at)
        lines = {label: part.groupby("at")[["x", "value"]].mean() for label, part in by_name(table, "label")}
        every = np.concatenate([line.to_numpy(float) for line in lines.values()])
        ranges = np.ptp(every, axis=0)
        ranges[ranges == 0] = 1
        scaled = {label: line.to_numpy(float) / ranges for label, line in lines.items()}
        label = max(lines, key=lambda label: float(np.hypot(*np.diff(scaled[label], axis=0).T).min(initial=np.inf)))
        last = np.array([-np.inf, -np.inf])
        for (at, x, y), here in zip(lines[label].reset_index().to_numpy(float), scaled[label], strict=True):
            if np.hypot(*(here - last)) < NUMBERS_APART:
                continue
            words, side = (f"{at:g}", "center") if np.isfinite(last).all() else (f"{name} = {at:g}", "left")
            last = here
            text = axis.annotate(words, (x, y), (0, 4), textcoords="offset points", ha=side, va="bottom", zorder=5)
            text.set_path_effects([withStroke(linewidth=2, foreground="white")])

    def _curves(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw a line through the mean points of each label or, if dodged, the points of all labels next to each other."""
        labels = list(table["label"].unique())
        for k, (_, part) in enumerate(table.groupby("label", sort=False)):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            id = part["synthesizer"].iloc[0]
            look = self.display.looks[id]
            drawn = line_look(look.colour, mark_of(look.guarantee), line_place(self.display, id))
            if part["x"].isna().all():  # the label does not have the parameter on the x axis
                axis.axhline(part["value"].mean(), **drawn)
            else:
                across = points["x"].mean()
                if self.figure.dodged:
                    drawn["linestyle"] = "none"
                    across = dodged(across, (k - (len(labels) - 1) / 2) / len(labels), self.figure.x_log)
                axis.errorbar(across, mean, error_bars(error), capsize=1.5, elinewidth=0.8, **drawn)

    def _references(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw in grey the line that all synthesizers share, and the printed values, with the markers of their lines."""
        if self.figure.reference:
            points = table.groupby("x")["common"].mean()
            axis.plot(points.index, points, **REFERENCE)
        if "printed_low" in table:
            for id, part in by_name(table.dropna(subset=["printed_low", "x"]), "synthesizer"):
                marker = MARKERS[line_place(self.display, id) % len(MARKERS)]
                printed = part[["x", "printed_low"]].drop_duplicates()
                axis.scatter(
                    printed["x"], printed["printed_low"], s=14, marker=marker, facecolors="none", edgecolors=PRINTED,
                    linewidths=0.9, zorder=3,
                )  # fmt: skip


def differences(table: pd.DataFrame, against: str) -> pd.DataFrame:
    """Subtract the values of one label in the same replicate at the same point; also those of x if x is itself a result.

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


def printed_points(table: pd.DataFrame) -> pd.DataFrame:
    """Replace our points of a frame by the printed ones, for points with two printed coordinates."""
    cells = table.dropna(subset=["printed_x", "printed_low"]).drop_duplicates(["label", "at"])
    return cells.assign(x=cells["printed_x"], value=cells["printed_low"])


def dodged(across: pd.Series, share: float, log: bool) -> pd.Series:
    """X values of the points of one label, shifted by a share of the width of a group of points."""
    places = np.log(across) if log else across
    steps = np.diff(np.sort(places))
    moved = places + share * SPREAD * (steps.min() if len(steps) else 1.0)
    return np.exp(moved) if log else moved


def error_bars(error: pd.Series) -> pd.Series | None:
    """Error bars; None if all errors are 0, as with a single replicate."""
    return error if (error > 0).any() else None
