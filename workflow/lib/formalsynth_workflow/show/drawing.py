"""Functions for parts of drawings that several kinds of figures share."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.style import COLUMN, FAINT, INK, PRINTED, TEXT, edge
from formalsynth_workflow.show.types import Axes, Axis, Canvas, DataFrame, Drawing, Handle, Series

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Translation table to superscript digits for exponents."""
LEAST = 0.1
"""Value above which an axis is logarithmic, if its values may be 0."""
PLAIN = (4e-5, 2e6)
"""Limits of axes within which all tick labels of a drawing are plain numbers; beyond them, all are powers of ten."""
LETTERS, SMALL = 51, 66
"""Numbers of characters of a title, and of other text, that fit into the width of a column."""
STYLES: tuple[Literal["-", "--", "-.", ":"] | tuple[float, Sequence[float]], ...] = (
    "-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1)),
)  # fmt: skip
MARKERS = ("o", "^", "s", "v", "P", "X", "p")
"""Markers of lines; their number is not a multiple of the number of styles, so lines of one style have different markers."""
HANDLE = 7
"""Width of a line in a legend, with its gaps, in characters."""
SUBSCRIPT = re.compile(r"\b([A-Za-z])_([A-Za-z]+)\b")
"""Pattern of a letter with a subscript."""
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


def stacked(display: FigureDisplay, table: DataFrame, canvas: Canvas, shared: bool = True) -> list[tuple[Axes, DataFrame]]:
    """Create the frames of a figure below each other, with titles; return each with its rows of the table."""
    groups = titled(display, table)
    axes = canvas.subplots(len(groups), 1, squeeze=False, sharex=shared)[:, 0]
    for axis, (title, _) in zip(axes, groups, strict=True):
        headed(axis, title)
    return [(axis, group) for axis, (_, group) in zip(axes, groups, strict=True)]


def grid(canvas: Canvas, number: int, across: int, **options: Any) -> list[Axes]:
    """Create a number of frames, ``across`` in a row, and hide the rest of the last row."""
    axes = list(canvas.subplots(math.ceil(number / across), across, squeeze=False, **options).flat)
    for axis in axes[number:]:
        axis.set_axis_off()
    for axis in axes[max(number - across, 0) : number]:
        axis.xaxis.set_tick_params(labelbottom=True)  # also above a hidden frame
    return axes[:number]


def headed(axis: Axes, title: str) -> None:
    """Write the title of a frame on the left."""
    axis.set_title(title, loc="left", fontsize=TEXT, pad=3)


def titled(display: FigureDisplay, table: DataFrame) -> list[tuple[str, DataFrame]]:
    """Titles and tables of the frames; titles have the sample sizes if these differ between frames."""
    groups = display.figure.frames(display, table)
    sizes = [_sizes(display, group) for _, group in groups]
    if len(set(sizes)) == 1:
        return groups
    return [(f"{title}, {size}" if title else "", group) for (title, group), size in zip(groups, sizes, strict=True)]


def _sizes(display: FigureDisplay, table: DataFrame) -> str:
    """Sample sizes of a frame."""
    shown = set(table["scenario"])
    n = sorted({scenario.n for scenario in display.scenarios if scenario.id in shown})
    return f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}" if n else ""


def sizes(display: FigureDisplay, table: DataFrame) -> str:
    """Sample sizes of a figure, and the number of values in each group, written once."""
    groups = {_sizes(display, group) for _, group in display.figure.frames(display, table)}
    keys = [key for key in ("replicate", "set") if key in table]
    drawn = table[table["value"].notna()]
    counts = drawn.groupby(["scenario", "synthesizer"])[keys[-1]].nunique() if keys and len(drawn) else [1]
    least, most = min(counts), max(counts)
    number = f"{least} to {most}" if least < most else f"{most}"
    replicates = f"R = {number}" if most > 1 else ""
    words = {"replicates": replicates, "audit": replicates, "details": replicates, "sets": f"{number} sets"}
    n = _sizes(display, table) if len(groups) == 1 else ""
    return ", ".join(part for part in (n, words.get(display.table, "one sample")) if part)


def wrapped(text: str, width: float) -> str:
    """Wrap a text to the width of a drawing in inches."""
    return "\n".join(textwrap.wrap(text, int(LETTERS * width / COLUMN)))


def below(canvas: Canvas, handles: Sequence[Handle], across: int, notes: str) -> None:
    """Add notes and a legend below the frames, so they hide nothing."""
    if handles or notes:
        canvas.legend(
            handles=list(handles), loc="outside lower left", ncols=across, columnspacing=0.9, handletextpad=0.4,
            handlelength=2.2, borderaxespad=0.1, borderpad=0.1, labelspacing=0.25, title=notes or None, title_fontsize=TEXT,
            alignment="left",
        ).get_title().set_color(FAINT)  # fmt: skip


