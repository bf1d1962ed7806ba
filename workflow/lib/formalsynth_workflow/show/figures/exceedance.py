"""Exceedance: the share of data sets whose loss exceeds the claim."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.audit.exceedance import exceedance
from formalsynth.core.model import Names
from formalsynth_workflow.show.drawing import drawn_ids, grid, headed, line_handles, line_look_of, line_place, ticks_at
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_number
from formalsynth_workflow.show.style import PAGE
from formalsynth_workflow.show.types import Canvas, DataFrame, Handle

TITLES = {"claimed": "against the claim on the data set", "claimed_larger": "against the larger claim of both neighbours"}


@figure_kind("exceedance")
class Exceeding(Figure):
    """Share of data sets whose audited epsilon exceeds the claimed one, against n."""

    X_COLUMN = "n"
    ALT = "Lines with error bars"
    READING = "Bars: 95 % confidence limits (Clopper and Pearson)"
    COUNTS_INFINITE = True

    kind: Literal["exceedance"]
    value: Names = Field(
        default_factory=lambda: ["audited", "claimed", "claimed_larger"],
        description="The loss, then the claims, each in its own frame.",
    )

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a page, with the frames in a row."""
        return PAGE, 2.6

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the lines."""
        return line_handles(display, table)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each claim, with the markers of a synthesizer next to those of the others."""
        loss, *claims = self.value
        keys = ["synthesizer", "n", "replicate", "panel"]
        wide = table.groupby(keys, sort=False)["value"].max().unstack("panel").dropna().astype(float).reset_index()
        for axis, claim in zip(grid(canvas, len(claims), len(claims)), claims, strict=True):
            for id in drawn_ids(display, wide):
                sizes = by_number(wide[wide["synthesizer"] == id], "n")
                above = [exceedance(part[loss].to_numpy(), part[claim].to_numpy()) for _, part in sizes]
                axis.errorbar(
                    [n * 1.06 ** (line_place(display, id) - 2) for n, _ in sizes], [share.share for share in above],
                    [[share.share - share.low for share in above], [share.high - share.share for share in above]],
                    capsize=1.5, elinewidth=0.7, **line_look_of(display, id),
                )  # fmt: skip
            headed(axis, TITLES.get(claim, claim))
            axis.set(xlabel="n", xscale="log", ylim=(-0.04, 1.04), ylabel=self.y)
            ticks_at(axis.xaxis, table["n"])
