"""Fields that all kinds of figures share, and the register of kinds. The painters are in ``show/figures``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.core.model import FigureNumber, Model, Names, Number, WholeNumber
from formalsynth.core.registry import Registry

FRAMES = ("none", "synthesizer", "scenario")
"""Values of ``panels`` that are not parameters."""


class Repeat(Model):
    """A figure that the paper prints again under another number."""

    same_as: FigureNumber = Field(description="Number of a figure that the paper prints again under this one.")


class Figure(Model):
    """Fields of one figure. Each kind adds the keys that only it uses."""

    ALT: ClassVar[str] = ""
    """Description of the drawing for readers who cannot see it."""
    FRAMES: ClassVar[tuple[str, ...]] = ("none",)
    """Allowed values of ``panels``, apart from parameters."""
    BY_PARAMETER: ClassVar[bool] = False
    """True if ``panels`` may be a parameter."""
    PRINTS: ClassVar[bool] = False
    """True if printed values are drawn with ours."""

    kind: str = Field(description="Kind of the drawing.")
    scenario: str | Names = Field(description="Scenario or scenarios that it shows; every sample size.")
    table: Literal["replicates", "records", "sets", "values", "draws", "details", "audit"] = Field(
        "replicates", description="Collected table that it reads."
    )
    value: str | Names = Field(description="Column that is drawn, or several columns, each in its own frame.")
    size: Annotated[WholeNumber, Field(strict=True)] | None = Field(
        None, description="Only this sample size of the scenario, before the scale shrinks it."
    )
    rows: dict[str, str | bool | float] = Field(
        default_factory=dict, description="Only rows of the collected table with these values."
    )
    synthesizers: list[str | list[str]] = Field(
        description="Entries or ids from left to right; a nested list alternates its members."
    )
    where: dict[str, Number] = Field(
        default_factory=dict, description="Only synthesizers that have these values, or lack these parameters."
    )
    panels: str = Field("none", description="none, synthesizer (n across), scenario, or the parameter whose values are frames.")
    titles: dict[float, str] = Field(default_factory=dict, description="Titles of frames, by the parameter's value.")
    labels: dict[str, str] = Field(default_factory=dict, description="Labels in this figure, by entry or id.")
    y: str = Field("", description="Label of the value axis, with its unit.")
    per: float = Field(1.0, gt=0, description="Values are divided by this before drawing, such as 1000 for thousands.")
    subject: str = Field("", description="Subject of the figure in its caption.")
    place: str = Field("", description="Place in the paper, if different from that of its scenario.")
    note: str = Field("", description="Sentence that ends the caption.")

    @field_validator("panels")
    @classmethod
    def _drawn_by_this_kind(cls, panels: str, info: ValidationInfo) -> str:
        several = isinstance(info.data.get("value"), list)
        frames = ("none",) if several else cls.FRAMES
        if panels not in frames and (panels in FRAMES or not cls.BY_PARAMETER):
            allowed = " or ".join([*frames, *(["a parameter"] if cls.BY_PARAMETER else [])])
            raise ValueError(f"Input should be {allowed}{' where value names several columns' * several}")
        return panels

    def columns(self) -> list[str]:
        """Columns of the drawn values."""
        return [self.value] if isinstance(self.value, str) else list(self.value)

    @property
    def across(self) -> str:
        """Column on the x axis; empty if groups are side by side."""
        return ""

    @property
    def common(self) -> str:
        """Column whose value all synthesizers of a replicate share, drawn with the values; empty for none."""
        return ""

    def members(self) -> Mapping[str, Figure]:
        """Parts of a sheet, by letter; empty for a single figure."""
        return {}

    def tables(self) -> list[str]:
        """Names of the collected tables that it reads for each scenario."""
        return [self.table]

    def alt(self) -> str:
        """Alternative text of the drawing, on one line."""
        return f"{self.ALT}: {self.subject}. Details are in the caption."


class Framed(Figure):
    """Figure whose frames may have a dashed line at a value: violins and lines."""

    line: float | Literal["none", "half_epsilon", "population"] = Field(
        "none", description="Dashed line: a number, the frame's epsilon / 2, or the value in the population."
    )
    line_label: str = Field("", description="Name of the dashed line if it is a number, written next to it in the drawing.")
    log: bool = Field(False, description="True for a logarithmic value axis.")

    @field_validator("line")
    @classmethod
    def _has_epsilon(cls, line: float | str, info: ValidationInfo) -> float | str:
        if line == "half_epsilon" and info.data.get("panels") != "epsilon" and "epsilon" not in info.data.get("where", {}):
            raise ValueError("Input should be anything else, unless panels is epsilon or where contains epsilon")
        return line


FIGURES: Registry[type[Figure]] = Registry("kind of figure", "displays/figures/*.py")
DEFAULT = "violin"
"""Kind of a figure without the key ``kind``."""


figure_kind = FIGURES.register
"""Decorator that registers a subclass of :class:`Figure` as a kind; its field ``kind`` is a Literal of the same name."""
