"""Functions for parts of drawings that several kinds of figures share."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.model import DATA
from formalsynth_workflow.show.display import NOT_SYNTHETIC
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import COLUMN, FAINT, INK, PRINTED, TEXT, Mark, edge, mark_of
from formalsynth_workflow.show.types import Axes, Axis, Canvas, DataFrame, Drawing, Handle, Series

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Translation table to superscript digits for exponents."""
LEAST = 0.1
"""Value above which an axis is logarithmic, if its values may be 0."""
PLAIN = (9e-4, 2e4)
"""Limits of a logarithmic axis within which all tick labels are plain numbers; beyond them, all are powers of ten."""
LETTERS = 54
"""Number of characters of a title that fit into the width of a column."""
STYLES: tuple[Literal["-", "--", "-.", ":"] | tuple[float, Sequence[float]], ...] = (
    "-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1)),
)  # fmt: skip
MARKERS = ("o", "^", "s", "v", "P", "X", "p")
"""Markers of lines; their number is not a multiple of the number of styles, so lines of one style have different markers."""
SUBSCRIPT = re.compile(r"\b([A-Za-z])_([A-Za-z]+)\b")
"""Pattern of a letter with a subscript."""
CONFIDENTIAL = "confidential data"
"""Label of the line and the band of the confidential data."""
WIDE = 5.0
"""Length of a linear axis from which the ticks are integers."""
BRACKET: Any = ((-1, 0.5), (-1, -0.2), (1, -0.2), (1, 0.5), (1, -0.2), (-1, -0.2))
"""Legend marker for a printed interval, as points; the path is traced back because markers are closed."""
NOTE = 46
"""Number of characters of a line in the note of a row."""
FEW_TICKS = 10
"""Largest number of different x values for which each value gets a tick."""
CLOSEST_TICKS = 0.03
"""Smallest distance of ticks at values, as a share of the axis."""


def frames(canvas: Canvas, heights: Sequence[float], across: int = 1, shared: bool = True) -> list[list[Axes]]:
    """Create rows of frames with given shares of the height, ``across`` frames in a row.

    Args:
        canvas: the drawing, or a part of it.
        heights: heights of the rows of frames, as shares.
        across: number of frames in a row.
        shared: True if the frames of a column share their x axis.
    """
    axes = canvas.subplots(
        len(heights), across, squeeze=False, sharex="col" if shared else False, gridspec_kw={"height_ratios": heights}
    )
    return [list(row) for row in axes]


def stacked(display: FigureDisplay, table: DataFrame, canvas: Canvas, shared: bool = True) -> list[tuple[Axes, DataFrame]]:
    """Create the frames of a figure below each other, with titles and sample sizes; return each with its rows of the table."""
    groups = display.figure.frames(display, table)
    axes = [axis for (axis,) in frames(canvas, [1] * len(groups), shared=shared)]
    for axis, (title, group) in zip(axes, groups, strict=True):
        headed(axis, title, sizes(display, group))
    return [(axis, group) for axis, (_, group) in zip(axes, groups, strict=True)]


def small_frames(canvas: Canvas, table: DataFrame, across: int, x: str, y: str) -> list[tuple[Axes, str, DataFrame]]:
    """Create a small frame for each synthesizer, ``across`` in a row, with shared axes and axis labels at the outer frames only.

    Returns:
        Each frame with its synthesizer and the rows of the table that it shows.
    """
    groups = by_name(table, "synthesizer")
    axes = canvas.subplots(math.ceil(len(groups) / across), across, squeeze=False, sharex=True, sharey=True)
    for axis in axes.flat[len(groups) :]:
        axis.set_axis_off()
    for axis in axes.flat[::across]:
        axis.set_ylabel(y)
    for axis in axes[-1][: len(groups) - across * (len(axes) - 1)]:
        axis.set_xlabel(x)
    return [(axis, id, group) for axis, (id, group) in zip(axes.flat, groups, strict=False)]


def headed(axis: Axes, title: str, size: str) -> None:
    """Write the title of a frame on the left and its sample size on the right."""
    axis.set_title(title, loc="left", fontsize=TEXT, fontweight="bold", pad=3)
    axis.set_title(size, loc="right", fontsize=TEXT, color=FAINT, pad=3)


