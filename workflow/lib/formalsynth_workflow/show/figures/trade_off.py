"""Trade-offs: the error rates of an attack on synthetic data, compared with the region that the claim allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from formalsynth.audit.attack import least_errors
from formalsynth.core.mechanism import is_strict
from formalsynth_workflow.show.display import Look
from formalsynth_workflow.show.drawing import grid, headed
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import FAINT, INK, PAGE, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame

MARGIN = 0.8
"""Lower end of the axes, relative to the position of a share of 0."""
BELOW = 0.5
"""Position of a share of 0 on the logarithmic axes, relative to the smallest positive share."""


@figure_kind("trade_off")
class TradeOff(Figure):
    """False negatives against false positives of the attack, drawn over the region that the claim allows."""

    X_COLUMN = "value"
    WIDTH = PAGE
    HEIGHT = 1.6
    MARGIN = 0.3
    IN_A_ROW = 4
    ALT = "Small panels, each with a line of one error rate against the other"
    FRAMES = ("synthesizer",)
    READING = (
        "Shaded: error rates that the claimed (ε, δ) allows, with the claim on the data set (dark) and with the larger claim of "
        "both neighbours (light); a line below the shading breaks the claim"
    )

    kind: Literal["trade_off"]
    table: Literal["audit"] = "audit"
    value: Literal["error"] = "error"
    panels: Literal["synthesizer"] = "synthesizer"

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Add the claims, their delta and the attacked epsilon to the error rates."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer", "neighbour"]
        attacks = pd.concat([table for table in collected if "attacked" in table], ignore_index=True)
        attacks = attacks[attacks["attacked"].notna()].drop_duplicates(keys).set_index(keys)
        rows = pd.MultiIndex.from_frame(tidy[keys])
        columns = ["delta", "claimed", "claimed_larger", "attacked"]
        return tidy.assign(**{column: attacks[column].reindex(rows).to_numpy() for column in columns})

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each synthesizer, with the same axes."""
        some = table[["value", "x"]].to_numpy(dtype=float)
        least = BELOW * float(some[some > 0].min(initial=1))
        groups = by_name(table, "synthesizer")
        axes = grid(canvas, len(groups), self.IN_A_ROW, sharex=True, sharey=True)
        for axis, (id, group) in zip(axes, groups, strict=True):
            _draw_frame(axis, display.looks[id], group, least)
        for axis in axes[-self.IN_A_ROW :]:
            axis.set_xlabel("false positives")
        for axis in axes[:: self.IN_A_ROW]:
            axis.set_ylabel(self.y)


def _draw_frame(axis: Axes, look: Look, table: DataFrame, least: float) -> None:
    """Draw the attack on one synthesizer."""
    across = np.geomspace(least, 1, 200)
    delta = 0.0 if is_strict(look.guarantee) else float(table["delta"].max())
    for column, shade in (("claimed_larger", 0.18), ("claimed", 0.3)):
        limits = least_errors(across, float(table[column].max()), delta)
        axis.fill_between(across, np.maximum(limits, least), 1, color=FAINT, alpha=shade, linewidth=0)
    for _, part in table.groupby(["scenario", "replicate"]):
        ordered = part.sort_values(["x", "value"], ascending=[True, False])
        axis.plot(ordered["x"].clip(lower=least), ordered["value"].clip(lower=least), color=edge(look.colour), linewidth=1.4)
    axis.set(xscale="log", yscale="log", xlim=(MARGIN * least, 1), ylim=(MARGIN * least, 1))
    headed(axis, look.label)
    words = f"claimed {table['claimed'].max():.3g}\nattacked {table['attacked'].max():.2g}"
    axis.text(0.05, 0.05, words, ha="left", va="bottom", color=INK, transform=axis.transAxes)
