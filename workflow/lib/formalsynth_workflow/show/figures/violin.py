"""Violins: distributions of values, with one row for each synthesizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth_workflow.show.display import Look
from formalsynth_workflow.show.drawing import dashed, headed, printed_tick, row_note, titled
from formalsynth_workflow.show.figure import FigureDisplay, Framed, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.left_out import counted
from formalsynth_workflow.show.style import COLUMN, FAINT, INK, PAGE, TALLEST, edge
from formalsynth_workflow.show.types import Axes, Canvas, DataFrame, Series

if TYPE_CHECKING:
    from scipy.stats import gaussian_kde

HALF = 0.4
"""Half of the height of a violin, in rows."""
FEW = 30
"""Number of values below which a row has dots and no violin."""
TIED = 0.1
"""Share of equal values at and above which they are a spike with its share, unless the values are on a grid."""
GRID = 40
"""Number of grid steps from the smallest to the largest value; values with fewer steps, such as integers, are on a grid."""
ROW, PRIVATE_ROW = 0.21, 0.27
"""Height of a row in inches, and of one with a kind of guarantee below its label."""
REST = 0.75
"""Height of a figure in inches besides its frames, roughly."""


class Row(NamedTuple):
    """A row of a frame."""

    label: str
    look: Look
    table: DataFrame
    """Part of the tidy table that this row shows."""

    @property
    def values(self) -> Array:
        """Values (n,) that are drawn; values that are equal but for rounding are exactly equal."""
        values: Array = self.table["value"].dropna().to_numpy(float)
        equal = len(values) and np.ptp(values) <= 1e-9 * np.abs(values).max()
        return np.full_like(values, np.median(values)) if equal else values


@figure_kind("violin")
class Violin(Framed):
    """Violins of the values, one for each synthesizer; the frames are side by side if they would be too tall."""

    ALT = "Violin plots"
    BY_PARAMETER = True
    PRINTS = True
    EMPTY_ROWS = True

    kind: Literal["violin"] = "violin"

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a column, or of a page if frames of one quantity are side by side."""
        rows = [group["synthesizer"].nunique() for _, group in self.frames(display, table)]
        row = PRIVATE_ROW if len(display.kinds) > 1 else ROW
        if self._side_by_side(display, table):
            return COLUMN if isinstance(self.value, list) else PAGE, row * (max(rows) + 0.9) + 0.5
        return COLUMN, row * sum(rows) + 0.3 * len(rows) + 0.35

    def _side_by_side(self, display: FigureDisplay, table: DataFrame) -> bool:
        """Return True for several columns, and for frames of one column that would be too tall below each other."""
        rows = table.groupby("panel")["synthesizer"].nunique()
        tall = PRIVATE_ROW if len(display.kinds) > 1 else ROW
        return len(rows) > 1 and (isinstance(self.value, list) or tall * sum(rows) + 0.3 * len(rows) > TALLEST - REST)

    def logarithmic(self, table: DataFrame) -> Series | None:
        """Largest value of each row: only the positive values of a row are drawn."""
        return table.groupby(["panel", "synthesizer"], dropna=False)["value"].transform("max") if self.log else None

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw frames of violins below each other or side by side, in the order of the table."""
        groups = titled(display, table)
        frames = [
            [Row(display.named(id, "\n{}"), display.looks[id], rows) for id, rows in by_name(group, "synthesizer")]
            for _, group in groups
        ]
        aside = self._side_by_side(display, table)
        same = len({tuple(row.label for row in rows) for rows in frames}) == 1
        heights = {} if aside else {"height_ratios": [len(rows) + 0.9 for rows in frames]}
        shape, shared = (1, len(groups)) if aside else (len(groups), 1), isinstance(self.value, str)
        axes = canvas.subplots(*shape, squeeze=False, sharex=shared, sharey=aside and same, gridspec_kw=heights).flatten()
        for axis, (title, group), rows in zip(axes, groups, frames, strict=True):
            if self.log:
                axis.set_xscale("log")
            headed(axis, title)
            self._draw_rows(axis, rows, group)
            dashed(axis, group["line"], self.line_name())
        axis.set_xlabel(display.value_label, loc="right")

    def _draw_rows(self, axis: Axes, rows: list[Row], table: DataFrame) -> None:
        """Draw the rows of a frame from the top, with the printed values, and the median of the confidential data."""
        axis.set_yticks(range(len(rows)), [row.label for row in rows])
        axis.tick_params(axis="y", length=0)
        lined = bool(table["line"].notna().any())
        axis.set_ylim(len(rows) - 0.45, -0.95 if lined else -0.55)
        atoms = [row.values[:0] if _on_grid(row.values) else _atoms(row.values) for row in rows]
        rest = [row.values[~np.isin(row.values, own)] for row, own in zip(rows, atoms, strict=True)]
        rest = [values[values > 0] if self.log else values for values in rest]
        self._draw_violins(axis, rows, {k: values for k, values in enumerate(rest) if len(values) >= FEW and np.ptp(values)})
        _draw_dots(axis, rows, {k: values for k, values in enumerate(rest) if 0 < len(values) < FEW})
        for place, (row, own) in enumerate(zip(rows, atoms, strict=True)):
            self._write_notes(axis, place, row, own)
            axis.vlines(own, place - HALF, place + HALF, color=edge(row.look.colour), linewidth=3, zorder=3)
            if "printed_low" in table:
                printed_tick(axis, row.table, place, HALF)
        data = table.loc[table["synthesizer"] == DATA, "value"].dropna()
        if len(data) and len(rows) > 1 and not lined:
            axis.axvline(data.median(), color=INK, linewidth=0.6, zorder=0.5)

    def _draw_violins(self, axis: Axes, rows: list[Row], values: dict[int, Array]) -> None:
        """Draw a violin for each of these rows, with its median and middle half."""
        import pandas as pd
        import seaborn

        if not values:
            return
        table = pd.concat({place: pd.Series(own) for place, own in values.items()}, names=["place"]).rename("value").reset_index()
        before = len(axis.collections)
        seaborn.violinplot(
            table, x="value", y="place", hue="place", palette={place: rows[place].look.colour for place in values}, orient="y",
            native_scale=True, ax=axis, width=2 * HALF, cut=0, density_norm="width", inner=None, linewidth=0.5, saturation=1,
            bw_method=_width, legend=False,
        )  # fmt: skip
        for shape, place in zip(axis.collections[before:], values, strict=False):
            shape.set_edgecolor(edge(rows[place].look.colour))
        low, middle, high = np.transpose([np.quantile(rows[place].values, [0.25, 0.5, 0.75]) for place in values])
        for colour, width in ((INK, 3.0), ("white", 1.8)):
            axis.hlines(list(values), low, high, color=colour, linewidth=width, zorder=3)
        axis.scatter(middle, list(values), s=9, color=INK, edgecolor="white", linewidth=0.5, zorder=4)
        axis.set(xlabel="", ylabel="")

    def _write_notes(self, axis: Axes, place: int, row: Row, atoms: Array) -> None:
        """Write at the right of a row the shares of equal values, such as "62 % at ε/2", and how many are not drawn.

        An empty row has the reason in it.
        """
        line, values = row.table["line"].iloc[0], row.values
        if not len(values):
            row_note(axis, place, counted(row.table))
            return
        shares = {self.line_name() if np.isclose(atom, line) else f"{atom:.4g}": float(np.mean(values == atom)) for atom in atoms}
        notes = [f"{'all' if share == 1 else f'{100 * share:.0f} %'} at {name}" for name, share in shares.items()]
        notes += [words.partition(" (")[0] for words in counted(row.table)]
        if self.log and (values <= 0).any() and np.ptp(values):
            notes.append(f"{(values <= 0).sum()} of {len(values)} at {'or below ' * bool((values < 0).any())}0")
        axis.text(1.01, place, "\n".join(notes), color=FAINT, va="center", ha="left", transform=axis.get_yaxis_transform())


def _draw_dots(axis: Axes, rows: list[Row], values: dict[int, Array]) -> None:
    """Draw a dot for each value of these rows without overlap, and their median; one call, because each lays out the drawing."""
    import pandas as pd
    import seaborn

    if not values:
        return
    table = pd.concat({place: pd.Series(own) for place, own in values.items()}, names=["place"]).rename("value").reset_index()
    seaborn.swarmplot(
        table, x="value", y="place", hue="place", palette={place: rows[place].look.colour for place in values}, orient="y",
        native_scale=True, ax=axis, size=2.7, edgecolor=INK, linewidth=0.3, zorder=2, legend=False, warn_thresh=1,
    )  # fmt: skip
    for place in values:
        axis.vlines(np.median(rows[place].values), place - HALF, place + HALF, color=INK, linewidth=0.9, zorder=3)
    axis.set(xlabel="", ylabel="")


def _atoms(values: Array) -> Array:
    """Values that at least a tenth of many values are equal to, or all of few values."""
    distinct, counts = np.unique(values, return_counts=True)
    return distinct[counts >= (TIED if len(values) >= FEW else 1) * len(values)]


def _on_grid(values: Array) -> bool:
    """Return True for integers and other values on a coarse grid, which are tied without being an atom."""
    return len(values) > 1 and _step(values) > 0


def _step(values: Array) -> float:
    """Distance of the grid on which values (n,) are; 1 if most are integers, and 0 without a grid."""
    distinct = np.unique(np.round(values, 9))
    whole = distinct[distinct == np.round(distinct)]
    if len(whole) > 2 and np.mean(values == np.round(values)) > 0.5:
        return 1.0
    step = np.diff(distinct).min(initial=np.inf)
    return float(step) if len(distinct) > 2 and np.ptp(distinct) < GRID * step else 0.0


def _width(kernel: gaussian_kde) -> float:
    """Width of a kernel relative to the standard deviation: Scott's, but for values on a grid at least half a step."""
    values = kernel.dataset[0]
    return float(max(kernel.scotts_factor(), 0.5 * _step(values) / np.std(values, ddof=1)))
