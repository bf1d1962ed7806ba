"""Sheets: several figures printed under one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from formalsynth.core.kinds import ByKind
from formalsynth_workflow.show.compose import Composition, compose, composition
from formalsynth_workflow.show.drawing import legend_height
from formalsynth_workflow.show.figure import DEFAULT, FIGURES, Figure, FigureDisplay, figure_kind
from formalsynth_workflow.show.left_out import is_empty
from formalsynth_workflow.show.style import COLUMN
from formalsynth_workflow.show.types import Canvas, DataFrame, Handle

OPTIONAL = ("density", "at", "printed_low", "printed_high", "printed_x", "common")
"""Columns that only some kinds have; in the table of a sheet, all parts have them."""
Letter = Annotated[str, Field(pattern="^[a-z]$")]


class _PartKinds(ByKind):
    """Part of a sheet, by its kind; any kind except a sheet is allowed."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """All kinds except sheets."""
        return {name: kind for name, kind in super().variants().items() if name != "sheet"}


@figure_kind("sheet")
class Sheet(Figure):
    """Several figures of one scenario printed under one number, each with its own letter."""

    ALT = "Several figures on one sheet"

    kind: Literal["sheet"]
    value: Literal[""] = Field("", description="Must be left out: the parts define it.")
    synthesizers: list[str | list[str]] = Field(default_factory=list, description="Must be left out: the parts define it.")
    parts: dict[Letter, Annotated[Figure, _PartKinds(FIGURES, DEFAULT)]] = Field(
        min_length=2, description="Figures by letter, all with the same scenario and size."
    )

    @model_validator(mode="after")
    def _one_scenario(self) -> Self:
        if self.synthesizers:
            raise ValueError("The synthesizers of a sheet should be left out: its parts define them")
        for letter, part in self.parts.items():
            if (part.scenario, part.size) != (self.scenario, self.size):
                raise ValueError(
                    f"Part {letter} should have the scenario and the size of the sheet, which are {self.scenario}, {self.size}"
                )
        return self

    def columns(self) -> list[str]:
        """Columns of the values that any part draws."""
        return list(dict.fromkeys(column for part in self.parts.values() for column in part.columns()))

    def tables(self) -> list[str]:
        """Names of the collected tables that any part reads for each scenario."""
        return list(dict.fromkeys(table for part in self.parts.values() for table in part.tables()))

    def legend(self, display: FigureDisplay, table: DataFrame) -> list[Handle]:
        """Legend entries of all parts, each label once."""
        parts = [content for row in _rows(display, table) for _, content in row]
        return list({str(handle.get_label()): handle for content in parts for handle in content.legend}.values())

    def notes(self, display: FigureDisplay, table: DataFrame) -> list[str]:
        """Return the notes of all parts, each once."""
        parts = [content for row in _rows(display, table) for _, content in row if not is_empty(content.table)]
        return list(dict.fromkeys(note for content in parts for note in content.notes.splitlines()))

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width of a page, or of a column if only one part has results."""
        rows = _rows(display, table)
        return COLUMN * len(rows[0]), sum(_height(row) for row in rows)

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw each part with its own title and notes."""
        rows = _rows(display, table)
        places = canvas.subfigures(len(rows), len(rows[0]), squeeze=False, height_ratios=[_height(row) for row in rows])
        for row, canvases in zip(rows, places, strict=True):
            for (part, content), place in zip(row, canvases, strict=False):
                compose(part, place, replace(content, legend=[], notes=content.notes if is_empty(content.table) else ""))


def _rows(display: FigureDisplay, table: DataFrame) -> list[list[tuple[FigureDisplay, Composition]]]:
    """Parts that have results, row by row."""
    parts = []
    for letter, part in display.parts.items():
        own = table[table["part"] == letter]
        own = own.drop(columns=[name for name in OPTIONAL if name in own and own[name].isna().all()])
        if len(own):
            parts.append((part, composition(part, own, f"{letter}  {part.figure.subject}")))
    return [parts[k : k + 2] for k in range(0, len(parts), 2)]


def _height(row: list[tuple[FigureDisplay, Composition]]) -> float:
    """Height of a row of parts in inches, without their legends and notes, which the sheet has."""
    return max(content.height - legend_height(content.legend, content.columns, content.notes) for _, content in row)
