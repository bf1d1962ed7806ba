"""Violins: distributions of values, with one row for each synthesizer."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth_workflow.show.display import Look, ShownScenario
from formalsynth_workflow.show.drawing import confidential, dashed, density, frames, headed, printed_tick, row_note, sizes
from formalsynth_workflow.show.figure import FigureDisplay, Framed, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.left_out import counted
from formalsynth_workflow.show.style import COLUMN, FAINT, INK, TEXT, Mark, edge, ink, mark_of
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Series

HALF = 0.4
"""Half of the height of a violin, in rows."""
LEAST = 0.025
"""Half of the height of a violin at its thinnest point."""
FEW = 30
"""Number of values below which a row has dots and no density."""
DOTS = 200
"""Largest number of values at which they are also drawn as dots."""
TIED = 0.1
"""Share of values equal to the most frequent one, at and above which no density is drawn."""
GRID = 40
"""Number of grid steps from the smallest to the largest value; with fewer steps, values such as integers get no density."""
BINS = 36
"""Approximate number of bars across a frame, for rows without a density."""
POINTS = 180
"""Number of points of the outline of a violin."""
ROW = 0.26
"""Height of a row in inches."""
LABEL = 0.5
"""Height of the label of the confidential data below the last row, in rows."""


class Row(NamedTuple):
    """A row of a frame."""

    label: str
    look: Look
    table: DataFrame
    """Part of the tidy table that this row shows."""

    @property
    def values(self) -> Array:
        """Values (n,) that are drawn."""
        values: Array = self.table["value"].dropna().to_numpy(float)
        return values


@figure_kind("violin")
class Violin(Framed):
    """Violins of the values, one for each synthesizer or, with ``panels: synthesizer``, one for each sample size."""

    ALT = "Violin plots"
    FRAMES = ("none", "synthesizer")
    BY_PARAMETER = True
    PRINTS = True
    READING = (
        "Violins or histograms show the distribution, scaled to equal height; marker: median; bar: middle half; dots: values"
    )
    EMPTY_ROWS = True

    kind: Literal["violin"] = "violin"

    def reading(self, display: FigureDisplay) -> str:
        """Sentence of the caption on how to read the drawing; another one if every row has few values."""

        def values(scenario: ShownScenario) -> int:
            numbers = {"replicates": scenario.replicates, "audit": scenario.audited, "sets": scenario.synthetic_sets}
            return numbers.get(display.table, FEW if display.table in ("details", "draws") else scenario.n)

        few = max(map(values, display.scenarios), default=FEW) < FEW
        return "Dots: values; line across them: median" if few else self.READING

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column, with a row for each violin."""
        frames = [len(self._rows(display, group)) + LABEL * _has_confidential(group) for _, group in self.frames(display, table)]
        shared = isinstance(self.value, str)
        return COLUMN, sum(frames) * ROW + len(frames) * (0.35 if shared else 0.6) + 0.35

    def marked(self, display: FigureDisplay, table: DataFrame) -> list[str]:
        """Synthesizers with a marker: those with a violin, not those with only dots or a tick."""
        drawn = [row for _, group in self.frames(display, table) for row in self._rows(display, group)]
        return [str(row.table["synthesizer"].iloc[0]) for row in drawn if _has_violin(row.values)]

    def logarithmic(self, table: DataFrame) -> Series | None:
        """Largest value of each row: only the positive values of a row are drawn."""
        rows = ["synthesizer", "n"] if self.panels == "synthesizer" else ["panel", "synthesizer"]
        return table.groupby(rows, dropna=False)["value"].transform("max") if self.log else None

    def _rows(self, display: FigureDisplay, group: DataFrame) -> list[Row]:
        """Rows of a frame."""
        looks = display.looks
        if self.panels == "synthesizer":
            look = looks[group["synthesizer"].iloc[0]]
            return [Row(f"n = {n:g}", look, rows) for n, rows in by_number(group, "n")]
        return [Row(looks[id].label, looks[id], rows) for id, rows in by_name(group, "synthesizer")]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw frames of violins below each other, in the order of the table."""
        groups = [(title, self._rows(display, group), group) for title, group in self.frames(display, table)]
        shared = isinstance(self.value, str)
        heights = [len(rows) + 0.9 + LABEL * _has_confidential(group) for _, rows, group in groups]
        binned = [any(_has_violin(row.values) and _is_tied(self._scaled(row.values)) for row in rows) for _, rows, _ in groups]
        if shared:  # frames of one quantity use the same style
            binned = [any(binned)] * len(binned)
        for (axis,), (title, rows, group), bars in zip(frames(canvas, heights, shared=shared), groups, binned, strict=True):
            if self.log:
                axis.set_xscale("log")
            headed(axis, title, sizes(display, group))
            self._draw_rows(axis, rows, group, bars)
            dashed(axis, group["line"], self.line_name())
            if shared:
                axis.label_outer()
        axis.set_xlabel(self.y, loc="right")

    def _draw_rows(self, axis: Axes, rows: list[Row], table: DataFrame, binned: bool) -> None:
        """Draw the rows of a frame from the top, with the printed values, and the confidential data across all rows."""
        values = self._scaled(table["value"].dropna().to_numpy(float))
        span = (values.min(), values.max()) if len(values) else (0.0, 0.0)
        few = {}
        for place, row in enumerate(rows):
            if self._draw_row(axis, place, row, span, binned):
                few[place] = row
            if "printed_low" in table:
                printed_tick(axis, row.table, place, HALF)
        self._draw_dots(axis, few)  # all in one call, because each swarm lays out the whole drawing
        confidential(axis, table, next((row.look.colour for row in rows if row.label == DATA), INK))
        axis.set_yticks(range(len(rows)), [row.label for row in rows])
        axis.tick_params(axis="y", length=0)
        axis.set_ylim(len(rows) - 0.45 + LABEL * _has_confidential(table), -0.9 if table["line"].notna().any() else -0.55)

    def _scaled(self, values: Array) -> Array:
        """Values on the scale of the axis; on a logarithmic axis, only positive values."""
        return np.log10(values[values > 0]) if self.log else values

    def _draw_row(self, axis: Axes, place: int, row: Row, span: tuple[float, float], binned: bool) -> bool:
        """Draw one group of values; return True if they are so few that they must be drawn as dots."""
        look, values = row.look, row.values
        self._write_notes(axis, place, row)
        if not len(values):
            return False
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        scaled = self._scaled(values)
        if _is_constant(values):
            left = not len(scaled) or bool(scaled[0] <= sum(span) / 2)
            ends = [place - HALF / 2, place + HALF / 2]
            axis.plot([middle] * 2, ends, color=edge(look.colour), linewidth=3, solid_capstyle="butt")
            axis.annotate(
                f"all = {middle:.4g}", (middle, place), xytext=(4 if left else -4, 0), fontsize=TEXT,
                textcoords="offset points", color=FAINT, va="center", ha="left" if left else "right",
            )  # fmt: skip
            return False
        if len(values) < FEW:
            axis.plot([middle] * 2, [place - HALF, place + HALF], color=INK, linewidth=0.9, zorder=3)
            return True
        contrast = ink(look.colour)
        outline: dict[str, Any] = {"facecolor": look.colour, "edgecolor": edge(look.colour), "linewidth": 0.5}
        if binned:
            edges, halves, gap = bars(scaled, span)
            edges = 10**edges if self.log else edges
            widths = np.diff(edges)
            axis.bar(edges[:-1] + gap / 2 * widths, 2 * halves, (1 - gap) * widths, place - halves, align="edge", **outline)
        else:
            across = np.linspace(scaled.min(), scaled.max(), POINTS)
            halves = _heights(density(scaled, across))
            across = 10**across if self.log else across
            axis.fill_between(across, place - halves, place + halves, **outline)
            if len(values) <= DOTS:
                heights = np.interp(values, across, halves) * _spread(len(values))
                axis.scatter(values, place + heights, s=0.8, color=contrast, alpha=0.55, linewidths=0)
        mark = mark_of(look.guarantee)
        # A light bar has a dark edge, because it may extend beyond the dark shape.
        for colour, width in [(INK, 3), (contrast, 2)] if contrast != INK else [(INK, 2)]:
            axis.plot([low, high], [place] * 2, color=colour, linewidth=width, solid_capstyle="butt", zorder=3)
        axis.plot(
            middle, place, marker="o" if mark is Mark.NONE else mark.marker, markersize=4.2, zorder=4, markerfacecolor=mark.fill,
            markeredgecolor=INK if mark.fill != INK else "white", markeredgewidth=0.8,
        )  # fmt: skip
        return False

    def _write_notes(self, axis: Axes, place: int, row: Row) -> None:
        """Write how many values of a row are not drawn, and why; in an empty row, the reason alone."""
        values = row.values
        notes = counted(row.table) if not len(values) else [words.partition(" (")[0] for words in counted(row.table)]
        off = len(values) - len(self._scaled(values))
        if off and not _is_constant(values):
            notes = [*notes, f"{off} of {len(values)} at {'or below ' * bool((values < 0).any())}0"]
        row_note(axis, place + (0.3 if len(values) else 0.0), notes)

    def _draw_dots(self, axis: Axes, groups: dict[int, Row]) -> None:
        """Draw a dot for each value of these rows, without overlap; ``groups`` maps positions to rows."""
        import pandas as pd
        import seaborn

        if not groups:
            return
        by_place = {float(place): row.table["value"].dropna() for place, row in groups.items()}
        values = pd.concat(by_place, names=["place"]).reset_index("place")
        values = values[values["value"] > 0] if self.log else values
        seaborn.swarmplot(
            values, x="value", y="place", hue="place", palette={float(place): row.look.colour for place, row in groups.items()},
            orient="y", native_scale=True, ax=axis, size=2.7, edgecolor=INK, linewidth=0.3, zorder=2, legend=False, warn_thresh=1,
        )  # fmt: skip
        axis.set(xlabel="", ylabel="")


def _is_constant(values: Array) -> bool:
    """Return True if all values are the same."""
    return bool(np.ptp(values) <= 1e-9 * np.abs(values).max())


def _has_violin(values: Array) -> bool:
    """Return True if a row has a violin: enough values, not all of them the same."""
    return len(values) >= FEW and not _is_constant(values)


def _has_confidential(table: DataFrame) -> bool:
    """Return True if a frame has the line of the confidential data."""
    names = set(table["synthesizer"])
    return DATA in names and len(names) > 1


def _is_tied(values: Array) -> bool:
    """Return True for values that get no density: values on a coarse grid, with too many ties, or too few."""
    distinct, counts = np.unique(np.round(values, 9), return_counts=True)
    coarse = len(distinct) > 1 and bool(np.ptp(distinct) < GRID * np.diff(distinct).min())
    return coarse or bool(counts.max() >= TIED * len(values)) or len(values) < FEW


def bars(values: Array, span: tuple[float, float]) -> tuple[Array, Array, float]:
    """Edges of the bars, half of their heights, and the gaps between them as a share of their width.

    Bars are centred on integers if most values are integers, otherwise on the most frequent value.

    Args:
        values: values of a row (n,), on the scale of the axis.
        span: smallest and largest value in the frame.
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
    """Half heights, scaled to the height of a row; small ones are made large enough to be visible."""
    heights: Array = np.maximum(HALF * halves / halves.max(), LEAST * (halves > 0))
    return heights


def _bar_width(about: float, whole: bool) -> float:
    """Width of bars centred on integers: an odd number of units, or a unit divided by an even number."""
    if whole or about >= 1 or about == 0:  # 0 if there is only one place
        return 1 + 2 * round(max(0, about - 1) / 2)
    return 1 / (2 * math.ceil(0.5 / about))


def _spread(number: int) -> Array:
    """Numbers (n,) between -0.8 and 0.8 that fill the interval evenly, without randomness."""
    heights: Array = 1.6 * ((np.arange(number) * (np.sqrt(5) - 1) / 2) % 1) - 0.8
    return heights
