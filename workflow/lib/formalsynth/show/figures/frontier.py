"""Frontiers: utility against the largest loss of the audit, or the guaranteed epsilon."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.core.rows import AUDITED, CURVE
from formalsynth.core.two_samples import two_samples
from formalsynth.displays.figures.frontier import Frontier
from formalsynth.show.drawing import LineLook, by_frame, drawn_ids, frames, from_nothing, headed, line_look, sizes
from formalsynth.show.groups import by_name
from formalsynth.show.painter import Painter, painter
from formalsynth.show.sight import APART, nearest
from formalsynth.show.style import INK, PAGE, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.displays.display import FigureDisplay


@painter("frontier")
class FrontierPainter(Painter[Frontier]):
    """Painter of frontiers: a marker for each synthesizer at its medians over data sets."""

    def line_words(self) -> str:
        """Words of the caption on lines and markers."""
        return (
            "Across: ε for adding or removing one record. Filled markers: the ε that is guaranteed for every data set; half "
            "filled (conditional guarantee) and open (for this data set only): the largest loss found so far, with a thin line "
            "to the claimed ε; dotted: what two samples of one population have between them"
        )

    def extended(self, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """Rows of audited data sets, with epsilon for adding or removing a record, and the distance of two samples."""
        import pandas as pd

        keys = ["scenario", "replicate", "synthesizer"]
        audit = pd.concat([table for table in collected if "neighbour" in table], ignore_index=True)
        audit = audit[audit["neighbour"].isin(["remove", "add"]) & (audit["candidate"] != CURVE)]
        audit = audit[(audit["releases"] == 1) & (audit["streams"] == 1)]
        audit = audit[audit["delta"] == audit.groupby(keys)["delta"].transform("first")]
        worst = audit.groupby(keys)[[AUDITED, "claimed"]].max().reindex(pd.MultiIndex.from_frame(tidy[keys]))
        strict = np.array([self.display.looks[id].guarantee in STRICT_KINDS for id in tidy["synthesizer"]])
        tidy = tidy.assign(
            x=np.where(strict, worst["claimed"], worst[AUDITED]),
            claimed=worst["claimed"].to_numpy(),
            line=[two_samples(int(n))[self.figure.value] for n in tidy["n"]],
        )
        return tidy[tidy["x"].notna()]

    def legend(self, table: pd.DataFrame) -> list[Line2D]:
        """Synthesizers, as they are drawn."""
        from matplotlib.lines import Line2D

        by_label: dict[str, str] = {}
        for id in drawn_ids(self.display, table):
            by_label.setdefault(self.display.looks[id].label, id)
        looks = _looks(self.display)
        handles = [Line2D([], [], label=label, **looks[id]) for label, id in by_label.items()]
        for handle in handles:
            handle.set_linestyle("none")
        return handles

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a page, with frames below each other."""
        return PAGE, 2.3 * len(by_frame(self.display, table)) + 0.3

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a frame for each scenario."""
        groups, looks = by_frame(self.display, table), _looks(self.display)
        for (axis,), (title, group) in zip(frames(canvas, [1] * len(groups)), groups, strict=True):
            self._points(axis, looks, group)
            headed(axis, title, sizes(self.display, group))
            axis.set_ylabel(self.figure.y)
            axis.set_yscale("log")
            axis.axhline(group["line"].iloc[0], linestyle=":", color=INK, linewidth=0.8)
        from_nothing(axis)
        axis.set_xlabel("largest loss found so far, or guaranteed ε (filled); one record added or removed")

    def _points(self, axis: Axes, looks: Mapping[str, LineLook], table: pd.DataFrame) -> None:
        """Draw a marker of each synthesizer at its medians."""
        for id, part in by_name(table, "synthesizer"):
            look = looks[id]
            epsilon, claimed, value = part[["x", "claimed", "value"]].median()
            axis.plot([epsilon, claimed], [value, value], color=look["color"], linewidth=0.6, alpha=0.7, zorder=1)
            axis.plot(epsilon, value, zorder=3, **look)


def _looks(display: FigureDisplay) -> dict[str, LineLook]:
    """Marker of each synthesizer, whose filling shows the kind of guarantee."""
    places = shapes(display)
    looks = {id: display.looks[id] for id in display.ids}
    return {id: line_look(look.colour, mark_of(look.guarantee), places[look.label]) for id, look in looks.items()}


def shapes(display: FigureDisplay) -> dict[str, int]:
    """Place of each label's marker: the first that no label of a similar colour has, under any kind of sight."""
    places: dict[str, int] = {}
    colours = {look.label: look.colour for look in (display.looks[id] for id in display.ids)}
    for label, colour in colours.items():
        taken = {places[other] for other in places if nearest(colour, colours[other]) < APART}
        places[label] = next(place for place in itertools.count() if place not in taken)
    return places
