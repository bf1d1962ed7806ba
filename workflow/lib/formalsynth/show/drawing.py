"""What kinds of figures have in common when they draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


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


def dashed(draw: Callable[..., object], lines: pd.Series) -> None:
    """Dashed lines at the values of a frame, each once; NaN is none."""
    for value in lines.dropna().unique():
        draw(value, linestyle="--", color="#444444", linewidth=0.9, zorder=0)
