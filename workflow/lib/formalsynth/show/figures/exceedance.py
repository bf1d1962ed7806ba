"""Exceedance: the share of data sets whose loss exceeds the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from formalsynth.audit.exceedance import exceedance
from formalsynth.displays.figures.exceedance import Exceeding
from formalsynth.show.drawing import frames, headed, line_handles, line_look, line_place, ticks_at
from formalsynth.show.groups import by_number
from formalsynth.show.painter import Painter, painter
from formalsynth.show.style import PAGE, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D


TITLES = {"claimed": "against the claim on the data set", "claimed_larger": "against the larger claim of both neighbours"}


@painter("exceedance")
class ExceedingPainter(Painter[Exceeding]):
    """Painter of exceedance: one frame for each claim, with confidence limits."""

    COUNTS_INFINITE = True

    def line_words(self) -> str:
        """Words of the caption on the bars."""
        return "Bars: 95 % confidence limits (Clopper and Pearson)"

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Legend entries for the lines, as drawn."""
        return line_handles(self.display, table)

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a page, with the frames in a row."""
        return PAGE, 2.6

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each claim."""
        loss, *claims = self.figure.value
        keys = ["synthesizer", "n", "replicate", "panel"]
        wide = table.groupby(keys, sort=False)["value"].max().unstack("panel").dropna().astype(float)
        for axis, claim in zip(frames(canvas, [1], len(claims))[0], claims, strict=True):
            for id in (id for id in self.display.ids if id in wide.index.get_level_values(0)):
                self._line(axis, wide.loc[[id]], (loss, claim), id)
            headed(axis, TITLES.get(claim, claim), "")
            axis.set(xlabel="n", xscale="log", ylim=(-0.04, 1.04), ylabel=self.figure.y)
            ticks_at(axis.xaxis, table["n"])

    def _line(self, axis: Axes, table: pd.DataFrame, columns: tuple[str, str], id: str) -> None:
        """Draw the shares of one synthesizer, with its markers next to those of the others."""
        place, look = line_place(self.display, id), self.display.looks[id]
        loss, claim = columns
        shares = {n: exceedance(part[loss].to_numpy(), part[claim].to_numpy()) for n, part in by_number(table, "n")}
        bars = [[above.share - above.low for above in shares.values()], [above.high - above.share for above in shares.values()]]
        axis.errorbar(
            [n * 1.06 ** (place - 2) for n in shares], [above.share for above in shares.values()], bars, capsize=1.5,
            elinewidth=0.7, **line_look(look.colour, mark_of(look.guarantee), place),
        )  # fmt: skip
