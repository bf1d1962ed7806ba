"""Drawings of tidy tables."""

from __future__ import annotations

import itertools
import math
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from formalsynth.runtime.files import sealed
from formalsynth_workflow.show.captions import STAND_IN
from formalsynth_workflow.show.compose import compose, composition
from formalsynth_workflow.show.drawing import plain_powers, subscripts
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.origin import UNKNOWN, Origin
from formalsynth_workflow.show.style import DPI, STYLE
from formalsynth_workflow.show.types import DataFrame, Drawing, Text

DIGITS = 7
"""Number of decimals in positions, which are shares of a drawing's width or height."""
GAP = 2.0
"""Smallest distance of tick labels in pixels."""


def draw_figure(display: FigureDisplay, table: DataFrame, paths: Sequence[Path], origin: Origin = UNKNOWN) -> None:
    """Draw a tidy figure table and save it under each of the paths.

    Args:
        display: the figure.
        table: output of :func:`formalsynth_workflow.show.tidy.figure_table`; rows without a value are left out.
        paths: files to write; the suffix determines the format.
        origin: metadata of the files.

    Raises:
        OSError: a file cannot be written.
    """
    drawing = drawing_of(display, table)
    for path in paths:
        with sealed(path) as partial:
            drawing.savefig(partial, dpi=DPI, metadata=origin.metadata(path.suffix))


def drawing_of(display: FigureDisplay, table: DataFrame) -> Drawing:
    """Draw a tidy figure table, with its final layout.

    The drawing has no window, so requests to redraw it, such as those of seaborn for each swarm of dots, have no effect.
    """
    os.environ.pop("MPLBACKEND", None)  # importing matplotlib fails if this variable names a missing backend
    import matplotlib
    from matplotlib.figure import Figure as Drawing

    matplotlib.rcdefaults()  # ignore settings of the user
    matplotlib.use("Agg")
    matplotlib.rcParams.update(STYLE)  # type: ignore[arg-type] # its keys are a Literal of four hundred names
    table = table.assign(panel=table["panel"].astype(object).fillna("")) if "panel" in table else table
    content = composition(display, table, display.figure.subject, STAND_IN if display.stand_in else "")
    drawing = Drawing(figsize=(content.width, content.height), layout="constrained")
    compose(display, drawing, content)
    plain_powers(drawing)
    subscripts(drawing)
    engine = drawing.get_layout_engine()
    if engine is not None:
        engine.execute(drawing)  # one layout for all formats
        if _wrap_labels(drawing):
            engine.execute(drawing)
        _thin_ticks(drawing)
        drawing.set_layout_engine(None)  # a placeholder engine would draw each format twice
        _round_places(drawing)
    return drawing


def _wrap_labels(drawing: Drawing) -> bool:
    """Break labels that are longer than their axes into lines; return True if there are any."""
    shares = dict[Text, float]()
    for axis in drawing.axes:
        frame, across, up = axis.get_window_extent(), axis.xaxis.label.get_window_extent(), axis.yaxis.label.get_window_extent()
        room = frame.x1 if axis.xaxis.label.get_horizontalalignment() == "right" else frame.width
        shares |= {axis.xaxis.label: across.width / room, axis.yaxis.label: up.height / frame.height}
    long = {label: share for label, share in shares.items() if share > 1}
    for label, share in long.items():
        words = label.get_text()
        label.set_text("\n".join(textwrap.wrap(words, math.ceil(len(words) / math.ceil(share)) + 4, break_long_words=False)))
    return bool(long)


def _thin_ticks(drawing: Drawing) -> None:
    """Hide tick labels that touch; names of rows never do."""
    from matplotlib.ticker import FixedLocator

    for frame in drawing.axes:
        named = isinstance(frame.yaxis.get_major_locator(), FixedLocator)
        for side, axis in enumerate([frame.xaxis] if named else [frame.xaxis, frame.yaxis]):
            (low, high), labels = sorted(axis.get_view_interval()), []
            for tick in axis.get_major_ticks():
                if tick.label1.get_text() and low <= tick.get_loc() <= high:
                    labels.append((*tick.label1.get_window_extent().get_points()[:, side], tick.label1))
            labels.sort(key=lambda label: label[0])
            kept = _apart([(start, end) for start, end, _ in labels])
            for place in set(range(len(labels))).difference(kept):
                labels[place][2].set_visible(False)


def _apart(ends: Sequence[tuple[float, float]]) -> Sequence[int]:
    """Places of labels that do not touch: every k-th of evenly spaced ones, with the last one if possible.

    Args:
        ends: both ends of each label in pixels, in ascending order.
    """

    def touch(places: Sequence[int]) -> bool:
        return any(ends[after][0] <= ends[before][1] + GAP for before, after in itertools.pairwise(places))

    last = len(ends) - 1
    if len(ends) > 2 and np.ptp(np.diff(np.mean(ends, axis=1))) <= GAP:
        for step in sorted(range(1, last), key=lambda step: (last % step > 0, step)):
            if not touch(range(0, last + 1, step)):
                return range(0, last + 1, step)
    kept = list[int]()
    for place in range(len(ends)):
        if not touch([*kept[-1:], place]):
            kept.append(place)
    return kept


def _round_places(drawing: Drawing) -> None:
    """Round the positions of axes: their last digits, which an SVG contains, depend on the order in memory."""
    for part in drawing.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(DIGITS))
    for axis in drawing.axes:
        place = axis.get_position(original=True)
        place.set_points(place.get_points().round(DIGITS))
        axis.set_position(place)
