"""Utility against a guaranteed epsilon: one line for each mechanism, with its name at a mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth_workflow.show.display import Look
from formalsynth_workflow.show.drawing import bar_mark, stacked
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.names import Name, spaced, write_names
from formalsynth_workflow.show.style import FAINT, INK, edge, mark_of
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle
from formalsynth_workflow.show.utility import OfUtility

GAP = 2
"""Distance between a mark and its name, in points."""
NAMES, STRIP = 1.24, 1.45
"""Width of the names on the left and of the strip on the right, relative to the width of the epsilon range."""
CHARACTER = 0.08
"""Width of a character of a name, relative to the width of the epsilon range."""
EDGE, MIDDLE = 0.15, 0.32
"""Distances of the strip and of its marks from the right end of the epsilon range, relative to the width of that range."""
TICKS = tuple(digit * 10.0**power for power in range(-6, 3) for digit in (1, 2, 5))
"""Values that get a tick if they are in range; with them, all numbers of a frame have the same style."""
RAISED = 0.05
"""Height of a name above its mark in the middle, as a share of the frame's height."""


@figure_kind("guaranteed")
class Guaranteed(OfUtility):
    """Utility against the epsilon guaranteed for every data set when a record is added or removed.

    Synthesizers whose labels are the same up to the comma form one line, with the name at a mark. Those without such a
    guarantee are in a strip on the right.
    """

    ALT = "Lines of utility against the guaranteed epsilon"
    READING = (
        "Horizontal axis: the ε that is guaranteed for every data set when one record is added or removed (squares: if draws "
        "from the posterior are exact); on its right, mechanisms without such a guarantee. Markers: medians over data sets; "
        "bars: their middle half; dotted: the difference between two samples of one population"
    )
    HEIGHT = 2.5
    MARGIN = 0.2

    kind: Literal["guaranteed"]

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the guaranteed epsilon (NaN without a guarantee) and the distance between two samples."""
        guaranteed = {id: np.nan if look.epsilon is None else look.epsilon for id, look in display.looks.items()}
        tidy = tidy.assign(x=[guaranteed[id] for id in tidy["synthesizer"]])
        return super().extended(display, tidy, collected)

    def bars(self) -> list[Handle]:
        """Legend entry for the bars."""
        return [bar_mark("middle half", "|")]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario."""
        epsilons = table["x"].dropna().to_list() or [1.0]
        for axis, group in stacked(display, table, canvas):
            _draw_frame(axis, group, display, math.log(min(epsilons)), math.log(max(epsilons)))
            axis.set_ylabel(self.y)
        axis.set_xlabel("guaranteed ε, one record added or removed")


def _draw_frame(axis: Axes, table: DataFrame, display: FigureDisplay, low: float, high: float) -> None:
    """Draw the mechanisms of one frame, with log epsilon from ``low`` to ``high`` on a linear axis."""
    span = max(high - low, 1.0)
    strip = high + MIDDLE * span
    _scale(axis, table, low, high, span)
    names, without = list[Name](), 0
    for name, part in by_name(table.assign(name=[label.partition(", ε")[0] for label in table["label"]]), "name"):
        look = display.looks[str(part["synthesizer"].iloc[0])]
        if part["x"].isna().all():
            at, values = np.array([strip + 0.07 * span * without]), [part["value"].to_numpy()]
            without += 1
        else:
            points = by_number(part, "x")
            at, values = np.log([epsilon for epsilon, _ in points]), [rows["value"].to_numpy() for _, rows in points]
        first = float(_draw_marks(axis, at, values, look)[0])
        if at[0] >= strip:
            names.append((name, strip + 0.2 * span, first, "left"))
        elif at[0] < low + 0.4 * span:
            names.append((name, float(at[0]) - 0.05 * span, first, "right"))
        else:
            words = name.replace(" ", "\n")
            end = strip - (MIDDLE - EDGE) * span - CHARACTER * span * max(map(len, words.split("\n")))
            bottom, top = axis.get_ylim()
            names.append((words, min(float(at[0]) + 0.04 * span, end), first * (top / bottom) ** RAISED, "left"))
    axis.text(low - NAMES * span * 0.98, table["line"].iloc[0] * 0.97, "sampling error", color=FAINT, va="top")
    for side in ("left", "right"):
        write_names(axis, spaced([name for name in names if name[-1] == side], axis.get_ylim()), GAP)


def _scale(axis: Axes, table: DataFrame, low: float, high: float, span: float) -> None:
    """Set the limits and ticks of a frame, and draw the strip and the line of the sampling error."""
    of_each = table.groupby("synthesizer")["value"]
    lowest = of_each.quantile(0.25)
    bottom = 0.78 * min([*lowest[lowest > 0], *of_each.median(), table["line"].iloc[0]])
    top = 1.35 * of_each.quantile(0.75).max()
    axis.set(yscale="log", ylim=(bottom, top), xlim=(low - NAMES * span, high + STRIP * span))
    epsilons = [tick for tick in TICKS if low - 0.01 <= math.log(tick) <= high + 0.01]
    axis.set_xticks([*np.log(epsilons), high + MIDDLE * span], [*(f"{tick:g}" for tick in epsilons), ""])
    shown = [tick for tick in TICKS if bottom <= tick <= top]
    axis.set_yticks(shown, [f"{tick:g}" for tick in shown])
    axis.set_yticks([], minor=True)
    axis.axvspan(high + EDGE * span, high + STRIP * span, color="#f2f2f2", linewidth=0, zorder=0)
    for x, side, words in ((0.01, "left", "guarantee for\nevery data set"), (0.995, "right", "no guarantee for\nevery data set")):
        axis.text(x, 0.985, words, color=FAINT, ha=side, va="top", transform=axis.transAxes)
    axis.axhline(table["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8, zorder=1)


def _draw_marks(axis: Axes, at: Array, values: Sequence[Array], look: Look) -> Array:
    """Draw medians and middle halves, and return the medians."""
    colour, mark = edge(look.colour), mark_of(look.guarantee)
    low, middle, high = np.transpose([np.quantile(part, [0.25, 0.5, 0.75]) for part in values])
    axis.vlines(at, low, high, color=colour, linewidth=0.8, zorder=2)
    axis.plot(
        at, middle, color=colour, linewidth=1.1, marker=mark.marker, markersize=4.4, markeredgecolor=INK, markeredgewidth=0.5,
        markerfacecolor=colour if mark.fill == INK else mark.fill, zorder=3,
    )  # fmt: skip
    return np.asarray(middle)
