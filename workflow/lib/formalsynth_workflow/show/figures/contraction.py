"""Contraction: the spread of values by sample size, compared with the rate that theory predicts."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.show.display import Look
from formalsynth_workflow.show.drawing import headed, sizes, small_frames, ticks_at
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_number
from formalsynth_workflow.show.limit_law import OfLimitLaw
from formalsynth_workflow.show.rates import rate
from formalsynth_workflow.show.style import FAINT, INK, edge, mark_of
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle

OUTER = (0.05, 0.95)
"""Quantiles of the values at which the cone starts."""
HEADROOM = 0.12
"""Space for the slope above the values, as a share of a frame's height."""


@figure_kind("contraction")
class Contraction(OfLimitLaw):
    """Values relative to their median at the smallest sample size, by sample size, with the cone of the rate n^-1/2."""

    HEIGHT = 1.3
    MARGIN = 0.4
    IN_A_ROW = 2
    ALT = "Small panels of values by sample size"
    FRAMES = ("synthesizer",)
    READING = (
        "Values are divided by their median at the smallest n; dots: replicates; marker: median; bar: middle half; grey: the "
        "range of nine in ten values if their spread fell like n^-1/2; slope: that of the log standard deviation on log n, with "
        "its standard error"
    )
    LAW_WORDS = "Dashed: median of the limit law, and one standard deviation above and below it"

    kind: Literal["contraction"]
    value: str = Field(description="Column that is drawn.")
    panels: str = Field("synthesizer", description="synthesizer: one frame for each.")

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the band and the law, which the frames do not name."""
        from matplotlib.lines import Line2D

        band = Line2D([], [], color=FAINT, alpha=0.3, linewidth=6, solid_capstyle="butt", label="if the spread fell like n⁻¹ᐟ²")
        law = Line2D([], [], color=INK, linestyle="--", linewidth=1, label="limit law, ± sd")
        return [band, *([law] if self.law else [])]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each synthesizer, with the same axes."""
        drawn = small_frames(canvas, table, self.IN_A_ROW, "n", self.y)
        for axis, id, group in drawn:
            _draw_frame(axis, display.looks[id], group)
        low, high = drawn[0][0].get_ylim()
        drawn[0][0].set_ylim(top=high + HEADROOM * (high - low))
        drawn[0][0].set_title(sizes(display, table).partition(", ")[2], loc="right", color=FAINT, pad=3)


def _draw_frame(axis: Axes, look: Look, table: DataFrame) -> None:
    """Draw the values of one synthesizer."""
    groups = {n: part["value"].to_numpy(float) for n, part in by_number(table, "n")}
    unit = float(np.median(next(iter(groups.values())))) or 1.0
    groups = {n: values / unit for n, values in groups.items()}
    n = np.array(list(groups))
    low, middle, high = np.array([np.quantile(values, [0.25, 0.5, 0.75]) for values in groups.values()]).T
    start = np.quantile(groups[float(n[0])], OUTER) - middle[0]
    across = np.geomspace(n[0], n[-1], 30)
    centre, factor = np.interp(np.log(across), np.log(n), middle), np.sqrt(n[0] / across)
    axis.set_xscale("log")
    axis.fill_between(across, centre + start[0] * factor, centre + start[1] * factor, color=FAINT, alpha=0.22, linewidth=0)
    for size, values in groups.items():
        places = size * 1.12 ** (2 * ((np.arange(len(values)) * 0.618) % 1) - 1)
        axis.scatter(places, values, s=1.2, color=edge(look.colour), alpha=0.5, linewidths=0)
    axis.vlines(n, low, high, color=INK, linewidth=1.8)
    mark = mark_of(look.guarantee)
    axis.plot(
        n, middle, linestyle="", marker=mark.marker, markersize=3.8, markerfacecolor=mark.fill,
        markeredgecolor=INK if mark.fill != INK else "white", markeredgewidth=0.7, zorder=4,
    )  # fmt: skip
    if "law_median" in table and table["law_median"].notna().any():
        law = table.groupby("n")[["law_median", "law_sd"]].first() / unit
        for place, width in ((-1, 0.7), (0, 1.0), (1, 0.7)):
            axis.plot(law.index, law["law_median"] + place * law["law_sd"], color=INK, linestyle="--", linewidth=width, zorder=5)
    slope, error = rate(groups)
    headed(axis, look.label, "")
    if not math.isnan(slope):
        axis.text(
            0.98, 0.97, f"slope {slope:.2f} ± {error:.2f}".replace("-", "−"), ha="right", va="top", transform=axis.transAxes
        )
    ticks_at(axis.xaxis, table["n"])
