"""Densities: distributions of values, with all synthesizers in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.show.drawing import curve, density, stacked
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame

POINTS = 300
"""Number of points of a curve."""
APART = 0.2
"""Distance between markers along a line, as a share of the frame's diagonal."""
EQUAL = 1e-9
"""Relative difference up to which values count as equal."""
BINS = 40
"""Number of bars of a histogram under an exact curve."""


@figure_kind("density")
class Density(Figure):
    """Kernel densities of the values, one line for each synthesizer; with ``exact``, exact curves over histograms."""

    ALT = "Density curves"
    READING = "The area under each curve is 1"
    LINES = True

    kind: Literal["density"]
    value: str = Field(description="Column that is drawn.")
    exact: bool = Field(False, description="Draw the exact densities in the study's details over histograms of the values.")
    centred: bool = Field(False, description="Add a second frame with each distribution centred at its mean, and its spread.")
    zoom: float | None = Field(None, gt=0, description="Distance that the second frame shows on either side of the mean.")

    def tables(self) -> list[str]:
        """Names of the collected tables that it reads for each scenario."""
        return [self.table, *(["details"] if self.exact else [])]

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the points of the exact densities to the tidy table, if config requests them."""
        import pandas as pd

        if not self.exact:
            return tidy
        exact = pd.concat([table for table in collected if "density" in table], ignore_index=True)
        if "column" in exact:  # a study with curves of several columns
            exact = exact[exact["column"] == self.value].drop(columns="column")
        return pd.concat([tidy, exact[exact["synthesizer"].isin(display.ids)].assign(panel="")], ignore_index=True)

    def frames(self, display: FigureDisplay, table: DataFrame) -> list[tuple[str, DataFrame]]:
        """One frame and, with ``centred``, a second one around the means."""
        if not self.centred:
            return [("", table)]
        centre = table.groupby("synthesizer")["value"].transform("mean")
        moved = {column: table[column] - centre for column in ("value", "x") if column in table}
        return [("as they are", table), ("around their means", table.assign(**moved))]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw the frames below each other."""
        for axis, group in stacked(display, table, canvas, shared=False):
            for id, part in by_name(group, "synthesizer"):
                self._draw_curve(axis, part, display, id)
            axis.set(ylabel="density", ylim=(0, None))
        if self.zoom:
            axis.set_xlim(-self.zoom, self.zoom)
        if self.centred:
            _write_spreads(axis, table, display)
        axis.set_xlabel(self.y)

    def _draw_curve(self, axis: Axes, part: DataFrame, display: FigureDisplay, id: str) -> None:
        """Draw the exact density of a synthesizer over a histogram if there is one, otherwise a kernel density."""
        values, colour, exact = part["value"].dropna().to_numpy(float), display.looks[id].colour, _exact(part)
        if len(exact):
            if len(values) > 1:
                axis.hist(values, BINS, density=True, color=colour, alpha=0.3, linewidth=0)
            curve(axis, display, id, APART, exact["x"].to_numpy(float), exact["density"].to_numpy(float))
        elif np.ptp(values) <= EQUAL * np.abs(values).max() or not np.var(values):
            value, label = float(values.mean()), part["label"].iloc[0]  # a line, because equal values have no density
            axis.axvline(value, color=edge(colour))
            axis.annotate(
                f"{label}: all = {value:.4g}", (value, 1), (2, -1), axis.get_xaxis_transform(), "offset points",
                ha="left", va="top",
            )  # fmt: skip
        else:
            across = np.linspace(values.min(), values.max(), POINTS)
            curve(axis, display, id, APART, across, density(values, across))


def _exact(part: DataFrame) -> DataFrame:
    """Points of the exact density of a synthesizer; no rows if there is none."""
    return part[part["density"].notna()] if "density" in part else part[:0]


def _write_spreads(axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
    """Write the standard deviation of each distribution into the frame of the centred distributions."""
    shown = [(display.looks[id], part) for id, part in by_name(table, "synthesizer")]
    words = [f"sd {look.label}: {_spread(part):.3g}" for look, part in shown if not look.guarantee.startswith("none")]
    axis.set_ylim(top=1.4 * axis.get_ylim()[1])  # room for the words
    axis.text(0.01, 0.97, "\n".join(words), ha="left", va="top", transform=axis.transAxes)


def _spread(table: DataFrame) -> float:
    """Spread (standard deviation) of the exact density if there is one, otherwise of the values."""
    exact = _exact(table)
    if exact.empty:
        return float(table["value"].std())
    across, heights = exact["x"].to_numpy(float), exact["density"].to_numpy(float)
    mean = np.trapezoid(across * heights, across)
    return float(np.sqrt(np.trapezoid((across - mean) ** 2 * heights, across)))
