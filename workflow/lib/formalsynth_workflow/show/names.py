"""Names of lines and marks, in a column at the right of a frame and moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from formalsynth_workflow.show.style import FAINT, INK
from formalsynth_workflow.show.types import Axes, Text

Name: TypeAlias = tuple[str, float, float]
"""Text, and x and y of the right end of what it names."""
LINE = 0.125
"""Smallest distance between two names in inches."""


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights as little as possible to reach a minimum distance, keeping their order."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = least * np.arange(len(heights))
    result = np.empty(len(heights))
    result[order] = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    return result.tolist()


def write_names(axis: Axes, names: Sequence[Name], height: float) -> None:
    """Write names at the right of a frame with final limits and a height in inches, each with a thin line to what it names."""
    to_axes = axis.transData + axis.transAxes.inverted()
    ends = to_axes.transform([(x, y) for _, x, y in names]) if names else np.empty((0, 2))
    for (text, _, _), (x, y), moved in zip(names, ends, apart(ends[:, 1].tolist(), LINE / height), strict=True):
        axis.plot([x, 1.01], [y, moved], color=FAINT, linewidth=0.4, transform=axis.transAxes, clip_on=False, zorder=0.7)
        axis.text(1.02, moved, text, color=INK, ha="left", va="center", transform=axis.transAxes)


def outline(text: Text, width: float) -> None:
    """Draw a white outline around a text, with a width in points."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=width, foreground="white")])
