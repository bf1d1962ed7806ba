"""Densities: distributions of values, with all synthesizers in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.arrays import Array
from formalsynth_workflow.show.drawing import STYLES, density, drawn_ids, grid, headed, line_place, titled
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import COLUMN, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle

POINTS = 300
"""Number of points of a curve."""
EQUAL = 1e-9
"""Relative difference up to which values count as equal."""
BINS = 40
"""Number of bars of a histogram under an exact curve."""
SHADE = 0.18
"""Opacity of the area below a curve."""


@figure_kind("density")
class Density(Figure):
    """Densities of the values as filled curves, one for each synthesizer; with ``exact``, curves that the study computed."""

    ALT = "Density curves"
    READING = "The area under each curve is 1"

    kind: Literal["density"]
    value: str = Field(description="Column that is drawn.")
    exact: bool = Field(False, description="Draw the exact densities in the study's details instead of kernel densities.")
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
        known = [part for id, part in by_name(table, "synthesizer") if not display.looks[id].guarantee.startswith("none")]
        words = ", ".join(f"{_spread(part):.3g}" for part in known)
        return [("as they are", table), (f"around their means\nsd {words}", table.assign(**moved))]

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames side by side."""
        return COLUMN, 1.75

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the curves."""
        from matplotlib.lines import Line2D

        return [Line2D([], [], label=display.named(id), **_line(display, id)) for id in drawn_ids(display, table)]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw the frames side by side."""
        groups = titled(display, table)
        axes = grid(canvas, len(groups), len(groups))
        for axis, (title, group) in zip(axes, groups, strict=True):
            headed(axis, title)
            for id, part in by_name(group, "synthesizer"):
                _draw_curve(axis, part, display, id)
            axis.set(ylim=(0, None), xlabel=display.value_label)
        axes[0].set_ylabel("density")
        if self.zoom:
            axes[-1].set_xlim(-self.zoom, self.zoom)


def _line(display: FigureDisplay, id: str) -> dict[str, Any]:
    """Look of a synthesizer's curve."""
    return {"color": edge(display.looks[id].colour), "linewidth": 1.1, "linestyle": STYLES[line_place(display, id) % len(STYLES)]}


def _draw_curve(axis: Axes, part: DataFrame, display: FigureDisplay, id: str) -> None:
    """Draw the exact density of a synthesizer if there is one, otherwise a kernel density, or a line at equal values."""
    values, exact = part["value"].dropna().to_numpy(float), _exact(part)
    if not len(exact) and (np.ptp(values) <= EQUAL * np.abs(values).max() or not np.var(values)):
        axis.axvline(float(values.mean()), **_line(display, id))
        return
    across: Array = exact["x"].to_numpy(float) if len(exact) else np.linspace(values.min(), values.max(), POINTS)
    heights = exact["density"].to_numpy(float) if len(exact) else density(values, across)
    axis.plot(across, heights, **_line(display, id))
    if len(exact) and len(values) > 1:  # an exact density and a simulation
        axis.hist(values, BINS, density=True, color=display.looks[id].colour, alpha=SHADE, linewidth=0)
    else:
        axis.fill_between(across, heights, color=display.looks[id].colour, alpha=SHADE, linewidth=0)


def _exact(part: DataFrame) -> DataFrame:
    """Points of the exact density of a synthesizer; no rows if there is none."""
    return part[part["density"].notna()] if "density" in part else part[:0]


def _spread(table: DataFrame) -> float:
    """Spread (standard deviation) of the exact density if there is one, otherwise of the values."""
    exact = _exact(table)
    if exact.empty:
        return float(table["value"].std())
    across, heights = exact["x"].to_numpy(float), exact["density"].to_numpy(float)
    mean = np.trapezoid(across * heights, across)
    return float(np.sqrt(np.trapezoid((across - mean) ** 2 * heights, across)))
