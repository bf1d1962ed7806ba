"""What every kind of figure has, and the register of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.core.model import FigureNumber, Model, Names, Number, WholeNumber
from formalsynth.core.registry import Registry

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import FigureBase as Canvas
    from matplotlib.lines import Line2D

    from formalsynth.show.display import FigureDisplay, Panel

FRAMES = ("none", "synthesizer", "scenario")
"""What the frames of a figure can differ in beside a parameter."""


class Repeat(Model):
    """A figure that the paper prints again under another number."""

    same_as: FigureNumber = Field(description="Number of a figure that the paper prints again under this one.")


class Figure(Model):
    """One figure: a tidy table and what is drawn from it. A kind adds the keys that it alone uses."""

    ALT: ClassVar[str] = ""
    """What the drawing is, for those who cannot see it."""
    READING: ClassVar[str] = ""
    """What the caption says of how to read it."""
    FRAMES: ClassVar[tuple[str, ...]] = ("none",)
    """What ``panels`` may be beside a parameter."""
    BY_PARAMETER: ClassVar[bool] = False
    """Whether ``panels`` may be a parameter."""

    PRINTS: ClassVar[bool] = False
    """Whether it draws printed values beside ours."""

    kind: str = Field(description="What is drawn.")
    scenario: str | Names = Field(description="Scenario or scenarios that it shows; every sample size.")
    table: Literal["replicates", "records", "sets", "values", "draws", "details", "audit"] = Field(
        "replicates", description="Which collected table it reads."
    )
    value: str | Names = Field(description="Column that is drawn, or columns with a frame for each.")
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
        default_factory=dict, description="Only synthesizers with these parameters, or without them."
    )
    panels: str = Field("none", description="none, synthesizer (n across), scenario, or the parameter whose values are frames.")
    titles: dict[float, str] = Field(default_factory=dict, description="Titles of frames by the parameter's value.")
    labels: dict[str, str] = Field(default_factory=dict, description="Labels of this figure, by entry or id.")
    y: str = Field("", description="Label of the axis of the values, with its unit.")
    per: float = Field(1.0, gt=0, description="Values are drawn divided by this, as in 1000 for thousands.")
    subject: str = Field("", description="What the caption says is drawn.")
    place: str = Field("", description="Where in the paper it is, if not where its scenario is.")
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
        """Columns of the values that are drawn."""
        return [self.value] if isinstance(self.value, str) else list(self.value)

    @property
    def across(self) -> str:
        """Column that runs across; empty where groups stand side by side."""
        return ""

    @property
    def common(self) -> str:
        """Column that all synthesizers of a replicate have in common and that stands beside the values; empty for none."""
        return ""

    def members(self) -> Mapping[str, Figure]:
        """The figures that it is made of, by letter; none where it is one itself."""
        return {}

    def tables(self) -> list[str]:
        """Collected tables that it reads of each scenario."""
        return [self.table]

    def alt(self) -> str:
        """What is to be seen, in a line for those who cannot see it."""
        return f"{self.ALT}: {self.subject}. The caption says more."

    def reading(self, display: FigureDisplay) -> str:
        """The sentence of the caption that says how to read the drawing."""
        return self.READING

    def printed_range(self, table: pd.DataFrame) -> str:
        """The ranges of printed values and of ours, for the caption; empty where there are no printed points."""
        return ""

    def line_at(self, display: FigureDisplay, panel: Panel, column: str) -> float:
        """Where a frame has its dashed line; NaN for none."""
        return float("nan")

    def line_words(self) -> str:
        """What the caption says of the dashed lines; empty where there are none."""
        return ""

    def extended(self, display: FigureDisplay, tidy: pd.DataFrame, collected: Sequence[pd.DataFrame]) -> pd.DataFrame:
        """The tidy table with the rows that this kind draws beside the values.

        Args:
            display: the figure.
            tidy: one row for each value.
            collected: the collected tables of every scenario.
        """
        return tidy

    def legend(self, display: FigureDisplay, table: pd.DataFrame) -> Sequence[Line2D]:
        """What a legend below the frames says beside the kinds of guarantee."""
        return []

    def marked(self, display: FigureDisplay, table: pd.DataFrame) -> Sequence[str]:
        """Synthesizers whose markers show the kind of their guarantee."""
        return list(table["synthesizer"].unique())

    def inches(self, display: FigureDisplay, table: pd.DataFrame) -> tuple[float, float]:
        """Width and height in inches, without title and legend; the table is the one that is painted."""
        raise NotImplementedError

    def paint(self, display: FigureDisplay, table: pd.DataFrame, canvas: Canvas) -> None:
        """Draw a tidy figure table.

        Args:
            display: the figure.
            table: as made by :func:`formalsynth.show.tidy.figure_table`, without the rows that have no value.
            canvas: an empty drawing, or a part of one.
        """
        raise NotImplementedError


class Framed(Figure):
    """Frames with the values upwards, which may have a dashed line across: violins and lines."""

    line: float | Literal["none", "half_epsilon", "population"] = Field(
        "none", description="Dashed line: a number, the frame's epsilon / 2, or the value in the population."
    )
    log: bool = Field(False, description="Logarithmic axis of the values.")

    @field_validator("line")
    @classmethod
    def _has_epsilon(cls, line: float | str, info: ValidationInfo) -> float | str:
        if line == "half_epsilon" and info.data.get("panels") != "epsilon" and "epsilon" not in info.data.get("where", {}):
            raise ValueError("Input should be anything else, unless panels is epsilon or where gives it")
        return line

    def line_at(self, display: FigureDisplay, panel: Panel, column: str) -> float:
        """Where a frame has its dashed line; NaN for none."""
        if self.line == "half_epsilon" and panel.epsilon is not None:
            return panel.epsilon / 2
        if self.line == "population":
            return display.truths[column]
        return float(self.line) if isinstance(self.line, float) else float("nan")

    def line_label(self) -> str:
        """What stands at the dashed line."""
        return f"{self.line:g}" if isinstance(self.line, float) else {"half_epsilon": "ε/2"}.get(self.line, self.line)

    def line_words(self) -> str:
        """What the caption says of the dashed lines; empty where there are none."""
        if isinstance(self.line, float):
            return f"Dashed line: {self.line}"
        known = {"half_epsilon": "ε / 2", "population": "the value in the simulated population"}
        return f"Dashed line: {known[self.line]}" if self.line in known else ""


FIGURES: Registry[type[Figure]] = Registry("kind of figure", "show/figures/*.py")
DEFAULT = "violin"
"""The kind of a figure that does not say which."""


def figure_kind(name: str) -> Callable[[type[Any]], type[Any]]:
    """Register a subclass of :class:`Figure` as a kind; its field ``kind`` is a Literal of the same name."""

    def register(kind: type[Any]) -> type[Any]:
        FIGURES.add(name, kind, kind.__module__)
        return kind

    return register
