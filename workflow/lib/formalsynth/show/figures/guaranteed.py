"""Utility against a guaranteed epsilon: one line for each mechanism, with its name at a mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.two_samples import two_samples
from formalsynth.displays.figures.guaranteed import Guaranteed
from formalsynth.show.drawing import bar_mark, by_frame, frames, headed, sizes
from formalsynth.show.groups import by_name, by_number
from formalsynth.show.names import NAMES_APART, apart, write_names
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN, FAINT, INK, Mark, edge, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

HEIGHT = 2.5
"""Height of a frame in inches."""
GAP = 2
"""Distance between a mark and its name, in points."""
NAMES, STRIP = 1.24, 1.45
"""Width of the names on the left and of the strip on the right, relative to the width of the epsilon range."""
CHARACTER = 0.08
"""Width of a character of a name, relative to the width of the epsilon range."""
EDGE = 0.15
"""Distance of the strip from the right end of the epsilon range, relative to the width of that range."""
TICKS = tuple(digit * 10.0**power for power in range(-6, 3) for digit in (1, 2, 5))
"""Values that get a tick if they are in range; with them, all numbers of a frame have the same style."""


@dataclass(frozen=True)
class _Name:
    """Name of a mechanism at its mark."""

    text: str
    colour: str
    x: float
    y: float
    """Height of the mark, as a share of the frame's height."""
    side: Literal["left", "right"]
    """Alignment: ``right`` for a name to the left of the mark, ``left`` for a name to the right of it."""