def sizes(display: FigureDisplay, table: DataFrame) -> str:
    """Return a short text with a frame's sample sizes and the number of values in each group."""
    shown = set(table["scenario"])
    n = sorted({scenario.n for scenario in display.scenarios if scenario.id in shown})
    several = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}" if n else ""
    keys = [key for key in ("replicate", "set") if key in table]
    drawn = table[table["value"].notna()]
    counts = drawn.groupby(["scenario", "synthesizer"])[keys[-1]].nunique() if keys and len(drawn) else [1]
    least, most = min(counts), max(counts)
    number = f"{least} to {most}" if least < most else f"{most}"
    replicates = f"R = {number}" if most > 1 else ""
    words = {"replicates": replicates, "audit": replicates, "details": replicates, "sets": f"{number} sets"}
    return ", ".join(part for part in (several, words.get(display.table, "one sample")) if part)


def wrapped(text: str, width: float) -> str:
    """Wrap a text to the width of a drawing in inches."""
    return "\n".join(textwrap.wrap(text, int(LETTERS * width / COLUMN)))


def guarantee_marks(display: FigureDisplay, ids: Iterable[str], lines: bool) -> list[Handle]:
    """Legend entries for the markers of the kinds of guarantee.

    Args:
        display: the figure.
        ids: synthesizers in the figure.
        lines: True if each line has its own marker shape, so only the filling shows the kind.
    """
    from matplotlib.lines import Line2D

    guarantees = [display.looks[id].guarantee for id in ids]
    marks = dict.fromkeys(mark_of(guarantee) for guarantee in guarantees if guarantee not in NOT_SYNTHETIC.values())
    handles = [] if lines or not marks else [Line2D([], [], linestyle="", label="Guarantee:")]
    for mark in sorted(marks, key=list(Mark).index):
        handle = Line2D([], [], **line_look(INK, mark, 0), label=f"{'guarantee: ' * lines}{mark.words}")
        handle.set(linestyle="", markersize=4, markeredgewidth=0.7)
        if not lines:
            handle.set(marker=mark.marker, markerfacecolor=mark.fill, fillstyle="full")
        handles.append(handle)
    return handles


def bar_mark(words: str, marker: Literal["|", "_"]) -> Handle:
    """Legend entry for bars through markers, drawn in the direction of the bars."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker=marker, markersize=7, markeredgewidth=0.9, color=INK, label=words)


def below(canvas: Canvas, handles: Sequence[Handle], across: int, title: str) -> None:
    """Add a legend below the frames, so it hides nothing; a legend with markers only is ordered row by row."""
    if handles or title:
        lines = any(handle.get_linestyle() not in ("None", "") for handle in handles)
        in_lines = [handle for column in range(across) for handle in handles[column::across]]  # legends fill column by column
        canvas.legend(
            handles=list(handles) if lines else in_lines, loc="outside lower left", ncols=across, columnspacing=0.9,
            handletextpad=0.4, handlelength=2.6 if lines else 0.7,
            borderaxespad=0.1, borderpad=0.1, labelspacing=0.25, title=title or None, title_fontsize=TEXT, alignment="left",
        )  # fmt: skip


def legend_height(handles: Sequence[Handle], across: int, title: str) -> float:
    """Height of a legend below the frames, in inches."""
    lines = math.ceil(len(handles) / across) + len(title.splitlines())
    return 0.14 * lines + 0.06 if lines else 0.0


def plain_powers(drawing: Drawing) -> None:
    """Label axes with plain text such as 10⁻³ and 2×10⁻³, because texts in drawings are not parsed as mathematics."""
    from matplotlib.ticker import FixedLocator, ScalarFormatter

    for axes in drawing.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log" and not isinstance(axis.get_major_locator(), FixedLocator):
                _decades(axis)
            elif axis.get_scale() == "linear" and isinstance(axis.get_major_formatter(), ScalarFormatter):
                _small_numbers(axis)


def _decades(axis: Axis) -> None:
    """Set ticks at powers of ten, and also at 2 and 5 times these if there would be few ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    write = _plain if PLAIN[0] <= low and high <= PLAIN[1] else _power
    axis.set_major_formatter(FuncFormatter(lambda value, place: write(value)))
    axis.set_minor_formatter(NullFormatter())
    if 0 < low < high < 200 * low:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 6 * low else tuple(range(1, 10))))


def subscripts(drawing: Drawing) -> None:
    """Set names such as T_f and n_syn, a single letter and a subscript, as mathematics; no other text is."""
    from matplotlib.text import Text

    for text in drawing.findobj(Text):
        words = text.get_text()
        if "$" not in words and "\\" not in words and SUBSCRIPT.search(words):
            text.set_parse_math(True)
            text.set_text(SUBSCRIPT.sub(r"$\\mathregular{\1_{\2}}$", words))


