"""Sheets: several figures that are printed under one number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from formalsynth.core.kinds import ByKind
from formalsynth.show.compose import Composition, compose, composition, divided
from formalsynth.show.figures.base import DEFAULT, FIGURES, Figure, figure_kind
from formalsynth.show.style import COLUMN

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas
    from pydantic import BaseModel

    from formalsynth.show.display import FigureDisplay

OPTIONAL = ("density", "at", "printed_low", "printed_high", "printed_x", "common")
"""Columns that only some kinds have; in the table of a sheet all parts have them."""
Letter = Annotated[str, Field(pattern="^[a-z]$")]


class _PartKinds(ByKind):
    """A part by its kind, which is any but a sheet."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """The kinds but this one."""
        return {name: kind for name, kind in super().variants().items() if name != "sheet"}


@figure_kind("sheet")
class Sheet(Figure):
    """Several figures of one scenario that are printed under one number, each with its letter."""

    ALT = "Several figures on one sheet"

    kind: Literal["sheet"]
    value: Literal[""] = Field("", description="Left out: the parts say it.")
    synthesizers: list[str | list[str]] = Field(default_factory=list, description="Left out: the parts say it.")
    parts: dict[Letter, Annotated[Figure, _PartKinds(FIGURES, DEFAULT)]] = Field(
        min_length=2, description="Figures by their letters, all of the same scenario and size."
    )

    @model_validator(mode="after")
    def _one_scenario(self) -> Self:
        if self.synthesizers:
            raise ValueError("The synthesizers of a sheet should be left out: its parts say them")
        for letter, part in self.parts.items():
            if (part.scenario, part.size) != (self.scenario, self.size):
                raise ValueError(
                    f"Part {letter} should have the scenario and the size of the sheet, which are {self.scenario}, {self.size}"
                )
        return self

    def members(self) -> Mapping[str, Figure]:
        """Its parts."""
        return self.parts

    def columns(self) -> list[str]:
        """Columns of the values that any part draws."""
        return list(dict.fromkeys(column for part in self.parts.values() for column in part.columns()))

    def tables(self) -> list[str]:
        """Collected tables that any part reads of each scenario."""
        return list(dict.fromkeys(table for part in self.parts.values() for table in part.tables()))

    def marked(self, display: FigureDisplay, table: pd.DataFrame) -> list[str]:
        """None: the parts have legends of their own."""
        return []

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """A column wide, or a page where there are more than two parts."""
        rows = self._rows(display, table)
        return COLUMN * len(rows[0]), sum(_height(row) for row in rows)

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """Each part with its own title and legend."""
        rows = self._rows(display, table)
        places = canvas.subfigures(len(rows), len(rows[0]), squeeze=False, height_ratios=[_height(row) for row in rows])
        for row, beside in zip(rows, places, strict=True):
            for (part, drawn, around), place in zip(row, beside, strict=False):
                compose(part, drawn, place, around)

    def _rows(self, display: FigureDisplay, table: pd.DataFrame) -> list[list[tuple[FigureDisplay, pd.DataFrame, Composition]]]:
        """The parts that have results, row by row."""
        parts = list(self._parts(display, table))
        across = 1 if len(parts) < 3 else 2
        return [parts[k * across : (k + 1) * across] for k in range(math.ceil(len(parts) / across))]

    def _parts(self, display: FigureDisplay, table: pd.DataFrame) -> Iterator[tuple[FigureDisplay, pd.DataFrame, Composition]]:
        for letter, part in display.parts.items():
            own = table[table["part"] == letter]
            own = divided(part, own.drop(columns=[name for name in OPTIONAL if name in own and own[name].isna().all()]))
            if len(own):
                yield part, own, composition(part, own, f"{letter}  {part.figure.subject}")


def _height(row: list[tuple[FigureDisplay, pd.DataFrame, Composition]]) -> float:
    return max(around.height for _, _, around in row)