@painter("guaranteed")
class GuaranteedPainter(Painter[Guaranteed]):
    """Painter of utility against a guaranteed epsilon."""

    def line_words(self) -> str:
        """Words of the caption on lines and markers."""
        return (
            "Horizontal axis: the ε that is guaranteed for every data set when one record is added or removed (squares: if draws "
            "from the posterior are exact); on its right, mechanisms without such a guarantee. Markers: medians over data sets; "
            "bars: their middle half; dotted: the difference between two samples of one population"
        )

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Add the guaranteed epsilon (NaN without a guarantee) and the distance between two samples."""
        guaranteed = {id: np.nan if look.epsilon is None else look.epsilon for id, look in self.display.looks.items()}
        return tidy.assign(
            x=[guaranteed[id] for id in tidy["synthesizer"]],
            line=[two_samples(int(n))[self.figure.value] for n in tidy["n"]],
        )

    def logarithmic(self, table: pd.DataFrame) -> pd.Series:
        """Median of each mark."""
        return table.groupby(["scenario", "panel", "synthesizer"])["value"].transform("median")

    def bars(self) -> list[Line2D]:
        """Legend entry for the bars."""
        return [bar_mark("middle half", "|")]

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with frames below each other."""
        return COLUMN, HEIGHT * len(by_frame(self.display, table)) + 0.2

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario."""
        groups = by_frame(self.display, table)
        epsilons = table["x"].dropna().to_list() or [1.0]
        ends = math.log(min(epsilons)), math.log(max(epsilons))
        rows = frames(canvas, [1] * len(groups))
        for (axis,), (title, group) in zip(rows, groups, strict=True):
            self._frame(axis, group, ends)
            headed(axis, title, sizes(self.display, group))
            axis.set_ylabel(self.figure.y)
        rows[-1][0].set_xlabel("guaranteed ε, one record added or removed")

    def _frame(self, axis: Axes, table: pd.DataFrame, ends: tuple[float, float]) -> None:
        """Draw the mechanisms of one frame, with log epsilon on a linear axis."""
        low, high = ends
        span = max(high - low, 1.0)
        strip = high + 0.32 * span
        of_each = table.groupby("synthesizer")["value"]
        lowest = of_each.quantile(0.25)
        bottom = 0.78 * min([*lowest[lowest > 0], *of_each.median(), table["line"].iloc[0]])
        top = 1.35 * of_each.quantile(0.75).max()
        axis.set(yscale="log", ylim=(bottom, top), xlim=(low - NAMES * span, high + STRIP * span))
        epsilons = [tick for tick in TICKS if low - 0.01 <= math.log(tick) <= high + 0.01]
        axis.set_xticks([*np.log(epsilons), strip], [*(f"{tick:g}" for tick in epsilons), ""])
        shown = [tick for tick in TICKS if bottom <= tick <= top]
        axis.set_yticks(shown, [f"{tick:g}" for tick in shown])
        axis.set_yticks([], minor=True)
        axis.axvspan(high + EDGE * span, high + STRIP * span, color="#f2f2f2", linewidth=0, zorder=0)
        for x, side, words in (
            (0.01, "left", "guarantee for\nevery data set"),
            (0.995, "right", "no guarantee for\nevery data set"),
        ):
            axis.text(x, 0.985, words, color=FAINT, ha=side, va="top", transform=axis.transAxes)
        axis.axhline(table["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8, zorder=1)

        names, without = [], 0
        for name, part in by_name(table.assign(name=[label.partition(", ε")[0] for label in table["label"]]), "name"):
            colour, mark = self._look(part)
            if part["x"].isna().all():
                at, values = np.array([strip + 0.07 * span * without]), [part["value"].to_numpy()]
                without += 1
            else:
                points = by_number(part, "x")
                at, values = np.log([epsilon for epsilon, _ in points]), [rows["value"].to_numpy() for _, rows in points]
            y = _marks(axis, at, values, colour, mark)
            names.append(self._name(name, colour, (at, y), (bottom, top), (low, strip, span)))
        axis.text(low - NAMES * span * 0.98, table["line"].iloc[0] * 0.97, "sampling error", color=FAINT, va="top")
        for side in ("left", "right"):
            own = [name for name in names if name.side == side]
            heights = apart([name.y for name in own], NAMES_APART)
            places = [
                (name.text, name.x, bottom * (top / bottom) ** height, name.side)
                for name, height in zip(own, heights, strict=True)
            ]
            write_names(axis, places, GAP)

    def _look(self, part: pd.DataFrame) -> tuple[str, Mark]:
        look = self.display.looks[str(part["synthesizer"].iloc[0])]
        return edge(look.colour), mark_of(look.guarantee)

    def _name(
        self, text: str, colour: str, marks: tuple[Array, Array], limits: tuple[float, float], ends: tuple[float, float, float]
    ) -> _Name:
        """Place a name to the left of the first mark, to the right of a mark in the strip, or above a mark in the middle."""
        (at, y), (bottom, top), (low, strip, span) = marks, limits, ends
        height = float(np.log(y[0] / bottom) / np.log(top / bottom))
        if at[0] >= strip:
            return _Name(text, colour, strip + 0.2 * span, height, "left")
        if at[0] < low + 0.4 * span:
            return _Name(text, colour, float(at[0]) - 0.05 * span, height, "right")
        words = text.replace(" ", "\n")
        end = strip - (0.32 - EDGE) * span - CHARACTER * span * max(map(len, words.split("\n")))
        return _Name(words, colour, min(float(at[0]) + 0.04 * span, end), height + 0.05, "left")


def _marks(axis: Axes, at: Array, values: Sequence[Array], colour: str, mark: Mark) -> Array:
    """Draw medians and middle halves, and return the medians."""
    low, middle, high = np.transpose([np.quantile(part, [0.25, 0.5, 0.75]) for part in values])
    axis.vlines(at, low, high, color=colour, linewidth=0.8, zorder=2)
    axis.plot(
        at, middle, color=colour, linewidth=1.1, marker=mark.marker, markersize=4.4, markeredgecolor=INK, markeredgewidth=0.5,
        markerfacecolor=colour if mark.fill == INK else mark.fill, zorder=3,
    )  # fmt: skip
    return np.asarray(middle)