def _small_numbers(axis: Axis) -> None:
    """Label small numbers with their power of ten: 2×10⁻³ instead of 0.002."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = axis.get_view_interval()
    steps = [1, 2, 5, 10] if high - low >= WIDE else [1, 2, 2.5, 5, 10]  # no tick such as 97.5 for counts
    axis.set_major_locator(MaxNLocator(nbins=5, steps=steps))
    largest = max(abs(low), abs(high))
    if 0 < largest < 0.009:
        exponent = math.floor(math.log10(largest))
        axis.set_major_formatter(FuncFormatter(lambda value, place: _power(value, exponent)))


def _plain(value: float) -> str:
    """Write a number without a power of ten."""
    return f"{value:.10g}"


def _power(value: float, exponent: int | None = None) -> str:
    """Write a number as a multiple of a power of ten, such as 10⁻³ or 2×10⁻³; a given power always has a multiple."""
    if not value:
        return "0"
    power = math.floor(math.log10(value) + 1e-9) if exponent is None else exponent
    left_out = exponent is None and math.isclose(value, 10.0**power)
    return f"{'' if left_out else f'{value / 10.0**power:.3g}×'}10{str(power).translate(RAISED)}"


def line_look(colour: str, mark: Mark, place: int) -> dict[str, Any]:
    """Look of a line: its colour, its own style and marker, and the kind of guarantee, shown by the filling of the marker.

    A line of a pale colour is drawn in its edge colour, because a line cannot have an edge around it.
    """
    return {
        "color": edge(colour), "linewidth": 1.1, "linestyle": STYLES[place % len(STYLES)],
        "marker": MARKERS[place % len(MARKERS)], "markersize": 4.2,
        "markerfacecolor": colour if mark in (Mark.EVERY, Mark.EXACT, Mark.CONDITION) else "white",
        "markeredgecolor": edge(colour), "markeredgewidth": 1.0, "markerfacecoloralt": "white",
        "fillstyle": "bottom" if mark is Mark.EXACT else "left" if mark is Mark.CONDITION else "full",
    }  # fmt: skip


def line_look_of(display: FigureDisplay, id: str) -> dict[str, Any]:
    """Look of a synthesizer's line in a figure."""
    look = display.looks[id]
    return line_look(look.colour, mark_of(look.guarantee), line_place(display, id))


def curve(axis: Axes, display: FigureDisplay, id: str, apart: float, across: Array, heights: Array, **options: Any) -> None:
    """Draw a synthesizer's curve, with markers at a distance of ``apart``, shifted against those of the other curves."""
    start = apart * (line_place(display, id) + 1) / (len(display.ids) + 1)
    axis.plot(across, heights, markevery=(start, apart), **line_look_of(display, id), **options)


def line_handles(display: FigureDisplay, table: DataFrame) -> list[Handle]:
    """Legend entries for lines: one for each label, as drawn."""
    from matplotlib.lines import Line2D

    handles: dict[str, Handle] = {}
    for id in drawn_ids(display, table):
        look = display.looks[id]
        if look.label not in handles:
            handles[look.label] = Line2D([], [], label=look.label, **line_look_of(display, id))
    return list(handles.values())


def drawn_ids(display: FigureDisplay, table: DataFrame) -> list[str]:
    """Synthesizers of a figure that have rows in a table, in the order of the figure."""
    present = set(table["synthesizer"])
    return [id for id in display.ids if id in present]


def line_place(display: FigureDisplay, id: str) -> int:
    """Position of a synthesizer's line among the lines; synthesizers with the same label share a line."""
    labels = list(dict.fromkeys(display.looks[other].label for other in display.ids))
    return labels.index(display.looks[id].label)


def row_note(axis: Axes, place: float, words: Sequence[str]) -> None:
    """Write a note of at most two lines at the left end of a row."""
    if words:
        text = textwrap.fill("; ".join(words), NOTE, max_lines=2, placeholder=" …")
        axis.annotate(
            text, (0, place), (2, 0), axis.get_yaxis_transform(), "offset points", color=FAINT, va="center", zorder=5,
            bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.5},
        )  # fmt: skip


def dashed(axis: Axes, lines: Series, label: str, upwards: bool = True) -> None:
    """Draw labelled dashed lines at the different values of ``lines``; NaN means no line."""
    for value in lines.dropna().unique():
        draw = axis.axvline if upwards else axis.axhline
        draw(value, linestyle=(0, (4, 2)), color=INK, linewidth=0.8, zorder=0.6)
        if upwards:
            axis.annotate(label, (value, 1), (2, -1), axis.get_xaxis_transform(), "offset points", ha="left", va="top")
        else:
            axis.annotate(label, (1, value), (3, 0), axis.get_yaxis_transform(), "offset points", ha="left", va="center")


