"""Lines: means over replicates, plotted against another column."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from formalsynth_workflow.show.drawing import (
    MARKERS,
    dashed,
    frames,
    from_nothing,
    headed,
    line_handles,
    line_look_of,
    line_place,
    sizes,
    ticks_at,
)  # fmt: skip
from formalsynth_workflow.show.figure import FigureDisplay, Framed, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.names import outline
from formalsynth_workflow.show.style import COLUMN, PAGE, PRINTED
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle, Series

PARAMETERS = {"epsilon": "ε"}
"""Displayed names of parameters whose values are written at points."""
HEADINGS = {"audited": "weights recomputed", "held": "weights fixed", "epsilon": "claimed ε", "ecdf_max": "max-ECDF"}
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


@figure_kind("line")
class Line(Framed):
    """Means over replicates against ``x``, with two standard errors and one line for each label.

    A label without the parameter on the x axis is drawn as a horizontal line.
    """

    ALT = "Lines through points"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True
    PRINTS = True
    READING = "Points: means; bars: two standard errors"
    HEIGHT = 1.55
    MARGIN = 0.4

    kind: Literal["line"]
    at: str = Field("", description="Parameter whose values are the points of a line, if x is itself a result or is left out.")
    x: str = Field("", validate_default=True, description="Column on the x axis; if left out, the parameter that at names.")
    x_log: bool = Field(False, description="True for a logarithmic x axis.")
    x_label: str = Field("", description="Label of the x axis.")
    from_zero: bool = Field(False, description="Value axis from 0, logarithmic above 0.1, for values that may be 0.")
    top: float | None = Field(None, gt=0, description="Lines entirely above this are named at the upper edge instead of drawn.")
    dodged: bool = Field(False, description="Points next to each other, without lines; for few x values.")
    against: str = Field(
        "",
        description="Label whose values in the same replicate are subtracted from those of the others, in additional frames.",
    )
    reference: str = Field("", description="Column whose value all synthesizers of a replicate share, drawn as one grey line.")
    reference_label: str = Field("", description="Name of the grey line.")

    @field_validator("x")
    @classmethod
    def _has_points(cls, x: str, info: ValidationInfo) -> str:
        if not x and not info.data.get("at"):
            raise ValueError("x is missing, and at does not name a parameter to use instead")
        return x

    @property
    def printed_apart(self) -> bool:
        """True if x is itself a result and a parameter defines the points of a line; then printed points have a frame."""
        return bool(self.at and self.x)

    def reading(self, display: FigureDisplay) -> str:
        """Meaning of points and error bars; empty if there is only one replicate."""
        return self.READING if any(scenario.replicates > 1 for scenario in display.scenarios) else ""

    def printed_range(self, table: DataFrame) -> str:
        """Ranges of the printed values and of ours."""
        if "printed_low" not in table or table["printed_low"].isna().all():
            return ""
        printed, ours = table["printed_low"], table.groupby(["scenario", "synthesizer"])["value"].mean()
        return f"{self.y}: {printed.min():.2g} to {printed.max():.2g} printed, {ours.min():.2g} to {ours.max():.2g} ours"

    def line_words(self) -> str:
        """Words of the caption on the dashed line and the value axis."""
        axis = "The value axis is linear below 0.1 and logarithmic above" if self.from_zero else ""
        points = f"Numbers at points: {PARAMETERS.get(self.at, self.at)}" if self.printed_apart else ""
        return ". ".join(text for text in (super().line_words(), axis, points) if text)

    def logarithmic(self, table: DataFrame) -> Series | None:
        """Mean at each point, or its x if that is on a logarithmic axis and smaller."""
        if not (self.log or self.x_log):
            return None
        point = ["scenario" if self.panels == "scenario" else "panel", "label", "at" if "at" in table else "x"]
        means = table.groupby(point, dropna=False)[["value", "x"]].transform("mean")
        return means[["value"] * self.log + ["x"] * self.x_log].min(axis=1)

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the lines, as drawn."""
        from matplotlib.lines import Line2D

        grey = [Line2D([], [], label=self.reference_label, **REFERENCE)] if self.reference else []
        handles = line_handles(display, table)
        if self.dodged:
            for handle in handles:
                handle.set_linestyle("none")
        return [*handles, *grey]

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames below each other; width of a page if differences are shown next to them."""
        return PAGE if self.against else COLUMN, super().inches(display, table)[1]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw one frame for each panel, or for each scenario in the order of the figure, with differences next to it."""
        groups = self.frames(display, table)
        kinds = [
            *([PRINTED_FRAME] if self.printed_apart and "printed_x" in table else []),
            OURS,
            *([DIFFERENCE] if self.against else []),
        ]
        rows = frames(canvas, [1] * len(groups), len(kinds))
        for axes, (title, group) in zip(rows, groups, strict=True):
            for axis, kind in zip(axes, kinds, strict=True):
                self._draw_frame(axis, kind, group, display)
            at = kinds.index(OURS)
            headed(axes[at], HEADINGS.get(title, title) or (OURS if at else ""), sizes(display, group))
            axes[at].margins(y=0.12)
            dashed(axes[at], group["line"], self.line_name(), upwards=False)
        for axis, kind in zip(rows[0], kinds, strict=True):
            if kind != OURS:
                headed(axis, kind, "")
        for axis, kind in zip(rows[-1], kinds, strict=True):
            axis.set_xlabel(f"{self.x_label}{', difference' * (kind == DIFFERENCE and self.printed_apart)}")

    def _draw_frame(self, axis: Axes, kind: str, group: DataFrame, display: FigureDisplay) -> None:
        """Draw a frame with our values, printed values or differences."""
        level = kind != DIFFERENCE
        table = group if level else differences(group, self.against)
        if kind == PRINTED_FRAME:  # our points are replaced by those with two printed coordinates
            cells = table.dropna(subset=["printed_x", "printed_low"]).drop_duplicates(["label", "at"])
            table = cells.assign(x=cells["printed_x"], value=cells["printed_low"])
        self._draw_curves(axis, table, display)
        if kind == OURS and not self.printed_apart:
            self._draw_references(axis, table, display)
        axis.set_ylabel(self.y if level else f"minus {self.against}")
        self._scale(axis, table, level)
        self._write_high_lines(axis, table)
        if self.printed_apart:
            self._write_parameters(axis, table)

    def _scale(self, axis: Axes, table: DataFrame, level: bool) -> None:
        """Set logarithmic axes, a tick at each x value if there are few, and a line at a difference of 0."""
        if not level:
            axis.axhline(0, color="#1a1a1a", linewidth=0.6, zorder=0)
        if self.x_log and (level or not self.printed_apart):
            axis.set_xscale("log")
        if self.log and level:
            axis.set_yscale("log")
        if self.from_zero and level:
            from_nothing(axis, "y")
        if not self.printed_apart:
            ticks_at(axis.xaxis, table["x"].dropna())

    def _write_high_lines(self, axis: Axes, table: DataFrame) -> None:
        """Write the names and values of lines that are entirely above the upper edge."""
        if self.top is None:
            return
        axis.set_ylim(top=self.top)
        least = table.groupby("label", sort=False)["value"].min()
        words = [f"↑ {label}: at least {float(f'{value:.2g}'):,.10g}" for label, value in least.items() if value > self.top]
        outline(axis.text(0.01, 0.98, "\n".join(words), ha="left", va="top", transform=axis.transAxes, zorder=5), 2.5)

    def _write_parameters(self, axis: Axes, table: DataFrame) -> None:
        """Write the parameter values at the points of one line: the line whose points are furthest apart."""
        name = PARAMETERS.get(self.at, self.at)
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
            outline(axis.annotate(words, (x, y), (0, 4), textcoords="offset points", ha=side, va="bottom", zorder=5), 2)

    def _draw_curves(self, axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
        """Draw a line through the mean points of each label or, if dodged, the points of all labels next to each other."""
        groups = by_name(table, "label")
        for k, (_, part) in enumerate(groups):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            drawn = line_look_of(display, part["synthesizer"].iloc[0])
            if part["x"].isna().all():  # the label does not have the parameter on the x axis
                axis.axhline(part["value"].mean(), **drawn)
                continue
            across = points["x"].mean()
            if self.dodged:
                drawn["linestyle"] = "none"
                across = shifted(across, (k - (len(groups) - 1) / 2) / len(groups), self.x_log)
            bars = error if (error > 0).any() else None  # a single replicate has none
            axis.errorbar(across, mean, bars, capsize=1.5, elinewidth=0.8, **drawn)

    def _draw_references(self, axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
        """Draw in grey the line that all synthesizers share, and the printed values, with the markers of their lines."""
        if self.reference:
            points = table.groupby("x")["common"].mean()
            axis.plot(points.index, points, **REFERENCE)
        if "printed_low" in table:
            for id, part in by_name(table.dropna(subset=["printed_low", "x"]), "synthesizer"):
                marker = MARKERS[line_place(display, id) % len(MARKERS)]
                printed = part[["x", "printed_low"]].drop_duplicates()
                axis.scatter(
                    printed["x"], printed["printed_low"], s=14, marker=marker, facecolors="none", edgecolors=PRINTED,
                    linewidths=0.9, zorder=3,
                )  # fmt: skip


def differences(table: DataFrame, against: str) -> DataFrame:
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


def shifted(across: Series, share: float, log: bool) -> Series:
    """X values of the points of one label, shifted by a share of the width of a group of points."""
    places = np.log(across) if log else across
    steps = np.diff(np.sort(places))
    moved = places + share * SPREAD * (steps.min() if len(steps) else 1.0)
    return np.exp(moved) if log else moved
