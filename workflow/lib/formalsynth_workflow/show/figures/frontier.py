"""Frontiers: utility against the largest loss that the audit found, or against the guaranteed epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from formalsynth.core.mechanism import is_strict
from formalsynth.core.rows import AUDIT, AUDITED, CURVE
from formalsynth_workflow.show.drawing import from_nothing, stacked
from formalsynth_workflow.show.figure import FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.names import Name, spaced, write_names
from formalsynth_workflow.show.style import FAINT, INK, edge, mark_of
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame
from formalsynth_workflow.show.utility import OfUtility

GAP = 4.5
"""Distance between a mark and its name, in points."""


@figure_kind("frontier")
class Frontier(OfUtility):
    """Utility against the epsilon of adding or removing one record: medians over data sets.

    A mechanism with a guarantee for every data set is drawn at the guaranteed epsilon, any other mechanism at its audited
    epsilon, with a thin line to the claimed one.
    """

    X_COLUMN = AUDITED
    ALT = "Points of utility against epsilon"
    READING = (
        "Horizontal axis: ε for adding or removing one record. Dots: guaranteed for every data set (squares: if draws are "
        "exact); diamonds (conditional guarantee) and open markers: the largest loss so far, with a thin line to the "
        "claimed ε; dotted: the difference between two samples"
    )
    HEIGHT = 2.1
    MARGIN = 0.3

    kind: Literal["frontier"]

    def tables(self) -> list[str]:
        """Names of the table of replicates and of the audit, which contains the kinds of neighbours."""
        return [self.table, AUDIT]

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Select the audited data sets; add epsilon for adding or removing a record, and the distance between two samples."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer"]
        audit = pd.concat([table for table in collected if "neighbour" in table], ignore_index=True)
        audit = audit[audit["neighbour"].isin(["remove", "add"]) & (audit["candidate"] != CURVE)]
        audit = audit[(audit["releases"] == 1) & (audit["streams"] == 1)]
        audit = audit[audit["delta"] == audit.groupby(keys)["delta"].transform("first")]
        worst = audit.groupby(keys)[[AUDITED, "claimed"]].max().reindex(pd.MultiIndex.from_frame(tidy[keys]))
        strict = np.array([is_strict(display.looks[id].guarantee) for id in tidy["synthesizer"]])
        tidy = tidy.assign(x=np.where(strict, worst["claimed"], worst[AUDITED]), claimed=worst["claimed"].to_numpy())
        return super().extended(display, tidy[tidy["x"].notna()], collected)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario."""
        for axis, group in stacked(display, table, canvas):
            axis.set_yscale("log")
            _draw_marks(axis, group, display)
            axis.set_ylabel(self.y)
        from_nothing(axis)
        axis.set_xlim(0, 3 * float(np.nanmax(table[["x", "claimed"]].to_numpy(float))))
        axis.set_xlabel("largest loss so far (open), or guaranteed ε (filled)")


def _draw_marks(axis: Axes, table: DataFrame, display: FigureDisplay) -> None:
    """Draw a marker for each synthesizer at its medians, with its name at the right end of its line."""
    names = list[Name]()
    for id, part in by_name(table, "synthesizer"):
        look = display.looks[id]
        mark, colour = mark_of(look.guarantee), edge(look.colour)
        epsilon, claimed, value = part[["x", "claimed", "value"]].median()
        axis.plot([epsilon, claimed], [value, value], color=colour, linewidth=0.7, alpha=0.8, zorder=1)
        axis.plot(
            epsilon, value, marker=mark.marker, markersize=4.4, markerfacecolor=colour if mark.fill == INK else mark.fill,
            markeredgecolor=colour, markeredgewidth=1.1, zorder=3,
        )  # fmt: skip
        names.append((look.label, max(epsilon, claimed), value, "left"))
    line = table["line"].iloc[0]
    axis.axhline(line, linestyle=":", color=INK, linewidth=0.8, zorder=0.5)
    axis.margins(y=0.1)
    axis.annotate(
        "sampling error", (0, line), (2, -1.5), axis.get_yaxis_transform(), "offset points", color=FAINT, va="top", zorder=0.6
    )
    write_names(axis, spaced(names, axis.get_ylim()), GAP)
