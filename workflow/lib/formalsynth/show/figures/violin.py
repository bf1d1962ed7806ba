"""Violins: distributions of values, synthesizers below each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth.displays.figures.violin import Violin
from formalsynth.show.drawing import confidential, dashed, density, frames, headed, printed_tick, sizes
from formalsynth.show.groups import by_name, by_number
from formalsynth.show.painter import FramedPainter, painter
from formalsynth.show.style import COLUMN, FAINT, INK, TEXT, Mark, edge, ink, mark_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase as Canvas

    from formalsynth.displays.display import Look, ShownScenario

HALF = 0.4
"""Half of the height of a violin, in rows."""
LEAST = 0.025
"""Half of the height of a violin where it is thinnest."""
FEW = 30
"""Below this number of values, they are dots and have no density."""
DOTS = 200
"""Largest number of values that are also drawn as dots."""
TIED = 0.1
"""Share of one value among all from which values have no density."""
GRID = 40
"""Steps of a grid between the least and the largest value below which values have no density, such as whole numbers."""
BINS = 36
"""Approximate number of bars across a frame, for rows whose values have no density."""
POINTS = 180
"""Points of the outline of a violin."""
ROW = 0.26
"""Height of a row in inches."""
LABEL = 0.5
"""Height in rows of the label of the confidential data, below the last row."""


class Row(NamedTuple):
    """A row of a frame."""

    label: str
    look: Look
    table: pd.DataFrame
    """Part of the tidy table in this row."""


@painter("violin")
class ViolinPainter(FramedPainter[Violin]):
    """Painter of violins: a row for each synthesizer, or for each sample size."""

    READING = (
        "Violins or histograms show the distribution, scaled to equal height; marker: median; bar: middle half; dots: values"
    )
    DOTTED = "Dots: values; line across them: median"
    """Sentence of the caption where every row has few values."""

    def reading(self) -> str:
        """Sentence of the caption on how to read the drawing."""
        return self.DOTTED if max(map(self._values, self.display.scenarios), default=FEW) < FEW else self.READING

    def _values(self, scenario: ShownScenario) -> int:
        """Count the values in each row."""
        numbers = {"replicates": scenario.replicates, "audit": scenario.audited, "sets": scenario.synthetic_sets}
        return numbers.get(self.display.table, FEW if self.display.table in ("details", "draws") else scenario.n)

    def inches(self, table: pd.DataFrame) -> tuple[float, float]:
        """Width of a column, with a row for each violin."""
        frames = [len(rows) + LABEL * _has_confidential(group) for _, rows, group in self._frames(table)]
        shared = isinstance(self.figure.value, str)
        return COLUMN, sum(frames) * ROW + len(frames) * (0.35 if shared else 0.6) + 0.35

    def marked(self, table: pd.DataFrame) -> list[str]:
        """Synthesizers that have a marker: those with a violin, and not only dots or a tick."""
        drawn = [row for _, rows, _ in self._frames(table) for row in rows]
        return [str(row.table["synthesizer"].iloc[0]) for row in drawn if _has_violin(row.table["value"].to_numpy(float))]

    def paint(self, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw frames of violins below each other, in the order of the table."""
        groups = self._frames(table)
        shared = isinstance(self.figure.value, str)
        heights = [len(rows) + 0.9 + LABEL * _has_confidential(group) for _, rows, group in groups]
        binned = {title: any(self._tied(row.table["value"].to_numpy(float)) for row in rows) for title, rows, _ in groups}
        if shared:  # values of one quantity look alike in all frames
            binned = dict.fromkeys(binned, any(binned.values()))
        for (axis,), (title, rows, group) in zip(frames(canvas, heights, shared=shared), groups, strict=True):
            if self.figure.log:
                axis.set_xscale("log")
            headed(axis, title, sizes(self.display, group))
            self._rows(axis, rows, group, binned[title])
            dashed(axis, group["line"], self.line_label())
            if shared:
                axis.label_outer()
        axis.set_xlabel(self.figure.y, loc="right")

    def _frames(self, table: pd.DataFrame) -> list[tuple[str, list[Row], pd.DataFrame]]:
        """Frames with title, rows and part of the table."""
        looks = self.display.looks
        if self.figure.panels == "synthesizer":
            return [
                (looks[id].label, [Row(f"n = {n:g}", looks[id], rows) for n, rows in by_number(group, "n")], group)
                for id, group in by_name(table, "synthesizer")
            ]
        return [
            (title, [Row(looks[id].label, looks[id], rows) for id, rows in by_name(group, "synthesizer")], group)
            for title, group in by_name(table, "panel")
        ]

    def _rows(self, axis: Axes, rows: list[Row], table: pd.DataFrame, binned: bool) -> None:
        """Draw the rows of a frame, from the top, with the printed values, and the confidential data across."""
        values = self._scaled(table["value"].to_numpy(float))
        span = (values.min(), values.max())
        few = {}
        for place, row in enumerate(rows):
            if self._row(axis, place, row.look, row.table["value"].to_numpy(float), span, binned):
                few[place] = row
            if "printed_low" in table:
                printed_tick(axis, row.table, place, HALF)
        self._dots(axis, few)  # at once, since the whole drawing is laid out for each swarm
        confidential(axis, table, next((row.look.colour for row in rows if row.label == DATA), INK))
        axis.set_yticks(range(len(rows)), [row.label for row in rows])
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(rows) - 0.45 + LABEL * _has_confidential(table), -0.9 if table["line"].notna().any() else -0.55)

    def _scaled(self, values: Array) -> Array:
        """Values on the scale of the axis; on a logarithmic one without those that are not positive."""
        return np.log10(values[values > 0]) if self.figure.log else values

    def _tied(self, values: Array) -> bool:
        """Return True for a row that has bars and no density."""
        return _has_violin(values) and _is_tied(self._scaled(values))

    def _row(self, axis: Axes, place: int, look: Look, values: Array, span: tuple[float, float], binned: bool) -> bool:
        """Draw one group of values; True where they are so few that they have to be dots."""
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        if _is_constant(values):
            axis.plot(
                [middle] * 2, [place - HALF / 2, place + HALF / 2], color=edge(look.colour), linewidth=3, solid_capstyle="butt"
            )
            axis.annotate(
                f"all = {middle:.4g}", (middle, place), xytext=(4 if self._left(middle, span) else -4, 0), fontsize=TEXT,
                textcoords="offset points", color=FAINT, va="center", ha="left" if self._left(middle, span) else "right",
            )  # fmt: skip
            return False
        scaled = self._scaled(values)
        if len(scaled) < len(values):
            note = f"{len(values) - len(scaled)} of {len(values)} at 0"
            axis.annotate(note, (0, place + 0.3), xycoords=axis.get_yaxis_transform(), fontsize=TEXT, color=FAINT, va="center")
        if len(values) < FEW:
            axis.plot([middle] * 2, [place - HALF, place + HALF], color=INK, linewidth=0.9, zorder=3)
            return True
        contrast = ink(look.colour)
        if binned:
            edges, halves, gap = _bars(scaled, span)
            edges = 10**edges if self.figure.log else edges
            widths = np.diff(edges)
            axis.bar(
                edges[:-1] + gap / 2 * widths, 2 * halves, (1 - gap) * widths, place - halves, align="edge",
                facecolor=look.colour, edgecolor=edge(look.colour), linewidth=0.5,
            )  # fmt: skip
        else:
            across, halves = _outline(scaled)
            across = 10**across if self.figure.log else across
            axis.fill_between(
                across, place - halves, place + halves, facecolor=look.colour, edgecolor=edge(look.colour), linewidth=0.5
            )
            if len(values) <= DOTS:
                heights = np.interp(values, across, halves) * _spread(len(values))
                axis.scatter(values, place + heights, s=0.8, color=contrast, alpha=0.55, linewidths=0)
        mark = mark_of(look.guarantee)
        # A light bar has a dark edge, since it may leave the dark shape.
        for colour, width in [(INK, 3), (contrast, 2)] if contrast != INK else [(INK, 2)]:
            axis.plot([low, high], [place] * 2, color=colour, linewidth=width, solid_capstyle="butt", zorder=3)
        axis.plot(
            middle, place, marker="o" if mark is Mark.NONE else mark.marker, markersize=4.2, zorder=4, markerfacecolor=mark.fill,
            markeredgecolor=INK if mark.fill != INK else "white", markeredgewidth=0.8,
        )  # fmt: skip
        return False

    def _left(self, middle: float, span: tuple[float, float]) -> bool:
        """Return True where a value is in the left half of the frame."""
        place = self._scaled(np.array([middle]))
        return not len(place) or bool(place[0] <= sum(span) / 2)

    def _dots(self, axis: Axes, groups: dict[int, Row]) -> None:
        """Draw a dot for each value of the rows at these places, without overlap."""
        import pandas as pd
        import seaborn

        if not groups:
            return
        by_place = {float(place): row.table["value"] for place, row in groups.items()}
        values = pd.concat(by_place, names=["place"]).reset_index("place")
        values = values[values["value"] > 0] if self.figure.log else values
        seaborn.swarmplot(
            values, x="value", y="place", hue="place", palette={float(place): row.look.colour for place, row in groups.items()},
            orient="y", native_scale=True, ax=axis, size=2.7, edgecolor=INK, linewidth=0.3, zorder=2, legend=False, warn_thresh=1,
        )  # fmt: skip
        axis.set(xlabel="", ylabel="")


