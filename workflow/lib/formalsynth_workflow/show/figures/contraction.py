"""Contraction: distributions of values by sample size, and their spread compared with the rate that theory predicts."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from formalsynth_workflow.show.drawing import headed, line_handles
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.limit_law import OfLimitLaw
from formalsynth_workflow.show.rates import rate
from formalsynth_workflow.show.spreads import draw_spreads
from formalsynth_workflow.show.style import PAGE, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle, Series


@figure_kind("contraction")
class Contraction(OfLimitLaw):
    """Violins of the values, one for each synthesizer and sample size, and a small frame with their standard deviations."""

    X_COLUMN = "n"
    WIDTH = PAGE
    HEIGHT = 2.0
    MARGIN = 0.3
    ALT = "Violin plots by sample size, and lines of their standard deviation"
    READING = (
        "Right: standard deviation over data sets, with two standard errors; dotted: the rate n^-1/2. Slopes: log standard "
        "deviation on log n, with standard errors"
    )
    LAW_WORDS = "Dashed: standard deviation of the limit law"

    kind: Literal["contraction"]
    value: str = Field(description="Column that is drawn.")

    def logarithmic(self, table: DataFrame) -> Series:
        """Return the values."""
        return table["value"]

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the lines, with the slope of each."""
        handles = line_handles(display, table)
        for handle, (_, part) in zip(handles, by_name(table, "synthesizer"), strict=True):
            slope, error = rate({n: rows["value"].to_numpy(float) for n, rows in by_number(part, "n")})
            words = f": slope {slope:.2f} ± {error:.2f}".replace("-", "−") if not math.isnan(slope) else ""
            handle.set_label(f"{handle.get_label()}{words}")
        return handles

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw the violins, and their standard deviations on the right."""
        left, right = canvas.subplots(1, 2, gridspec_kw={"width_ratios": [2.2, 1]})
        _draw_violins(left, display, table)
        left.set(xlabel="n", ylabel=display.value_label)
        headed(left, "values")
        draw_spreads(right, display, table)
        headed(right, "standard deviation")


def _draw_violins(axis: Axes, display: FigureDisplay, table: DataFrame) -> None:
    """Draw a group of violins for each sample size, with the quartiles of each."""
    import seaborn

    ids = list(table["synthesizer"].unique())
    colours = {id: display.looks[id].colour for id in ids}
    axis.set_yscale("log")
    seaborn.violinplot(
        table.assign(n=table["n"].map("{:g}".format)), x="n", y="value", hue="synthesizer", hue_order=ids, palette=colours,
        order=[f"{n:g}" for n, _ in by_number(table, "n")], cut=0, density_norm="width", inner="quart",
        inner_kws={"linewidth": 0.5}, linewidth=0.5, saturation=1, legend=False, ax=axis,
    )  # fmt: skip
    for k, shape in enumerate(axis.collections):
        shape.set_edgecolor(edge(colours[ids[k % len(ids)]]))
