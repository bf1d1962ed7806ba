"""Fields of sheets: several figures printed under one number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, model_validator

from formalsynth.core.kinds import ByKind
from formalsynth.displays.figure import DEFAULT, FIGURES, Figure, figure_kind

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

    def members(self) -> Mapping[str, Figure]:
        """Parts of the sheet."""
        return self.parts

    def columns(self) -> list[str]:
        """Columns of the values that any part draws."""
        return list(dict.fromkeys(column for part in self.parts.values() for column in part.columns()))

    def tables(self) -> list[str]:
        """Names of the collected tables that any part reads for each scenario."""
        return list(dict.fromkeys(table for part in self.parts.values() for table in part.tables()))
