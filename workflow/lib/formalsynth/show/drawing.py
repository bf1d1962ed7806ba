"""What kinds of figures have in common when they draw."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Digits of exponents."""


def frames(count: int, stacked: bool, width: float, shared: bool = True) -> tuple[Drawing, list[Axes]]:
    """Frames beside or below each other.

    Args:
        count: how many.
        stacked: whether they stand below each other.
        width: of each, in inches.
        shared: whether they share the axis of the values, because they show the same one.
    """
    from matplotlib import pyplot as plt

    down, across = (count, 1) if stacked else (1, count)
    size = (width * across, (2.6 if stacked else 3.6) * down)
    drawing, axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False, sharey=shared)
    return drawing, list(axes.flat)


def plain_powers(drawing: Drawing) -> None:
    """Label logarithmic axes with 10⁻³ and 2e-3 as plain text, for nothing in a drawing is read as mathematics."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    for axes in drawing.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                axis.set_major_formatter(FuncFormatter(_power))
                axis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.4)))


def _power(value: float, place: int) -> str:
    """A power of ten with its exponent raised; another number as it is."""
    exponent = round(math.log10(value)) if value > 0 else 0
    if not math.isclose(value, 10.0**exponent):
        return f"{value:g}"
    return {0: "1", 1: "10"}.get(exponent, f"10{str(exponent).translate(RAISED)}")


def dashed(draw: Callable[..., object], lines: pd.Series) -> None:
    """Dashed lines at the values of a frame, each once; NaN is none."""
    for value in lines.dropna().unique():
        draw(value, linestyle="--", color="#444444", linewidth=0.9, zorder=0)
