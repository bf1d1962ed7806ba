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
from formalsynth_workflow.show.names import Name, write_names
from formalsynth_workflow.show.style import INK, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame
from formalsynth_workflow.show.utility import OfUtility


@figure_kind("frontier")
class Frontier(OfUtility):
    """Utility against the epsilon of adding or removing one record: medians over data sets.

    A mechanism with a guarantee for every data set is drawn at the guaranteed epsilon, any other mechanism at its audited
    epsilon, with a thin line to the claimed one.
    """

    X_COLUMN = AUDITED
    ALT = "Points of utility against epsilon"
    READING = (
        "Lines lead from the claimed ε (open) to the largest loss found (filled). Squares: proved for every data set. "
        "Dotted: the difference between two samples"
    )
    HEIGHT = 1.25
    MARGIN = 0.2

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
        frames = stacked(display, table, canvas)
        for axis, _ in frames:
            axis.set_yscale("log")
        from_nothing(frames[0][0])
        frames[0][0].set_xlim(0, 1.5 * float(np.nanmax(table[["x", "claimed"]].to_numpy(float))))
        for axis, group in frames:
            axis.set_ylabel(self.y)
            write_names(axis, _draw_marks(axis, group, display), self.HEIGHT - 0.25)
        frames[-1][0].set_xlabel("ε: claimed (open), found (filled)")


def _draw_marks(axis: Axes, table: DataFrame, display: FigureDisplay) -> list[Name]:
    """Draw a line from the claimed to the found epsilon of each synthesizer at its median utility; return names and ends."""
    names = list[Name]()
    for id, part in by_name(table, "synthesizer"):
        look = display.looks[id]
        audited, claimed, value = part[["x", "claimed", "value"]].median()
        marker = "s" if is_strict(look.guarantee) else "o"
        axis.plot([claimed, audited], [value, value], color=edge(look.colour), linewidth=1.2, zorder=2)
        for end, fill in ((claimed, "white"), (audited, look.colour)):
            axis.plot(end, value, marker=marker, markersize=4, markerfacecolor=fill, markeredgecolor=edge(look.colour), zorder=3)
        names.append((look.label, max(audited, claimed), value))
    axis.axhline(table["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8, zorder=0.5)
    axis.margins(y=0.12)
    return names
