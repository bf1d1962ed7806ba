"""Densities: how values are distributed, synthesizers on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from formalsynth.show.figures.base import Figure, figure_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from formalsynth.show.display import FigureDisplay

STYLES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))


@figure_kind("density")
class Density(Figure):
    """Kernel densities of the values, each synthesizer a line."""

    ALT = "Density curves"

    kind: Literal["density"]
    value: str = Field(description="Column that is drawn.")
    exact: bool = Field(False, description="Also the exact densities among the study's details.")
    centred: bool = Field(False, description="A second frame with each distribution centred at its mean.")

    def tables(self) -> list[str]:
        """Collected tables that it reads of each scenario."""
        return [self.table, *(["details"] if self.exact else [])]

    def extended(self, display: FigureDisplay, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """The tidy table with the points of the exact densities, where they are asked for."""
        import pandas as pd

        if not self.exact:
            return tidy
        exact = pd.concat([table for table in collected if "density" in table], ignore_index=True)
        return pd.concat([tidy, exact[exact["synthesizer"].isin(display.ids)].assign(panel="")], ignore_index=True)

    def draw(self, display: FigureDisplay, table: pd.DataFrame) -> Drawing:
        """One frame, or with ``centred`` a second one around the means."""
        from matplotlib import pyplot as plt

        groups = [("", table)]
        if self.centred:
            centre = table.groupby("synthesizer")["value"].transform("mean")
            groups = [("raw", table), ("centred at the mean", table.assign(value=table["value"] - centre))]
        drawing, axes = plt.subplots(1, len(groups), figsize=(5.2 * len(groups), 3.6), layout="constrained", squeeze=False)
        for place, (axis, (title, group)) in enumerate(zip(axes.flat, groups, strict=True)):
            self._curves(axis, display, group)
            axis.set(xlabel=self.y, ylabel="" if place else "density", title=title)
        axes.flat[-1].legend(frameon=False)
        return drawing

    def _curves(self, axis: Axes, display: FigureDisplay, table: pd.DataFrame) -> None:
        """A line for each synthesizer, and dots for its exact density; those in front are smaller."""
        import seaborn

        ids = list(table["synthesizer"].unique())
        for place, id in enumerate(ids):
            values = table.loc[table["synthesizer"] == id, "value"].dropna()
            look, style = display.looks[id], STYLES[place % len(STYLES)]
            seaborn.kdeplot(x=values, ax=axis, color=look.colour, linestyle=style, label=look.label, cut=0)
            if "density" in table:
                curve = table[(table["synthesizer"] == id) & table["density"].notna()]
                axis.plot(curve["x"], curve["density"], ".", color=look.colour, markersize=2.5 + 2 * (len(ids) - place))
