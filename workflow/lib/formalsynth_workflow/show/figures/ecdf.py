"""Empirical distribution functions: distributions of values, drawn without a bandwidth."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.show.drawing import curve, stacked
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.types import Canvas, DataFrame

APART = 0.12
"""Distance between markers along a line, as a share of the frame's diagonal."""


@figure_kind("ecdf")
class Ecdf(Figure):
    """Empirical distribution functions of the values, one line for each synthesizer."""

    ALT = "Empirical distribution functions"
    FRAMES = ("none", "scenario")
    BY_PARAMETER = True
    COUNTS_INFINITE = True
    READING = "The height of a line is the share of the values up to that point"
    LINES = True
    HEIGHT = 1.7

    kind: Literal["ecdf"]
    value: str = Field(description="Column that is drawn.")

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a step function for each synthesizer, with the same style and markers in every frame."""
        for axis, group in stacked(display, table, canvas):
            for id, part in by_name(group, "synthesizer"):
                # Axes.ecdf is not used: with compress=True, it counts only one of several tied values.
                values, counts = np.unique(part["value"], return_counts=True)
                across, heights = np.append(values[:1], values), np.append(0, counts.cumsum() / counts.sum())
                curve(axis, display, id, APART, across, heights, drawstyle="steps-post", label=display.looks[id].label)
            axis.set_ylabel("share up to here")
        axis.set_xlabel(self.y)
