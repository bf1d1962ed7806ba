"""Needed records: the sample size at which an error factor falls to a given value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from formalsynth_workflow.show.drawing import line_look_of
from formalsynth_workflow.show.figure import Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.groups import by_name, by_number
from formalsynth_workflow.show.names import Name, write_names
from formalsynth_workflow.show.types import Canvas, DataFrame, Series


@figure_kind("needed")
class Needed(Figure):
    """Number of records at which the values fall to a given one, by a parameter; one line for each label, named at its end."""

    X_COLUMN = "n"
    HEIGHT = 2.4
    MARGIN = 0.0
    ALT = "Lines of a number of records"

    kind: Literal["needed"]
    value: str = Field(description="Column that falls with n; its square is linear in 1 / n.")
    at: str = Field(description="Parameter on the x axis.")
    x_label: str = Field("", description="Label of the x axis.")
    target: float = Field(gt=0, description="The value to which it falls.")

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Replace the values of each synthesizer by the number of records, at least the smallest n; NaN if there is none."""
        needed = {}
        for id, part in by_name(tidy, "synthesizer"):
            means = part.groupby("n")["value"].mean().dropna()
            n, squares = means.index.to_numpy(float), means.to_numpy(float) ** 2
            if not np.isfinite(squares).all():
                needed[id] = np.inf
                continue
            slope, limit = np.polyfit(1 / n, squares, 1) if len(n) > 1 else (0.0, 0.0)
            below = slope > 0 and limit < self.target**2
            needed[id] = max(n.min(), slope / (self.target**2 - limit)) if below else np.nan
        return tidy.assign(value=tidy["synthesizer"].map(needed))

    def logarithmic(self, table: DataFrame) -> Series:
        """Return the values."""
        return table["value"]

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a line for each label."""
        axis, names = canvas.subplots(), list[Name]()
        axis.set_yscale("log")
        for label, part in by_name(table, "label"):
            points = [(at, float(rows["value"].mean())) for at, rows in by_number(part, "at")]
            axis.plot(*np.transpose(points), **line_look_of(display, str(part["synthesizer"].iloc[0])))
            names.append((label, *points[-1]))
        places = sorted(set(table["at"]))
        axis.set_xticks(places, [f"{place:g}" for place in places])
        axis.set(xlabel=self.x_label, ylabel=display.value_label)
        write_names(axis, names, self.HEIGHT - 0.4)
