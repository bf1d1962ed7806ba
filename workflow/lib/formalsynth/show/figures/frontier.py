"""Frontiers: utility against the largest loss found, or the guaranteed epsilon."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.core.rows import AUDIT, AUDITED, CURVE
from formalsynth.core.two_samples import two_samples
from formalsynth.show.drawing import LineLook, by_frame, frames, from_nothing, headed, line_look, sizes
from formalsynth.show.figures.base import Figure, figure_kind
from formalsynth.show.sight import APART, nearest
from formalsynth.show.style import INK, PAGE, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay


@figure_kind("frontier")
class Frontier(Figure):
    """Utility against the epsilon of adding or removing one record: medians over data sets.

    A mechanism with a guarantee for every data set is at that guarantee, any other at its audited epsilon, with a thin line to
    the claimed one.
    """

    ALT = "Points of utility against epsilon"
    FRAMES = ("none", "scenario")

    kind: Literal["frontier"]
    value: Literal["ecdf_max", "ecdf_avg"] = Field(description="Distance of the synthetic data to the confidential data.")

    @property
    def across(self) -> str:
        """The audited epsilon."""
        return AUDITED

    def tables(self) -> list[str]:
        """The replicates, and the audit, which knows the kind of neighbour."""
        return [self.table, AUDIT]

    def line_words(self) -> str:
        """What the caption says of lines and markers."""
        return (
            "Across: ε for adding or removing one record. Filled markers: the ε that is guaranteed for every data set; half "
            "filled (conditional guarantee) and open (for this data set only): the largest loss found so far, with a thin line "
            "to the claimed ε; dotted: what two samples of one population have between them"
        )

    def extended(self, display: FigureDisplay, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """The rows of audited data sets, with epsilon for adding or removing a record, and the distance of two samples."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer"]
        audit = pd.concat([table for table in collected if "neighbour" in table], ignore_index=True)
        audit = audit[audit["neighbour"].isin(["remove", "add"]) & (audit["candidate"] != CURVE)]
        audit = audit[(audit["releases"] == 1) & (audit["streams"] == 1)]
        audit = audit[audit["delta"] == audit.groupby(keys)["delta"].transform("first")]
        worst = audit.groupby(keys)[[AUDITED, "claimed"]].max().reindex(pd.MultiIndex.from_frame(tidy[keys]))
        strict = np.array([display.looks[id].guarantee in STRICT_KINDS for id in tidy["synthesizer"]])
        tidy = tidy.assign(
            x=np.where(strict, worst["claimed"], worst[AUDITED]),
            claimed=worst["claimed"].to_numpy(),
            line=[two_samples(int(n))[self.value] for n in tidy["n"]],
        )
        return tidy[tidy["x"].notna()]

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> list[Line2D]:
        """The synthesizers, as they are drawn."""
        from matplotlib.lines import Line2D

        by_label: dict[str, str] = {}
        for id in (id for id in display.ids if id in set(table["synthesizer"])):
            by_label.setdefault(display.looks[id].label, id)
        looks = _looks(display)
        handles = [Line2D([], [], label=label, **looks[id]) for label, id in by_label.items()]
        for handle in handles:
            handle.set_linestyle("none")
        return handles

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A page wide, with frames below each other."""
        return PAGE, 2.3 * len(by_frame(display, table)) + 0.3

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """A frame for each scenario."""
        groups, looks = by_frame(display, table), _looks(display)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            self._points(axis, looks, group)
            headed(axis, title, sizes(display, group))
            axis.set_ylabel(self.y)
            axis.set_yscale("log")
            axis.axhline(group["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8)
        from_nothing(axis)
        axis.set_xlabel("largest loss found so far, or guaranteed ε (filled); one record added or removed")

    def _points(self, axis: Axes, looks: Mapping[str, LineLook], table: pd.DataFrame) -> None:
        """A marker of each synthesizer at its medians."""
        for id, part in table.groupby("synthesizer", sort=False):
            look = looks[str(id)]
            epsilon, claimed, value = part[["x", "claimed", "value"]].median()
            axis.plot([epsilon, claimed], [value, value], color=look["color"], linewidth=0.6, alpha=0.7, zorder=1)
            axis.plot(epsilon, value, zorder=3, **look)


def _looks(display: FigureDisplay) -> dict[str, LineLook]:
    """The marker of each synthesizer, whose filling tells the kind of guarantee."""
    places = shapes(display)
    looks = {id: display.looks[id] for id in display.ids}
    return {id: line_look(look.colour, mark_of(look.guarantee), places[look.label]) for id, look in looks.items()}


def shapes(display: FigureDisplay) -> dict[str, int]:
    """The place of each label's marker: the first one that no label has whose colour looks much the same to somebody."""
    found: dict[str, int] = {}
    colours = {look.label: look.colour for look in (display.looks[id] for id in display.ids)}
    for label, colour in colours.items():
        taken = {found[other] for other in found if nearest(colour, colours[other]) < APART}
        found[label] = next(place for place in itertools.count() if place not in taken)
    return found
