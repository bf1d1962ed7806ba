"""Names of marks, written next to the marks and moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from formalsynth.show.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES_APART = 0.075
"""Minimum distance between two names, as a share of the height of a frame of about two inches."""


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights as little as possible to reach a minimum distance, keeping their order."""
    from scipy.optimize import isotonic_regression

    order = np.argsort(heights, kind="stable")
    steps = least * np.arange(len(heights))
    result = np.empty(len(heights))
    result[order] = isotonic_regression(np.asarray(heights)[order] - steps).x + steps
    return result.tolist()


def spaced(values: Sequence[float], limits: tuple[float, float]) -> list[float]:
    """Move values on a logarithmic axis with these limits apart, so names written there do not overlap."""
    bottom, top = limits
    heights = apart([float(np.log(value / bottom) / np.log(top / bottom)) for value in values], NAMES_APART)
    return [bottom * (top / bottom) ** height for height in heights]


def write_names(axis: Axes, names: Sequence[tuple[str, float, float, Literal["left", "right"]]], gap: float = 0) -> None:
    """Write names with a white outline, at places in data coordinates.

    Args:
        axis: the frame.
        names: text, x, y and alignment: with ``left`` the text begins at the place, with ``right`` it ends there.
        gap: distance between a place and its text, in points.
    """
    from matplotlib.patheffects import withStroke

    for text, x, y, side in names:
        off = gap if side == "left" else -gap
        words = axis.annotate(text, (x, y), (off, 0), textcoords="offset points", color=INK, ha=side, va="center", zorder=2.5)
        words.set_path_effects([withStroke(linewidth=2, foreground="white")])
