"""Utility against a guaranteed epsilon: one line for each mechanism, with its name at a mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from formalsynth_workflow.show.drawing import grid, headed, titled
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.names import Name, write_names
from formalsynth_workflow.show.style import INK, PAGE, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame
from formalsynth_workflow.show.utility import OfUtility

TICKS = tuple(digit * 10.0**power for power in range(-6, 3) for digit in (1, 2, 5))
"""Values of epsilon that get a tick."""
STRIP, FIRST, STEP = 2.5, 3.0, 1.18
"""Left end of the strip, its first mark, and the distance of its marks, as factors of epsilon."""


@figure_kind("guaranteed")
class Guaranteed(OfUtility):
    """Utility against the epsilon guaranteed for every data set when a record is added or removed.

    Synthesizers whose labels are the same up to the comma form one line, with the name at its end. Those without such a
    guarantee are in a strip on the right.
    """

    ALT = "Lines of utility against the guaranteed epsilon"
    READING = (
        "Horizontal axis: the ε guaranteed for every data set when one record is added or removed. Points: medians over data "
        "sets; bars: the middle half of data sets; dotted: the difference between two samples of one population"
    )
    WIDTH = PAGE
    HEIGHT = 2.2
    MARGIN = 0.3
    IN_A_ROW = 2

    kind: Literal["guaranteed"]

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the guaranteed epsilon (NaN without a guarantee) and the distance between two samples."""
        guaranteed = {id: np.nan if look.epsilon is None else look.epsilon for id, look in display.looks.items()}
        tidy = tidy.assign(x=[guaranteed[id] for id in tidy["synthesizer"]])
        return super().extended(display, tidy, collected)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario, side by side."""
        groups = titled(display, table)
        axes = grid(canvas, len(groups), min(self.IN_A_ROW, len(groups)), sharex=True, sharey=True)
        epsilons = sorted(table["x"].dropna().unique()) or [1.0]
        ticks = [tick for tick in TICKS if epsilons[0] <= tick <= epsilons[-1]]
        axes[0].set(xscale="log", yscale="log")
        names = []
        for axis, (title, group) in zip(axes, groups, strict=True):
            headed(axis, title)
            names.append(_draw_lines(axis, group, display, STRIP * epsilons[-1]))
            axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axis.set_xticks([], minor=True)
        axes[0].set_ylabel(self.y)
        for axis, own in zip(axes, names, strict=True):  # the limits are final
            write_names(axis, own, self.HEIGHT - 0.4)
            axis.set_xlabel("guaranteed ε, one record added or removed; grey: no guarantee for every data set")


def _draw_lines(axis: Axes, table: DataFrame, display: FigureDisplay, strip: float) -> list[Name]:
    """Draw the mechanisms of one frame; return their names and the ends of their lines."""
    names, without = list[Name](), FIRST / STRIP * strip
    for name, part in by_name(table.assign(name=[label.partition(", ε")[0] for label in table["label"]]), "name"):
        points = by_number(part, "x") or [(without, part)]
        without *= STEP if part["x"].isna().all() else 1
        at = [epsilon for epsilon, _ in points]
        low, middle, high = np.transpose([np.quantile(rows["value"], [0.25, 0.5, 0.75]) for _, rows in points])
        colour = edge(display.looks[str(part["synthesizer"].iloc[0])].colour)
        axis.vlines(at, low, high, color=colour, linewidth=0.8, zorder=2)
        axis.plot(at, middle, color=colour, linewidth=1.1, marker="o", markersize=4, zorder=3)
        names.append((name, at[-1], float(middle[-1])))
    axis.axvspan(strip, max(without, FIRST / STRIP * strip * STEP), color="#f2f2f2", linewidth=0, zorder=0)
    axis.axhline(table["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8, zorder=1)
    axis.margins(x=0.03)
    return names
