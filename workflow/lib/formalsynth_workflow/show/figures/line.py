"""Lines: means over replicates, plotted against another column."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from formalsynth.core.words import equation
from formalsynth_workflow.show.drawing import (
    MARKERS,
    dashed,
    drawn_ids,
    from_nothing,
    grid,
    headed,
    line_handles,
    line_look_of,
    line_place,
    ticks_at,
    titled,
)  # fmt: skip
from formalsynth_workflow.show.figure import FigureDisplay, Framed, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.names import outline
from formalsynth_workflow.show.style import COLUMN, PAGE, PRINTED
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle, Series

HEADINGS = {"audited": "weights recomputed", "held": "weights fixed", "epsilon": "claimed ε", "ecdf_max": "max-ECDF"}
"""Titles of frames, by the column that they show."""
DIFFERENCE = "difference"
"""Title of the frames with differences."""
MOST = 4
"""Largest number of frames in a row."""
SPREAD = 0.6
"""Width of a group of dodged points, as a share of the minimum distance between groups."""
REFERENCE: dict[str, Any] = {"color": PRINTED, "linestyle": (0, (1, 1)), "linewidth": 1.4, "zorder": 1.5}
"""Style of the line that all synthesizers share."""
ARROW: dict[str, Any] = {
    "arrowstyle": "-|>,head_width=0.12,head_length=0.25", "linewidth": 0.6, "alpha": 0.6, "shrinkA": 0, "shrinkB": 3,
}  # fmt: skip
"""Style of the arrows from printed points to ours."""


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
    HEIGHT = 1.45
    MARGIN = 0.25

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
    only_differences: bool = Field(False, description="Differences without the values themselves.")
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
        """True if x is a result, and a parameter has the points of a line; arrows lead from printed points to ours, in frames."""
        return bool(self.at and self.x)

    def reading(self, display: FigureDisplay) -> str:
        """Meaning of points and error bars; empty if there is only one replicate."""
        return self.READING if any(scenario.replicates > 1 for scenario in display.scenarios) else ""

    def printed_range(self, table: DataFrame) -> str:
        """Ranges of the printed values and of ours."""
        if "printed_low" not in table or table["printed_low"].isna().all():
            return ""
        printed, ours = table["printed_low"], table.groupby(["scenario", "synthesizer"])["value"].mean()
        words = f"{self.y}: {printed.min():.2g} to {printed.max():.2g} printed, {ours.min():.2g} to {ours.max():.2g} ours"
        return words[:1].upper() + words[1:]

    def line_words(self) -> str:
        """Words of the caption on the dashed line, the value axis and the arrows."""
        axis = "The value axis is linear below 0.1 and logarithmic above" if self.from_zero else ""
        arrows = "Arrows: from the printed point to ours" if self.printed_apart else ""
        return ". ".join(text for text in (super().line_words(), axis, arrows) if text)

    def logarithmic(self, table: DataFrame) -> Series | None:
        """Mean at each point, or its x if that is on a logarithmic axis and smaller."""
        if not (self.log or self.x_log):
            return None
        point = ["scenario" if self.panels == "scenario" else "panel", "label", "at" if "at" in table else "x"]
        means = table.groupby(point, dropna=False)[["value", "x"]].transform("mean")
        return means[["value"] * self.log + ["x"] * self.x_log].min(axis=1)

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the lines, as drawn; lines above the upper edge have their names there. None for a single line."""
        from matplotlib.lines import Line2D

        grey = [Line2D([], [], label=self.reference_label, **REFERENCE)] if self.reference else []
        inside = table[~table["label"].isin(self._high_lines(table))]
        handles, level = line_handles(display, inside), inside.groupby("label")["x"].count() == 0
        labels = dict.fromkeys(display.looks[id].label for id in drawn_ids(display, inside))
        for handle, label in zip(handles, labels, strict=True):
            if level[label]:
                handle.set_marker("none")
            elif self.dodged or self._apart(table):
                handle.set_linestyle("none")
        return [] if len(handles) + len(grey) == 1 and "printed_low" not in table else [*handles, *grey]

    def frames(self, display: FigureDisplay, table: DataFrame) -> list[tuple[str, DataFrame]]:
        """Frames of a figure; with several scenarios and a parameter, a row for each value and a column for each scenario.

        With arrows, the points of each value of the parameter have their own frame.
        """
        if self._apart(table):
            return [(equation(self.at, f"{value:g}"), part) for value, part in by_number(table, "at")]
        labels = {scenario.id: scenario.label for scenario in display.scenarios}
        if not self._crossed(display):
            return super().frames(display, table)
        first, groups = table["panel"].iloc[0], table.groupby(["panel", "scenario"], sort=False)
        parts = {(panel, id): part for (panel, id), part in groups}
        panels = dict.fromkeys(panel for panel, _ in parts)
        cells = [(panel, id) for panel in panels for id in labels if (panel, id) in parts]
        return [(labels[id] if panel == first else "", parts[panel, id]) for panel, id in cells]

    def _apart(self, table: DataFrame) -> bool:
        """Return True if arrows lead from printed points to ours."""
        return self.printed_apart and "printed_x" in table

    def _crossed(self, display: FigureDisplay) -> bool:
        """Return True if frames are of both a parameter and a scenario."""
        return self.panels not in ("none", "scenario") and len({scenario.name for scenario in display.scenarios}) > 1

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column for a single frame, otherwise of a page; frames are side by side."""
        number = len(self._frames(display, table))
        rows = -(-number // MOST)
        tall = self.HEIGHT if rows < 3 else 0.9
        return COLUMN if number == 1 else PAGE, tall * rows + self.MARGIN

    def _frames(self, display: FigureDisplay, table: DataFrame) -> list[tuple[str, DataFrame, bool]]:
        """Titles and tables of the frames with values and, if config requests them, of those with differences."""
        groups = [(HEADINGS.get(title, title), group) for title, group in titled(display, table)]
        values = [] if self.only_differences else [(title, group, False) for title, group in groups]
        if not self.against:
            return values
        alone = DIFFERENCE * (len(groups) == 1)
        rest = [(title if self.only_differences else alone, differences(group, self.against), True) for title, group in groups]
        return [*values, *rest]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw one frame for each panel or scenario, and those with differences after them."""
        groups = self._frames(display, table)
        across = min(len(groups), MOST)
        values = isinstance(self.value, str) and not self.against and self.panels != "scenario"
        axes = grid(canvas, len(groups), across, sharex=len(groups) > 1, sharey=values)
        for k, (axis, (title, group, minus)) in enumerate(zip(axes, groups, strict=True)):
            self._draw_curves(axis, group, display)
            if not minus:
                self._draw_references(axis, group, display)
                axis.margins(y=0.12)
                dashed(axis, group["line"], self.line_name(), upwards=False)
            self._scale(axis, group, minus)
            self._write_high_lines(axis, group)
            headed(axis, title)
            if k % across == 0 or minus > groups[k - 1][2]:
                words = f"minus {self.against}" if minus else display.value_label
                axis.set_ylabel(str(group["panel"].iloc[0]) if self._crossed(display) else words)
        for axis in axes:
            if not self.printed_apart:
                ticks_at(axis.xaxis, table["x"].dropna())
        for axis in axes[-across:]:
            axis.set_xlabel(display.x_label)

    def _scale(self, axis: Axes, table: DataFrame, minus: bool) -> None:
        """Set logarithmic axes, and a line at a difference of 0."""
        if minus:
            axis.axhline(0, color="#1a1a1a", linewidth=0.6, zorder=0)
        if self.x_log:
            axis.set_xscale("log")
        if self.log and not minus:
            axis.set_yscale("log")
        if self.from_zero and not minus:
            from_nothing(axis, "y")

    def _high_lines(self, table: DataFrame) -> dict[str, float]:
        """Smallest value of each line that is entirely above the upper edge, by label."""
        least = table.groupby("label", sort=False)["value"].min()
        return {str(label): value for label, value in least.items() if self.top is not None and value > self.top}

    def _write_high_lines(self, axis: Axes, table: DataFrame) -> None:
        """Write the names and values of lines that are entirely above the upper edge."""
        if self.top is None:
            return
        axis.set_ylim(top=self.top)
        words = [f"↑ {label}: at least {float(f'{value:.2g}'):,.10g}" for label, value in self._high_lines(table).items()]
        outline(axis.text(0.01, 0.98, "\n".join(words), ha="left", va="top", transform=axis.transAxes, zorder=5), 2.5)

    def _draw_curves(self, axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
        """Draw a line through the mean points of each label or, if dodged, the points of all labels next to each other."""
        for k, (_, part) in enumerate(by_name(table, "label")):
            points = part.groupby("at" if "at" in part else "x")
            mean, error = points["value"].mean(), (2 * points["value"].sem()).fillna(0)
            drawn = line_look_of(display, part["synthesizer"].iloc[0])
            if part["x"].isna().all():  # the label does not have the parameter on the x axis
                axis.axhline(part["value"].mean(), **drawn | {"marker": "none"})
                continue
            across = self._dodged(table, points["x"].mean(), k)
            if self.dodged:
                drawn["linestyle"] = "none"
            bars = error if (error > 0).any() else None  # a single replicate has none
            axis.errorbar(across, mean, bars, capsize=1.5, elinewidth=0.8, **drawn)

    def _dodged(self, table: DataFrame, across: Series, place: int) -> Series:
        """X values of the points of a label, moved by its place among the labels if config requests it."""
        if not self.dodged:
            return across
        number, values = table["label"].nunique(), np.sort(table["x"].dropna().unique())
        steps = np.diff(np.log(values) if self.x_log else values)
        shift = (place - (number - 1) / 2) / number * SPREAD * (steps.min() if len(steps) else 1.0)
        return across * np.exp(shift) if self.x_log else across + shift

    def _draw_references(self, axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
        """Draw in grey the line that all synthesizers share, and the printed values: as markers, or with arrows to ours."""
        if self.reference:
            points = table.groupby("x")["common"].mean()
            axis.plot(points.index, points, **REFERENCE)
        if "printed_low" not in table:
            return
        labels = list(table["label"].unique())
        for id, part in by_name(table.dropna(subset=["printed_low"]), "synthesizer"):
            if self._apart(table):
                ours, printed = part[["x", "value"]].mean(), part[["printed_x", "printed_low"]].iloc[0]
                colour = line_look_of(display, id)["color"]
                axis.annotate("", tuple(ours), tuple(printed), arrowprops=ARROW | {"color": colour})
                axis.update_datalim([tuple(printed)])
            marker = MARKERS[line_place(display, id) % len(MARKERS)]
            places = part[["printed_x" if self.printed_apart else "x", "printed_low"]].dropna().drop_duplicates()
            across = self._dodged(table, places.iloc[:, 0], labels.index(part["label"].iloc[0]))
            axis.scatter(
                across, places.iloc[:, 1], s=14, marker=marker, facecolors="none", edgecolors=PRINTED,
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
