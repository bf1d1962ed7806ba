"""Names of marks, written next to the marks and moved apart where they would overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from formalsynth_workflow.show.style import INK
from formalsynth_workflow.show.types import Axes, Text

Name: TypeAlias = tuple[str, float, float, Literal["left", "right"]]
"""Text, x, y and alignment: with ``left`` the text begins at the place, with ``right`` it ends there."""
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


def spaced(names: Sequence[Name], limits: tuple[float, float]) -> list[Name]:
    """Move names next to a logarithmic axis with these limits apart, so they do not overlap."""
    bottom, top = limits
    heights = apart([float(np.log(y / bottom) / np.log(top / bottom)) for _, _, y, _ in names], NAMES_APART)
    return [(text, x, bottom * (top / bottom) ** height, side) for (text, x, _, side), height in zip(names, heights, strict=True)]


def write_names(axis: Axes, names: Sequence[Name], gap: float = 0) -> None:
    """Write names with a white outline, at places in data coordinates, at a distance of ``gap`` points."""
    for text, x, y, side in names:
        off = gap if side == "left" else -gap
        outline(axis.annotate(text, (x, y), (off, 0), textcoords="offset points", color=INK, ha=side, va="center", zorder=2.5), 2)


def outline(text: Text, width: float) -> None:
    """Draw a white outline around a text, with a width in points."""
    from matplotlib.patheffects import withStroke

    text.set_path_effects([withStroke(linewidth=width, foreground="white")])
