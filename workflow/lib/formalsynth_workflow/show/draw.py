"""Drawings of tidy tables."""

from __future__ import annotations

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
    """Hide tick labels that touch the previous one; names of rows never do."""
    from matplotlib.ticker import FixedLocator

    for frame in drawing.axes:
        ticks = [(frame.xaxis.get_major_ticks(), 0)]
        ticks += [] if isinstance(frame.yaxis.get_major_locator(), FixedLocator) else [(frame.yaxis.get_major_ticks(), 1)]
        for labels, side in (([tick.label1 for tick in own if tick.label1.get_text()], side) for own, side in ticks):
            boxes = sorted((*label.get_window_extent().get_points()[:, side], k) for k, label in enumerate(labels))
            last = -np.inf
            for low, high, k in boxes:
                labels[int(k)].set_visible(labels[int(k)].get_visible() and low > last + 2)
                last = high if low > last + 2 else last


def _round_places(drawing: Drawing) -> None:
    """Round the positions of axes: their last digits, which an SVG contains, depend on the order in memory."""
    for part in drawing.subfigs:
        part.bbox_relative.set_points(part.bbox_relative.get_points().round(DIGITS))
    for axis in drawing.axes:
        place = axis.get_position(original=True)
        place.set_points(place.get_points().round(DIGITS))
        axis.set_position(place)
