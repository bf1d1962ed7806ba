"""Exceedance: in what share of data sets the loss is more than the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.audit.exceedance import exceedance
from formalsynth.core.model import Names
from formalsynth.show.drawing import frames, headed, line_handles, line_look, line_place, ticks_at
from formalsynth.show.figures.base import Figure, figure_kind
from formalsynth.show.style import PAGE, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay

TITLES = {"claimed": "against the claim on the data set", "claimed_larger": "against the larger claim of both neighbours"}


@figure_kind("exceedance")
class Exceeding(Figure):
    """The share of data sets whose audited epsilon is more than the claimed one, against n."""

    ALT = "Lines with error bars"

    kind: Literal["exceedance"]
    value: Names = Field(
        default_factory=lambda: ["audited", "claimed", "claimed_larger"],
        description="The loss, and claims with a frame for each.",
    )

    @property
    def across(self) -> str:
        """The sample size."""
        return "n"

    def line_words(self) -> str:
        """What the caption says of the bars."""
        return "Bars: 95 % confidence limits (Clopper and Pearson)"

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> list[Line2D]:
        """The lines, as they are drawn."""
        return line_handles(display, table)

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A page wide, the frames beside each other."""
        return PAGE, 2.6

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """A frame for each claim."""
        loss, *claims = self.value
        keys = ["synthesizer", "n", "replicate", "panel"]
        wide = table.groupby(keys, sort=False)["value"].max().unstack("panel").dropna().astype(float)
        for axis, claim in zip(frames(canvas, [1], len(claims))[0], claims, strict=True):
            for id in (id for id in display.ids if id in wide.index.get_level_values(0)):
                self._line(axis, wide.loc[id], (loss, claim), display, id)
            headed(axis, TITLES.get(claim, claim), "")
            axis.set(xlabel="n", xscale="log", ylim=(-0.04, 1.04), ylabel=self.y)
            ticks_at(axis.xaxis, table["n"])

    def _line(self, axis: Axes, table: pd.DataFrame, columns: tuple[str, str], display: FigureDisplay, id: str) -> None:
        """The shares of one synthesizer, its markers beside those of the others."""
        place, look = line_place(display, id), display.looks[id]
        loss, claim = columns
        found = [(n, exceedance(part[loss].to_numpy(), part[claim].to_numpy())) for n, part in table.groupby("n")]
        bars = [[each.share - each.low for _, each in found], [each.high - each.share for _, each in found]]
        axis.errorbar(
            [float(n) * 1.06 ** (place - 2) for n, _ in found], [each.share for _, each in found], bars, capsize=1.5,
            elinewidth=0.7, **line_look(look.colour, mark_of(look.guarantee), place),
        )  # fmt: skip
