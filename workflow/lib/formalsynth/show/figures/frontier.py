"""Frontiers: utility against the largest loss that the audit found, or against the guaranteed epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.mechanism import is_strict
from formalsynth.core.rows import AUDITED, CURVE
from formalsynth.core.two_samples import two_samples
from formalsynth.displays.figures.frontier import Frontier
from formalsynth.show.drawing import by_frame, frames, from_nothing, headed, sizes
from formalsynth.show.groups import by_name
from formalsynth.show.names import spaced, write_names
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN, FAINT, INK, edge, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas


GAP = 4.5
"""Distance between a mark and its name, in points."""


@painter("frontier")
class FrontierPainter(Painter[Frontier]):
    """Painter of frontiers: one marker for each synthesizer, at its medians over data sets."""

    def line_words(self) -> str:
        """Words of the caption on lines and markers."""
        return (
            "Horizontal axis: ε for adding or removing one record. Dots: guaranteed for every data set (squares: if draws are "
            "exact); diamonds (conditional guarantee) and open markers: the largest loss so far, with a thin line to the "
            "claimed ε; dotted: the difference between two samples"
        )

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Select the audited data sets; add epsilon for adding or removing a record, and the distance between two samples."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer"]
        audit = pd.concat([table for table in collected if "neighbour" in table], ignore_index=True)
        audit = audit[audit["neighbour"].isin(["remove", "add"]) & (audit["candidate"] != CURVE)]
        audit = audit[(audit["releases"] == 1) & (audit["streams"] == 1)]
        audit = audit[audit["delta"] == audit.groupby(keys)["delta"].transform("first")]
        worst = audit.groupby(keys)[[AUDITED, "claimed"]].max().reindex(pd.MultiIndex.from_frame(tidy[keys]))
        strict = np.array([is_strict(self.display.looks[id].guarantee) for id in tidy["synthesizer"]])
        tidy = tidy.assign(
            x=np.where(strict, worst["claimed"], worst[AUDITED]),
            claimed=worst["claimed"].to_numpy(),
            line=[two_samples(int(n))[self.figure.value] for n in tidy["n"]],
        )
        return tidy[tidy["x"].notna()]

    def logarithmic(self, table: pd.DataFrame) -> pd.Series:
        """Median of each mark."""
        return table.groupby(["scenario", "panel", "synthesizer"])["value"].transform("median")

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with frames below each other."""
        return COLUMN, 2.1 * len(by_frame(self.display, table)) + 0.3

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario."""
        groups = by_frame(self.display, table)
        rows = frames(canvas, [1] * len(groups))
        for (axis,), (title, group) in zip(rows, groups, strict=True):
            axis.set_yscale("log")
            self._points(axis, group)
            headed(axis, title, sizes(self.display, group))
            axis.set_ylabel(self.figure.y)
        from_nothing(rows[-1][0])
        rows[-1][0].set_xlim(0, 3 * float(np.nanmax(table[["x", "claimed"]].to_numpy(float))))
        rows[-1][0].set_xlabel("largest loss so far (open), or guaranteed ε (filled)")

    def _points(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw a marker for each synthesizer at its medians, with its name at the right end of its line."""
        names = []
        for id, part in by_name(table, "synthesizer"):
            look = self.display.looks[id]
            mark, colour = mark_of(look.guarantee), edge(look.colour)
            epsilon, claimed, value = part[["x", "claimed", "value"]].median()
            axis.plot([epsilon, claimed], [value, value], color=colour, linewidth=0.7, alpha=0.8, zorder=1)
            axis.plot(
                epsilon, value, marker=mark.marker, markersize=4.4, markerfacecolor=colour if mark.fill == INK else mark.fill,
                markeredgecolor=colour, markeredgewidth=1.1, zorder=3,
            )  # fmt: skip
            names.append((look.label, max(epsilon, claimed), value))
        line = table["line"].iloc[0]
        axis.axhline(line, linestyle=":", color=INK, linewidth=0.8, zorder=0.5)
        axis.margins(y=0.1)
        axis.annotate(
            "sampling error", (0, line), (2, -1.5), axis.get_yaxis_transform(), "offset points", color=FAINT, va="top", zorder=0.6
        )
        places = spaced([y for _, _, y in names], axis.get_ylim())
        write_names(axis, [(text, x, y, "left") for (text, x, _), y in zip(names, places, strict=True)], GAP)
