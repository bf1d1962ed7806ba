"""Budgets: claimed, audited and attacked epsilon on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.core.rows import AUDITED
from formalsynth.displays.figures.budgets import Budgets
from formalsynth.show.drawing import drawn_ids, frames, from_nothing, headed, sizes
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import FAINT, INK, PAGE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


MARKS = {
    ("claimed", ""): ("D", "white", "claimed"),
    ("audited", "add"): ("o", "#0072b2", "audited, a record joins"),
    ("audited", "remove"): ("v", "#d55e00", "audited, a record leaves"),
    ("attacked", ""): ("*", INK, "attacked"),
}
"""Marker, filling and words by column and kind of neighbour; empty for the largest over the neighbours."""


@painter("budgets")
class BudgetsPainter(Painter[Budgets]):
    """Painter of budgets: a row for each synthesizer, with medians and ranges over data sets."""

    def line_words(self) -> str:
        """Words of the caption on the markers."""
        return (
            "Markers: medians over data sets; bars: their range. The axis is even below 0.1 and logarithmic above. A guarantee "
            "for every data set is audited at δ = 0"
        )

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Audited epsilon of strict mechanisms at delta 0, which is that of their claim."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer", "neighbour"]
        audit = pd.concat([table for table in collected if AUDITED in table], ignore_index=True)
        pure = audit[(audit["delta"] == 0) & (audit["releases"] == 1) & (audit["streams"] == 1)].groupby(keys)[AUDITED].max()
        strict = np.array([self.display.looks[id].guarantee in STRICT_KINDS for id in tidy["synthesizer"]])
        compared = strict & (tidy["panel"] == AUDITED)
        at_0 = pure.reindex(pd.MultiIndex.from_frame(tidy[keys])).to_numpy()
        return tidy.assign(value=np.where(compared, at_0, tidy["value"]).astype(float))

    def marked(self, table: pd.DataFrame) -> list[str]:
        """No synthesizers: markers show the kind of number here, and the caption lists the guarantees."""
        return []

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Markers."""
        from matplotlib.lines import Line2D

        drawn = table[table["value"].notna()]
        shown = {*zip(drawn["panel"], drawn["neighbour"], strict=True), *((column, "") for column in drawn["panel"].unique())}
        return [
            Line2D([], [], linestyle="", marker=marker, markersize=4.5, markerfacecolor=fill, markeredgecolor=INK, label=words)
            for key, (marker, fill, words) in MARKS.items()
            if key in shown
        ]

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a page, a line for each synthesizer."""
        return PAGE, 0.17 * table["synthesizer"].nunique() + 0.6

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a row for each synthesizer, the first one on top."""
        ids = drawn_ids(self.display, table)
        axis = frames(canvas, [1])[0][0]
        for (column, neighbour), (marker, fill, _) in MARKS.items():
            part = table[table["panel"] == column]
            self._points(axis, part[part["neighbour"] == neighbour] if neighbour else part, ids, marker, fill)
        axis.set_yticks(range(len(ids)), [self.display.looks[id].label for id in ids])
        axis.set_ylim(len(ids) - 0.4, -0.6)
        axis.grid(axis="y", color=FAINT, alpha=0.25, linewidth=0.5)
        axis.set_xlabel(self.figure.y)
        from_nothing(axis)
        headed(axis, "", sizes(self.display, table))

    def _points(self, axis: Axes, table: pd.DataFrame, ids: list[str], marker: str, fill: str) -> None:
        """Draw the median and the range over data sets of one number of each synthesizer."""
        by_data_set = table.groupby(["synthesizer", "replicate"])["value"].max().groupby("synthesizer")
        ranges = by_data_set.agg(["min", "median", "max"])
        ranges = ranges.reindex([id for id in ids if id in ranges.index])
        places = [ids.index(str(id)) for id in ranges.index]
        axis.hlines(places, ranges["min"], ranges["max"], color=FAINT, linewidth=0.8, zorder=1)
        axis.scatter(
            ranges["median"], places, s=14 if marker != "*" else 26, marker=marker, facecolor=fill, edgecolor=INK,
            linewidths=0.6, zorder=3,
        )  # fmt: skip
