"""Budgets: claimed, audited and attacked epsilon on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth.core.mechanism import is_strict
from formalsynth.core.model import Names
from formalsynth.core.rows import AUDITED
from formalsynth_workflow.show.drawing import drawn_ids, from_nothing, row_note
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.left_out import counted
from formalsynth_workflow.show.style import COLUMN, FAINT, INK
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Handle

MARKS = {
    ("claimed", ""): ("D", "white", "claimed"),
    ("audited", "add"): ("o", "#0072b2", "audited, a record joins"),
    ("audited", "remove"): ("v", "#d55e00", "audited, a record leaves"),
    ("attacked", ""): ("*", INK, "attacked"),
}
"""Marker, filling and words by column and kind of neighbour; an empty kind means the largest value over the neighbours."""
ROW = 0.122
"""Height of a row in inches."""
APART = 0.15
"""Distance between the ranges in a row, as a share of the row height."""
BROKEN, BROKEN_WORDS = "#b3321f", "bold red: costs more than claimed"
"""Colour of names, and words on the axis, for synthesizers whose audited epsilon exceeds the claimed one."""
ROUNDING = 1e-6
"""Relative difference up to which two numbers count as equal, to allow for rounding."""


@figure_kind("budgets")
class Budgets(Figure):
    """Claimed, audited and attacked epsilon of each synthesizer on one axis: medians and ranges over data sets."""

    ALT = "Points on one axis for each synthesizer"
    READING = (
        "Medians and ranges over data sets. Bold red: the audit finds more than is claimed. The axis is linear below 0.1. "
        "A guarantee for every data set is audited at δ = 0"
    )
    EMPTY_ROWS = True

    kind: Literal["budgets"]
    value: Names = Field(default_factory=lambda: ["claimed", "audited", "attacked"], description="Columns that are drawn.")

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Replace the audited epsilon of strict mechanisms by that at delta 0, the delta of their claim."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer", "neighbour"]
        audit = pd.concat([table for table in collected if AUDITED in table], ignore_index=True)
        pure = audit[(audit["delta"] == 0) & (audit["releases"] == 1) & (audit["streams"] == 1)].groupby(keys)[AUDITED].max()
        strict = np.array([is_strict(display.looks[id].guarantee) for id in tidy["synthesizer"]])
        compared = strict & (tidy["panel"] == AUDITED)
        at_0 = pure.reindex(pd.MultiIndex.from_frame(tidy[keys])).to_numpy()
        return tidy.assign(value=np.where(compared, at_0, tidy["value"]).astype(float))

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries for the markers."""
        from matplotlib.lines import Line2D

        drawn = table[table["value"].notna()]
        shown = {*zip(drawn["panel"], drawn["neighbour"], strict=True), *((column, "") for column in drawn["panel"].unique())}
        return [
            Line2D([], [], linestyle="", marker=marker, markersize=4.5, markerfacecolor=fill, markeredgecolor=INK, label=words)
            for key, (marker, fill, words) in MARKS.items()
            if key in shown
        ]

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column, with a row for each synthesizer."""
        return COLUMN, ROW * table["synthesizer"].nunique() + 0.6

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a row for each synthesizer, the first one at the top."""
        ids = drawn_ids(display, table)
        axis = canvas.subplots()
        axis.grid(axis="x", color=FAINT, alpha=0.2, linewidth=0.5)
        for place in range(0, len(ids), 2):
            axis.axhspan(place - 0.5, place + 0.5, color=FAINT, alpha=0.09, linewidth=0)
        for place, ((column, neighbour), look) in enumerate(MARKS.items()):
            part = table[table["panel"] == column]
            below = APART * (place - (len(MARKS) - 1) / 2)
            _draw_ranges(axis, part[part["neighbour"] == neighbour] if neighbour else part, ids, look, below)
        axis.set_yticks(range(len(ids)), [display.looks[id].label for id in ids])
        for place, id in enumerate(ids):
            rows = table[table["synthesizer"] == id]
            row_note(axis, place, counted(rows) if rows["value"].isna().all() else [])
        broken = _broken(table)
        for id, name in zip(ids, axis.get_yticklabels(), strict=True):
            if id in broken:
                name.set(fontweight="bold", color=BROKEN)
        axis.set_ylim(len(ids) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel(f"{self.y} ({BROKEN_WORDS})" if broken else self.y)
        from_nothing(axis)


def _broken(table: DataFrame) -> set[str]:
    """Synthesizers whose median audited epsilon over data sets exceeds the median claimed one."""
    largest = table.groupby(["panel", "synthesizer", "replicate"])["value"].max()
    medians = largest.groupby(["panel", "synthesizer"]).median().unstack("panel").reindex(columns=["claimed", AUDITED])
    return set(medians.index[medians[AUDITED] > (1 + ROUNDING) * medians["claimed"]])


def _draw_ranges(axis: Axes, table: DataFrame, ids: list[str], look: tuple[str, str, str], below: float) -> None:
    """Draw a number's median and range over data sets for each synthesizer, ``below`` rows below the middle of its row."""
    marker, fill, _ = look
    by_data_set = table.groupby(["synthesizer", "replicate"])["value"].max().groupby("synthesizer")
    ranges = by_data_set.agg(["min", "median", "max"])
    ranges = ranges.reindex([id for id in ids if id in ranges.index])
    places = [ids.index(str(id)) + below for id in ranges.index]
    axis.hlines(places, ranges["min"], ranges["max"], color=INK if fill == "white" else fill, linewidth=0.9, zorder=2)
    axis.scatter(
        ranges["median"], places, s=9 if marker != "*" else 18, marker=marker, facecolor=fill, edgecolor=INK,
        linewidths=0.6, zorder=3, clip_on=False,
    )  # fmt: skip
