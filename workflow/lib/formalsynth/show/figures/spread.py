"""Spreads: the standard deviation of a column over data sets, by sample size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.displays.figures.spread import Spread
from formalsynth.show.drawing import headed, sizes, ticks_at
from formalsynth.show.groups import by_name, by_number
from formalsynth.show.names import spaced, write_names
from formalsynth.show.painter import Painter, painter
from formalsynth.show.rates import spread, with_limit_law
from formalsynth.show.style import COLUMN, FAINT, INK, edge

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas

GAP = 6
"""Distance between the last mark of a line and its name, in points."""
RATE = -0.5
"""Exponent of n in the standard deviation of contracting values."""
NAMES = 6.0
"""Right end of the x axis, as a multiple of the largest sample size, to leave room for names."""


@painter("spread")
class SpreadPainter(Painter[Spread]):
    """Painter of spreads: a line for each synthesizer on logarithmic axes."""

    READING = "Points: standard deviation over data sets; bars: two standard errors; dotted: the rate n^-1/2"

    def line_words(self) -> str:
        """Words of the caption on the limit law."""
        return "Dashed: standard deviation of the limit law" if self.figure.law else ""

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Add the median and standard deviation of the limit law to the rows of the synthesizer that has one."""
        return with_limit_law(self.figure, tidy)

    def logarithmic(self, table: pd.DataFrame) -> pd.Series:
        """Return the standard deviation at each point."""
        return table.groupby(["synthesizer", "n"])["value"].transform("std").fillna(0.0)

    def marked(self, table: pd.DataFrame) -> list[str]:
        """Return no synthesizers: their lines are named, and the caption lists the guarantees."""
        return []

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column."""
        return COLUMN, 2.4

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a line for each synthesizer, the limit law, and the rate, starting at the first point of the last line."""
        axis = canvas.subplots()
        axis.set(xscale="log", yscale="log", xlabel="n", ylabel=self.figure.y)
        names = []
        for id, part in by_name(table, "synthesizer"):
            look = self.display.looks[id]
            n, spreads = _line(axis, part, edge(look.colour))
            names.append((look.label, n[-1], spreads[-1]))
        axis.plot(n, spreads[0] * (n / n[0]) ** RATE, linestyle=":", color=FAINT, linewidth=1.0, zorder=1)
        axis.annotate(
            "n⁻¹ᐟ²", (n[-1], spreads[0] * (n[-1] / n[0]) ** RATE), (4, 0), textcoords="offset points", color=FAINT, va="bottom"
        )
        if "law_sd" in table and table["law_sd"].notna().any():
            law = table.groupby("n")["law_sd"].first().dropna()
            axis.plot(law.index, law, linestyle="--", color=INK, linewidth=1.0, zorder=2)
            last = law.index.to_numpy(float)[-2:]
            middle = float(np.sqrt(last[0] * last[-1]))
            words = f"limit law of\n{self.display.looks[self.figure.law_of].label}"
            axis.annotate(words, (middle, law.iloc[-1]), (0, -3), textcoords="offset points", ha="center", va="top")
        places = spaced([y for _, _, y in names], axis.get_ylim())
        write_names(axis, [(text, x, y, "left") for (text, x, _), y in zip(names, places, strict=True)], GAP)
        axis.set_xlim(right=NAMES * n[-1])
        axis.spines["bottom"].set_bounds(axis.get_xlim()[0], n[-1])
        ticks_at(axis.xaxis, table["n"])
        headed(axis, "", sizes(self.display, table))


def _line(axis: Axes, table: pd.DataFrame, colour: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw the standard deviations of one synthesizer, with two standard errors; return the coordinates of the points."""
    groups = {n: part["value"].to_numpy(float) for n, part in by_number(table, "n")}
    n = np.array(list(groups))
    spreads, errors = np.nan_to_num(np.transpose([spread(values) for values in groups.values()]))  # few values have no error
    bars = [spreads - spreads * np.exp(-2 * errors), spreads * np.exp(2 * errors) - spreads]
    axis.errorbar(n, spreads, bars, color=colour, marker="o", markersize=4.4, linewidth=1.4, elinewidth=0.9, capsize=2, zorder=3)
    return n, spreads
