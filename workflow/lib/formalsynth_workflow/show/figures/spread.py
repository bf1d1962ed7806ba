"""Spreads: the standard deviation of a column over data sets, by sample size."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.show.drawing import headed, sizes, ticks_at
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.limit_law import OfLimitLaw
from formalsynth_workflow.show.names import Name, spaced, write_names
from formalsynth_workflow.show.rates import spread
from formalsynth_workflow.show.style import FAINT, INK, edge
from formalsynth_workflow.show.types import Canvas, DataFrame, Series

GAP = 6
"""Distance between the last mark of a line and its name, in points."""
RATE = -0.5
"""Exponent of n in the standard deviation of contracting values."""
NAMES = 6.0
"""Right end of the x axis, as a multiple of the largest sample size, to leave room for names."""


@figure_kind("spread")
class Spread(OfLimitLaw):
    """Standard deviation of the values over data sets, by sample size; one line for each synthesizer, named at its end."""

    X_COLUMN = "n"
    HEIGHT = 2.4
    MARGIN = 0.0
    ALT = "Lines of a standard deviation by sample size"
    READING = "Points: standard deviation over data sets; bars: two standard errors; dotted: the rate n^-1/2"
    LAW_WORDS = "Dashed: standard deviation of the limit law"
    MARKED = False

    kind: Literal["spread"]
    value: str = Field(description="Column whose standard deviation is drawn.")

    def logarithmic(self, table: DataFrame) -> Series:
        """Return the standard deviation at each point."""
        return table.groupby(["synthesizer", "n"])["value"].transform("std").fillna(0.0)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a line for each synthesizer, the limit law, and the rate, starting at the first point of the last line."""
        axis = canvas.subplots()
        axis.set(xscale="log", yscale="log", xlabel="n", ylabel=self.y)
        names = list[Name]()
        for id, part in by_name(table, "synthesizer"):
            groups = {n: rows["value"].to_numpy(float) for n, rows in by_number(part, "n")}
            n = np.array(list(groups))
            # few values have no error
            spreads, errors = np.nan_to_num(np.transpose([spread(values) for values in groups.values()]))
            bars = [spreads - spreads * np.exp(-2 * errors), spreads * np.exp(2 * errors) - spreads]
            axis.errorbar(
                n, spreads, bars, color=edge(display.looks[id].colour), marker="o", markersize=4.4, linewidth=1.4, elinewidth=0.9,
                capsize=2, zorder=3,
            )  # fmt: skip
            names.append((display.looks[id].label, n[-1], spreads[-1], "left"))
        axis.plot(n, spreads[0] * (n / n[0]) ** RATE, linestyle=":", color=FAINT, linewidth=1.0, zorder=1)
        axis.annotate(
            "n⁻¹ᐟ²", (n[-1], spreads[0] * (n[-1] / n[0]) ** RATE), (4, 0), textcoords="offset points", color=FAINT, va="bottom"
        )
        if "law_sd" in table and table["law_sd"].notna().any():
            law = table.groupby("n")["law_sd"].first().dropna()
            axis.plot(law.index, law, linestyle="--", color=INK, linewidth=1.0, zorder=2)
            last = law.index.to_numpy(float)[-2:]
            words = f"limit law of\n{display.looks[self.law_of].label}"
            place = (float(np.sqrt(last[0] * last[-1])), law.iloc[-1])
            axis.annotate(words, place, (0, -3), textcoords="offset points", ha="center", va="top")
        write_names(axis, spaced(names, axis.get_ylim()), GAP)
        axis.set_xlim(right=NAMES * n[-1])
        axis.spines["bottom"].set_bounds(axis.get_xlim()[0], n[-1])
        ticks_at(axis.xaxis, table["n"])
        headed(axis, "", sizes(display, table))
