"""Faults of a drawn figure that a reader sees: texts that are cut, crossed or on top of each other, size, titles and legends."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from formalsynth_workflow.show.draw import drawing_of
from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.style import TALLEST

TALLER = {
    ("reweight", "5"): "four panels printed under one number",
    ("reweight", "9"): "four panels printed under one number",
    ("reweight", "10"): "six panels printed under one number",
}
"""Figures that may be taller than half a page, with the reason."""
LINES = 2
"""Most lines of a title."""
SLACK = 1.0
"""Pixels by which texts may touch."""


def redrawn(paper, number, scale, folder):
    """The drawing of a figure of a plan, from its tidy table in a folder."""
    display = FigureDisplay.of(paper.figure(number, scale).plain())
    table = pd.read_csv(folder / f"fig{int(number):02d}.csv", keep_default_na=False, na_values=[""], low_memory=False)
    return drawing_of(display, table)


def faults(drawing, name):
    """Sentences about the faults of a drawing; ``name`` is its paper and number."""
    FigureCanvasAgg(drawing).draw()
    texts = [(text, text.get_window_extent()) for text in drawing.findobj(Text) if text.get_visible() and text.get_text().strip()]
    undrawn = set(_undrawn(drawing))
    texts = [(text, box) for text, box in texts if text not in undrawn]
    frame = drawing.bbox.padded(SLACK)
    wrong = [f"cut: {_of(text)}" for text, box in texts if not (frame.contains(*box.min) and frame.contains(*box.max))]
    for (first, box), (second, another) in itertools.combinations(texts, 2):
        if _overlap(box, another):
            wrong.append(f"on top of each other: {_of(first)}, {_of(second)}")
    wrong += [f"crossed: {_of(text)}" for text, box in texts for line in _straight_lines(text) if _overlap(box, line)]
    if drawing.get_figheight() > TALLEST and name not in TALLER:
        wrong.append(f"{drawing.get_figheight():.2f} inches tall")
    title = drawing.get_suptitle()
    if len([line for line in title.splitlines() if not line.startswith("STAND-IN")]) > LINES:
        wrong.append(f"title of many lines: {title}")
    legends = [legend for part in (drawing, *drawing.subfigs, *drawing.axes) for legend in _legends(part) if legend.get_texts()]
    labels = [text.get_text() for legend in legends for text in legend.get_texts()]
    if len(legends) > 1 or len(set(labels)) < len(labels) or any("uarantee" in label for label in labels):
        wrong.append(f"legends: {labels}")
    styles = {_style(label) for axis in drawing.axes for label in _numbers(axis)} - {""}
    if len(styles) > 1:
        wrong.append("ticks of two styles")
    return wrong


def _of(text):
    return repr(text.get_text())


def _undrawn(drawing):
    """Tick labels outside the limits of their axis, and all texts of axes that are off."""
    for axis in drawing.axes:
        for part in (axis.xaxis, axis.yaxis):
            low, high = sorted(part.get_view_interval())
            for tick in (*part.get_major_ticks(), *part.get_minor_ticks()):
                if not (axis.axison and low - 1e-9 * abs(low) <= tick.get_loc() <= high + 1e-9 * abs(high)):
                    yield from (tick.label1, tick.label2)
            if not axis.axison:
                yield from (part.label, part.offsetText)


def _overlap(box, another):
    """Return True if two boxes overlap by more than texts may touch."""
    low, high = np.maximum(box.min, another.min), np.minimum(box.max, another.max)
    return bool((high - low > SLACK).all())


def _straight_lines(text):
    """Boxes of the level and upright lines of the frame of a text without an outline."""
    if text.axes is None or text not in text.axes.texts or text.get_path_effects() or text.get_bbox_patch():
        return
    for line in text.axes.lines:
        ends = line.get_transform().transform(line.get_xydata())
        if len(ends) == 2 and (ends[0] == ends[1]).any():
            low, high = ends.min(axis=0) - SLACK, ends.max(axis=0) + SLACK
            yield Bbox([low, high])


def _legends(part):
    return part.legends if hasattr(part, "legends") else [part.get_legend()] if part.get_legend() else []


def _numbers(axis):
    """Tick labels of the axes of a frame."""
    ticks = [*axis.xaxis.get_major_ticks(), *axis.yaxis.get_major_ticks()]
    return [tick.label1.get_text() for tick in ticks if tick.label1.get_visible()]


def _style(label):
    """Style of a small number; empty for other labels."""
    if set(label) & set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"):
        return "powers"
    return "plain" if label.startswith("0.0") else ""
