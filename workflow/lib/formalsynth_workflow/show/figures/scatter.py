"""Scatter plots: one column against another, record by record."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from formalsynth_workflow.show.drawing import grid, headed, titled
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import COLUMN, INK, PAGE, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle

MARKERS = ("o", "^", "s", "v")


@figure_kind("scatter")
class Scatter(Figure):
    """Scatter plot with one point for each row and synthesizer."""

    ALT = "Scatter plot"
    FRAMES = ("none", "synthesizer")
    READING = "One point for each record"

    kind: Literal["scatter"]
    value: str = Field(description="Column that is drawn.")
    x: str = Field(min_length=1, description="Column on the x axis.")
    x_label: str = Field("", description="Label of the x axis.")
    before: dict[str, str] = Field(
        default_factory=dict,
        description="Synthesizer with the x of each record, by that with its y.",
    )
    line: Literal["none", "delta"] = Field("none", description="Dashed line: each synthesizer's Δ, its largest value.")

    def line_words(self) -> str:
        """Words of the caption on the dashed lines; empty if there are none."""
        equal = "Dotted: no change" if self.before else ""
        return "Dashed lines: Δ, the largest bound" if self.line == "delta" else equal

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column for one frame, otherwise of a page."""
        return COLUMN if self.panels == "none" else PAGE, self.HEIGHT + self.MARGIN

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Pair the values of each record if config requests it."""
        if not self.before:
            return tidy
        keys = ["scenario", "replicate", "record"]
        values = tidy.set_index(["synthesizer", *keys])["value"]
        drawn = tidy[tidy["synthesizer"].isin(list(self.before))]
        pairs = drawn.assign(synthesizer=drawn["synthesizer"].map(self.before)).set_index(["synthesizer", *keys]).index
        return drawn.assign(x=values.reindex(pairs).to_numpy())

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the points, as drawn, if synthesizers share a frame."""
        from matplotlib.lines import Line2D

        ids = list(table["synthesizer"].unique()) if self.panels != "synthesizer" else []
        return [
            Line2D(
                [], [], linestyle="", marker=marker, markersize=4, color=edge(display.looks[id].colour), label=display.named(id)
            )
            for id, marker in zip(ids, itertools.cycle(MARKERS), strict=False)
        ]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw the frames side by side, with the same x limits."""
        margin = 0.04 * (table["x"].max() - table["x"].min()) or 0.5
        groups = titled(display, table)
        axes = grid(canvas, len(groups), len(groups), sharex=True, sharey=True)
        for axis, (title, group) in zip(axes, groups, strict=True):
            headed(axis, title)
            if self.before:
                axis.axline((0, 0), slope=1, color=INK, linewidth=0.6, linestyle=":")
            self._draw_points(axis, group, display)
            axis.margins(y=0.12)
            axis.set_xlim(float(table["x"].min() - margin), float(table["x"].max() + margin))
            axis.set_xlabel(self.x_label)
        axes[0].set_ylabel(display.value_label)

    def _draw_points(self, axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
        """Draw the points of each synthesizer, and a dashed line at their largest value."""
        for k, (id, points) in enumerate(by_name(table, "synthesizer")):
            colour, marker = edge(display.looks[id].colour), MARKERS[k % len(MARKERS)]
            axis.scatter(
                points["x"], points["value"], s=7, alpha=0.45, linewidths=0, color=colour, marker=marker, rasterized=True
            )
            if self.line == "delta":
                largest = points["value"].max()
                axis.axhline(largest, linestyle=(0, (4, 2)), color=colour, linewidth=0.9)
                side, off = ("bottom", 2) if largest == table["value"].max() else ("top", -2)
                axis.annotate(
                    f"Δ = {largest:.3g}", (0.005, largest), (0, off), axis.get_yaxis_transform(), "offset points", va=side,
                    color=colour,
                )  # fmt: skip