def printed_handle(table: DataFrame, lines: bool) -> list[Handle]:
    """Legend entries for printed values; none if the figure has no printed values.

    Args:
        table: tidy table of the figure.
        lines: True if printed values are markers on lines, with the same shapes; False if they are ticks in rows.
    """
    from matplotlib.lines import Line2D

    if "printed_low" not in table or table["printed_low"].isna().all():
        return []
    look: dict[str, Any] = {"linestyle": "", "color": PRINTED, "markeredgewidth": 1.1}
    if lines:
        return [Line2D([], [], **look, marker="o", markersize=4.2, markerfacecolor="none", label="printed (same shapes)")]
    low, high = table["printed_low"], table["printed_high"]
    kinds = (("|", 7, "full", "printed", low == high), (BRACKET, 5, "none", "printed range", low < high))
    return [
        Line2D([], [], **(look | {"marker": marker, "markersize": size, "fillstyle": fill, "label": words}))
        for marker, size, fill, words, rows in kinds
        if rows.any()
    ]


def printed_tick(axis: Axes, table: DataFrame, place: float, half: float) -> None:
    """Draw a grey tick at the printed value of a row, or a bracket below the row that spans a printed interval.

    Args:
        axis: frame with the values on the x axis.
        table: part of the tidy table that this row shows.
        place: y coordinate of the row.
        half: half of the row's height.
    """
    for low, high in table[["printed_low", "printed_high"]].dropna().drop_duplicates().to_numpy(float):
        bottom = place + half + 0.11
        x, y = [low, low, high, high], [bottom - 0.08, bottom, bottom, bottom - 0.08]
        if low == high:
            x, y = [low, low], [place + half / 2, bottom]
        for colour, width in (("white", 2.6), (PRINTED, 1.3)):
            axis.plot(x, y, color=colour, linewidth=width, zorder=5, solid_capstyle="butt")


def confidential(axis: Axes, table: DataFrame, colour: str) -> None:
    """Draw the median of the confidential data as a line, and the middle half of the data as a band."""
    values = table.loc[table["synthesizer"] == DATA, "value"].dropna()
    if len(values) and table["synthesizer"].nunique() > 1:
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        axis.axvspan(low, high, color=colour, alpha=0.13, linewidth=0, zorder=0.4)
        axis.axvline(middle, color=colour, linewidth=0.8, zorder=0.5)
        left = axis.transData.transform((middle, 0))[0] <= axis.transAxes.transform((0.5, 0))[0]
        axis.annotate(
            CONFIDENTIAL, (middle, 0), (2 if left else -2, 1), axis.get_xaxis_transform(), "offset points", fontsize=TEXT,
            color=FAINT, ha="left" if left else "right", va="bottom",
        )  # fmt: skip


def density(values: Array, points: Array) -> Array:
    """Kernel density of values (n,) at points (m,), with Scott's bandwidth."""
    from matplotlib.mlab import GaussianKDE

    heights: Array = GaussianKDE(values).evaluate(points)
    return heights


def from_nothing(axes: Axes, name: Literal["x", "y"] = "x") -> None:
    """Scale an axis for values that may be 0: linear below 0.1 and logarithmic above."""
    getattr(axes, f"set_{name}scale")("symlog", linthresh=LEAST, linscale=0.4)
    getattr(axes, f"set_{name}lim")(0, None)
    high = getattr(axes, f"get_{name}lim")()[1]
    places = [0.0, *(10.0**k for k in range(-1, 9) if 10.0**k <= high)]
    write = _plain if high <= PLAIN[1] else _power
    getattr(axes, f"{name}axis").set_ticks(places, [write(place) for place in places])


def ticks_at(axis: Axis, values: Series) -> None:
    """Set a tick at each value if there are few values, and none is so close to another that their labels would touch."""
    places = sorted(set(values.dropna()))
    drawn = axis.get_transform().transform(np.array([*places, *axis.get_view_interval()]))
    if 0 < len(places) <= FEW_TICKS and np.diff(drawn[:-2]).min(initial=np.inf) >= CLOSEST_TICKS * abs(np.ptp(drawn[-2:])):
        axis.set_ticks(places, [f"{place:.10g}" for place in places])
        axis.set_ticks([], minor=True)
