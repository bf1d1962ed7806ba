"""Densities: distributions of values, with all synthesizers in one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.displays.figures.density import Density
from formalsynth.show.drawing import density, frames, headed, line_handles, line_look, line_place, sizes
from formalsynth.show.groups import by_name
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import COLUMN, edge, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


POINTS = 300
"""Number of points of a curve."""
APART = 0.2
"""Distance between markers along a line, as a share of the frame's diagonal."""
EQUAL = 1e-9
"""Relative difference up to which values count as equal."""
BINS = 40
"""Number of bars of a histogram under an exact curve."""


@painter("density")
class DensityPainter(Painter[Density]):
    """Painter of kernel densities, or of exact densities over histograms of the values."""

    READING = "The area under each curve is 1"

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Add the points of the exact densities to the tidy table, if config requests them."""
        import pandas as pd

        if not self.figure.exact:
            return tidy
        exact = pd.concat([table for table in collected if "density" in table], ignore_index=True)
        if "column" in exact:  # a study with curves of several columns
            exact = exact[exact["column"] == self.figure.value].drop(columns="column")
        return pd.concat([tidy, exact[exact["synthesizer"].isin(self.display.ids)].assign(panel="")], ignore_index=True)

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Legend entries for the lines, as drawn."""
        return line_handles(self.display, table)

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with the frames below each other."""
        return COLUMN, 1.8 * (1 + self.figure.centred) + 0.45

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw one frame and, with ``centred``, a second one around the means."""
        groups = [("", table)]
        if self.figure.centred:
            centre = table.groupby("synthesizer")["value"].transform("mean")
            moved = {column: table[column] - centre for column in ("value", "x") if column in table}
            groups = [("as they are", table), ("around their means", table.assign(**moved))]
        rows = frames(canvas, [1] * len(groups), shared=False)
        for (axis,), (title, group) in zip(rows, groups, strict=True):
            self._curves(axis, group)
            headed(axis, title, sizes(self.display, group))
            axis.set(ylabel="density", ylim=(0, None))
        if self.figure.zoom:
            axis.set_xlim(-self.figure.zoom, self.figure.zoom)
        if self.figure.centred:
            self._spreads(axis, table)
        axis.set_xlabel(self.figure.y)

    def _curves(self, axis: Axes, table: pd.DataFrame) -> None:
        """Draw a line for each synthesizer: its exact density over a histogram if there is one, otherwise a kernel density."""
        for id, part in by_name(table, "synthesizer"):
            values, look = part["value"].dropna().to_numpy(float), self.display.looks[id]
            curve = part[part["density"].notna()] if "density" in part else part[:0]
            if len(curve):
                if len(values) > 1:
                    axis.hist(values, BINS, density=True, color=look.colour, alpha=0.3, linewidth=0)
                across, heights = curve["x"].to_numpy(float), curve["density"].to_numpy(float)
            elif np.ptp(values) <= EQUAL * np.abs(values).max() or not np.var(values):
                self._constant(axis, part, look.colour)
                continue
            else:
                across = np.linspace(values.min(), values.max(), POINTS)
                heights = density(values, across)
            place = line_place(self.display, id)
            axis.plot(
                across, heights, markevery=(APART * (place + 1) / (len(self.display.ids) + 1), APART),
                **line_look(look.colour, mark_of(look.guarantee), place),
            )  # fmt: skip

    def _constant(self, axis: Axes, table: pd.DataFrame, colour: str) -> None:
        """Draw a vertical line at equal values, which have no density."""
        value, label = float(table["value"].mean()), table["label"].iloc[0]
        axis.axvline(value, color=edge(colour))
        axis.annotate(
            f"{label}: all = {value:.4g}", (value, 1), (2, -1), axis.get_xaxis_transform(), "offset points", ha="left", va="top"
        )

    def _spreads(self, axis: Axes, table: pd.DataFrame) -> None:
        """Write the standard deviation of each distribution into the frame of the centred distributions."""
        shown = [
            (id, part) for id, part in by_name(table, "synthesizer") if not self.display.looks[id].guarantee.startswith("none")
        ]
        spreads = {id: _spread(part) for id, part in shown}
        words = "\n".join(f"sd {self.display.looks[id].label}: {spread:.3g}" for id, spread in spreads.items())
        axis.set_ylim(top=1.4 * axis.get_ylim()[1])  # room for the words
        axis.text(0.01, 0.97, words, ha="left", va="top", transform=axis.transAxes)


def _spread(table: pd.DataFrame) -> float:
    """Spread (standard deviation) of the exact density if there is one, otherwise of the values."""
    curve = table[table["density"].notna()] if "density" in table else table[:0]
    if curve.empty:
        return float(table["value"].std())
    across, heights = curve["x"].to_numpy(float), curve["density"].to_numpy(float)
    mean = np.trapezoid(across * heights, across)
    return float(np.sqrt(np.trapezoid((across - mean) ** 2 * heights, across)))
