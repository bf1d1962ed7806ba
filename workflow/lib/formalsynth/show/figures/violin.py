"""Violins: how values are distributed, synthesizers side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from formalsynth.show.drawing import dashed, frames
from formalsynth.show.figures.base import Framed, figure_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay


@figure_kind("violin")
class Violin(Framed):
    """Violins of the values, one for each synthesizer; with ``panels: synthesizer`` one for each sample size."""

    ALT = "Violin plots"
    FRAMES = ("none", "synthesizer")
    BY_PARAMETER = True

    kind: Literal["violin"] = "violin"

    def draw(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """Frames of violins, in the order of the table."""
        if self.panels == "synthesizer":
            return self._by_size(display, table)
        groups = [(title, group) for title, group in table.groupby("panel", sort=False)]
        across = max(group["synthesizer"].nunique() for _, group in groups)
        width = max(3.2, (0.85 if len(groups) > 1 else 1.15) * across + 0.8)
        drawing, axes = frames(len(groups), self.stacked, width, shared=isinstance(self.value, str))
        for place, (axis, (title, group)) in enumerate(zip(axes, groups, strict=True)):
            ids = list(group["synthesizer"].unique())
            violins(axis, group, "synthesizer", [display.looks[id].colour for id in ids], self.log)
            axis.set_xticks(range(len(ids)), [wrapped(display.looks[id].label) for id in ids])
            axis.set_title(title, fontsize=9)
            axis.set_ylabel(self.y if place == 0 or self.stacked else "")
            dashed(axis.axhline, group["line"])
        return drawing

    def _by_size(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """One frame for each synthesizer with the sample sizes across."""
        from matplotlib import pyplot as plt

        ids = list(table["synthesizer"].unique())
        across = min(3, len(ids))
        down = -(-len(ids) // across)
        drawing, axes = plt.subplots(down, across, figsize=(2.8 * across, 2.5 * down), layout="constrained", squeeze=False)
        for place, (axis, id) in enumerate(zip(axes.flat, ids, strict=False)):
            group = table[table["synthesizer"] == id]
            violins(axis, group, "n", [display.looks[id].colour] * group["n"].nunique(), self.log)
            axis.set_title(display.looks[id].label, fontsize=9)
            axis.set(ylabel=self.y if place % across == 0 else "", xlabel="n" if place + across >= len(ids) else "")
            dashed(axis.axhline, group["line"])
        for axis in axes.flat[len(ids) :]:
            axis.set_visible(False)
        return drawing


def violins(axis: Axes, table: pd.DataFrame, x: str, colours: Sequence[str], log: bool) -> None:
    """Violins of ``value`` over the groups of ``x``, in the table's order; a group without spread is a line."""
    import seaborn

    order = [str(group) for group in table[x].unique()]
    table = table.assign(**{x: table[x].astype(str)})
    seaborn.violinplot(
        data=table, x=x, y="value", order=order, hue=x, hue_order=order, palette=list(colours), legend=False, ax=axis,
        cut=0, density_norm="width", inner="quart", linewidth=0.8, width=0.85, log_scale=(False, True) if log else None,
    )  # fmt: skip
    for line in axis.lines:
        places = np.asarray(line.get_xdata(), dtype=float)
        line.set_color(ink(colours[round(float(places.mean()))]))
    for place, name in enumerate(order):
        values = table.loc[table[x] == name, "value"]
        if values.nunique() == 1:
            axis.plot([place - 0.3, place + 0.3], [values.iloc[0]] * 2, color=colours[place], linewidth=2)
    axis.set_xlabel("")


def ink(colour: str) -> str:
    """Dark or light, whichever can be seen on a colour."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#111111" if 0.3 * red + 0.59 * green + 0.11 * blue > 90 else "#ffffff"


def wrapped(label: str) -> str:
    """A label on two lines where it names a range and what is done with it."""
    head, found, tail = label.partition(") ")
    return f"{head})\n{tail}" if found else label
