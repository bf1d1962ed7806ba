"""Standard deviations by sample size, as lines."""

from __future__ import annotations

import numpy as np

from formalsynth_workflow.show.drawing import line_look_of, ticks_at
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.names import Name
from formalsynth_workflow.show.rates import spread
from formalsynth_workflow.show.style import FAINT, INK
from formalsynth_workflow.show.types import Axes, DataFrame

RATE = -0.5
"""Exponent of n in the standard deviation of contracting values."""


def draw_spreads(axis: Axes, display: FigureDisplay, table: DataFrame) -> list[Name]:
    """Draw standard deviations by sample size, the limit law, and the rate from the first point of the highest line.

    Returns:
        Labels and ends of the lines.
    """
    axis.set(xscale="log", yscale="log", xlabel="n")
    names, first = list[Name](), 0.0
    for id, part in by_name(table, "synthesizer"):
        groups = {n: rows["value"].to_numpy(float) for n, rows in by_number(part, "n") if rows["value"].nunique() > 1}
        n = np.array(list(groups))
        # few values have no error
        spreads, errors = np.nan_to_num(np.transpose([spread(values) for values in groups.values()] or np.empty((0, 2))))
        bars = [spreads - spreads * np.exp(-2 * errors), spreads * np.exp(2 * errors) - spreads]
        axis.errorbar(n, spreads, bars, elinewidth=0.8, capsize=1.5, zorder=3, **line_look_of(display, id))
        names += [(display.looks[id].label, n[-1], spreads[-1])] if len(n) else []
        first = max(first, float(spreads[:1].max(initial=0.0)))
    sizes = np.unique(table["n"].to_numpy(float))
    axis.plot(sizes, first * (sizes / sizes[0]) ** RATE, linestyle=":", color=FAINT, linewidth=1.0, zorder=1)
    if "law_sd" in table and table["law_sd"].notna().any():
        law = table.groupby("n")["law_sd"].first().dropna()
        axis.plot(law.index, law, linestyle="--", color=INK, linewidth=1.0, zorder=2)
        names.append(("limit law", float(law.index[-1]), float(law.iloc[-1])))
    ticks_at(axis.xaxis, table["n"])
    return names