def _is_constant(values: Array) -> bool:
    """Return True where all values are the same."""
    return bool(np.ptp(values) <= 1e-9 * np.abs(values).max())


def _has_violin(values: Array) -> bool:
    """Return True where a row has a violin: enough values that are not all the same."""
    return len(values) >= FEW and not _is_constant(values)


def _has_confidential(table: pd.DataFrame) -> bool:
    """Return True where a frame has the line of the confidential data."""
    names = set(table["synthesizer"])
    return DATA in names and len(names) > 1


def _is_tied(values: Array) -> bool:
    """Return True for values without a density: on a coarse grid, one value too often, or too few of them."""
    distinct, counts = np.unique(np.round(values, 9), return_counts=True)
    coarse = len(distinct) > 1 and bool(np.ptp(distinct) < GRID * np.diff(distinct).min())
    return coarse or bool(counts.max() >= TIED * len(values)) or len(values) < FEW


def _outline(values: Array) -> tuple[Array, Array]:
    """Points across a violin, and half of its height at each."""
    across = np.linspace(values.min(), values.max(), POINTS)
    return across, _heights(density(values, across))


def _bars(values: Array, span: tuple[float, float]) -> tuple[Array, Array, float]:
    """Edges of bars and half the height of each, with the gap between them as a share of their width.

    They are centred on integers where most values are integers, and else on the most frequent value.

    Args:
        values: values of a row (n,), on the scale of the axis.
        span: least and largest value of the frame.
    """
    distinct, counts = np.unique(np.round(values, 9), return_counts=True)
    whole = bool(np.mean(values == np.round(values)) > 0.5) and span[1] - span[0] >= 2
    centre = float(distinct[counts.argmax()])
    centre = round(centre) if whole else centre
    width = _bar_width((span[1] - span[0]) / BINS, whole)
    places = np.floor((values - centre) / width + 0.5).astype(int)
    edges = centre + width * (np.arange(places.min(), places.max() + 2) - 0.5)
    halves = _heights(np.bincount(places - places.min()).astype(float))
    return edges, halves, 0.25 if whole else 0.0


def _heights(halves: Array) -> Array:
    """Half heights, scaled to those of a row; small ones can be seen."""
    heights: Array = np.maximum(HALF * halves / halves.max(), LEAST * (halves > 0))
    return heights


def _bar_width(about: float, whole: bool) -> float:
    """Width of bars that have integers in their middle: an odd number of integers, or an even part of one."""
    if whole or about >= 1:
        return 1 + 2 * round(max(0, about - 1) / 2)
    return 1 / (2 * math.ceil(0.5 / about))


def _spread(number: int) -> Array:
    """Numbers (n,) between -0.8 and 0.8 that fill the interval evenly, the same ones every time."""
    heights: Array = 1.6 * ((np.arange(number) * (np.sqrt(5) - 1) / 2) % 1) - 0.8
    return heights