def columns_of(handles: Sequence[Handle], width: float) -> int:
    """Return the number of columns of a legend that fit into a width in inches."""
    longest = max((len(str(handle.get_label())) for handle in handles), default=0)
    return max(1, min(len(handles), int(SMALL * width / COLUMN / (longest + HANDLE))))


def legend_height(handles: Sequence[Handle], across: int, notes: str) -> float:
    """Height of a legend below the frames, in inches."""
    lines = math.ceil(len(handles) / across) + len(notes.splitlines())
    return 0.14 * lines + 0.06 if lines else 0.0


def plain_powers(drawing: Drawing) -> None:
    """Label axes with plain text, because texts in drawings are not parsed as mathematics: 0.002, or 2×10⁻³ everywhere."""
    from matplotlib.ticker import FixedLocator, ScalarFormatter

    axes = [axis for frame in drawing.axes if frame.axison for axis in (frame.xaxis, frame.yaxis)]
    logarithmic = [axis for axis in axes if axis.get_scale() == "log" and not isinstance(axis.get_major_locator(), FixedLocator)]
    linear = [axis for axis in axes if axis.get_scale() == "linear" and isinstance(axis.get_major_formatter(), ScalarFormatter)]
    ends = [axis.get_view_interval() for axis in logarithmic]
    powers = any(low < PLAIN[0] or high > PLAIN[1] for low, high in ends)
    for axis in logarithmic:
        _decades(axis, _power if powers else _plain)
    for axis in linear:
        _round_numbers(axis, powers)


def _decades(axis: Axis, write: Callable[[float], str]) -> None:
    """Set ticks at powers of ten, and also at 2 and 5 times these if there would be few ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_formatter(FuncFormatter(lambda value, place: write(value)))
    axis.set_minor_formatter(NullFormatter())
    few = 0 < low < high < 200 * low
    subs = (1,) if not few else (1, 2, 5) if high > 6 * low else tuple(range(1, 10))
    axis.set_major_locator(LogLocator(subs=subs, numticks=20 if few else 5))


def subscripts(drawing: Drawing) -> None:
    """Set names such as T_f and n_syn, a single letter and a subscript, as mathematics; no other text is."""
    from matplotlib.text import Text

    for text in drawing.findobj(Text):
        words = text.get_text()
        if "$" not in words and "\\" not in words and SUBSCRIPT.search(words):
            text.set_parse_math(True)
            text.set_text(SUBSCRIPT.sub(r"$\\mathregular{\1_{\2}}$", words))


def _round_numbers(axis: Axis, powers: bool) -> None:
    """Set about five ticks at round numbers; tiny numbers, or small ones next to powers of ten, get a power of ten."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    low, high = axis.get_view_interval()
    steps = [1, 2, 5, 10] if high - low >= WIDE else [1, 2, 2.5, 5, 10]  # no tick such as 97.5 for counts
    axis.set_major_locator(MaxNLocator(nbins=5, steps=steps))
    largest = max(abs(low), abs(high))
    if 0 < largest < (0.009 if powers else PLAIN[0]):
        exponent = math.floor(math.log10(largest))
        axis.set_major_formatter(FuncFormatter(lambda value, place: _power(value, exponent)))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, place: _plain(value)))


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


def line_look(colour: str, place: int) -> dict[str, Any]:
    """Look of a line: its colour, its own style and marker.

    A line of a pale colour is drawn in its edge colour, because a line cannot have an edge around it.
    """
    return {
        "color": edge(colour), "linewidth": 1.1, "linestyle": STYLES[place % len(STYLES)],
        "marker": MARKERS[place % len(MARKERS)], "markersize": 4.2, "markerfacecolor": colour, "markeredgecolor": edge(colour),
        "markeredgewidth": 1.0,
    }  # fmt: skip


def line_look_of(display: FigureDisplay, id: str) -> dict[str, Any]:
    """Look of a synthesizer's line in a figure."""
    return line_look(display.looks[id].colour, line_place(display, id))


def line_handles(display: FigureDisplay, table: DataFrame) -> list[Handle]:
    """Legend entries for lines: one for each label, as drawn."""
    from matplotlib.lines import Line2D

    handles: dict[str, Handle] = {}
    for id in drawn_ids(display, table):
        handles.setdefault(display.looks[id].label, Line2D([], [], label=display.named(id), **line_look_of(display, id)))
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
