"""Kinds of figures: the fields that all share, the methods that each may have, and their register.

A kind is one file in ``show/figures``: a class with the keys that config may set, and with the methods that draw. The plan reads
the class without drawing, so methods import matplotlib, seaborn and pandas themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from formalsynth.core.kinds import ByKind
from formalsynth.core.model import FigureNumber, Model, Names, Number, WholeNumber
from formalsynth.core.registry import Registry
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.show.display import BOUNDS, NOT_SYNTHETIC, Display, Panel, Printed
from formalsynth_workflow.show.groups import by_name
from formalsynth_workflow.show.style import COLUMN, mark_of
from formalsynth_workflow.show.types import Canvas, DataFrame, Handle, Series

FRAMES = ("none", "synthesizer", "scenario")
"""Values of ``panels`` that are not parameters."""


class Repeat(Model):
    """A figure that the paper prints again under another number."""

    same_as: FigureNumber = Field(description="Number of a figure that the paper prints again under this one.")


class Figure(Model):
    """Fields of one figure, and the methods that make its tidy table, its drawing, its legend and sentences of its caption.

    Each kind adds the keys that only it uses, and :meth:`paint`.
    """

    ALT: ClassVar[str] = ""
    """Description of the drawing for readers who cannot see it."""
    FRAMES: ClassVar[tuple[str, ...]] = ("none",)
    """Allowed values of ``panels``, apart from parameters."""
    BY_PARAMETER: ClassVar[bool] = False
    """True if ``panels`` may be a parameter."""
    PRINTS: ClassVar[bool] = False
    """True if printed values are drawn with ours."""
    READING: ClassVar[str] = ""
    """Sentence of the caption on how to read the drawing."""
    EMPTY_ROWS: ClassVar[bool] = False
    """True if a synthesizer without values has an empty row, with the reason in it; otherwise, reasons are below the frames."""
    COUNTS_INFINITE: ClassVar[bool] = False
    """True if the drawing counts values, so that infinite ones count too if a label has others."""
    X_COLUMN: ClassVar[str] = ""
    """Column on the x axis, if it is the same for each figure of this kind; empty if groups are side by side."""
    WIDTH: ClassVar[float] = COLUMN
    """Width of the drawing in inches."""
    IN_A_ROW: ClassVar[int] = 1
    """Number of frames in a row."""
    HEIGHT: ClassVar[float] = 1.8
    """Height of a frame in inches."""
    MARGIN: ClassVar[float] = 0.45
    """Height of the rest of the drawing in inches, without title and legend."""

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
    details: str = Field("", description="Sentences on how the values were made, after the caption.")

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

    def shown_columns(self) -> list[str]:
        """Columns of the drawn values, and the one on the x axis."""
        return [*self.columns(), *([self.x_column] if self.x_column else [])]

    @property
    def x_column(self) -> str:
        """Column on the x axis: that of the field ``x`` or of the kind; empty if groups are side by side."""
        return getattr(self, "x", self.X_COLUMN)

    @property
    def common(self) -> str:
        """Column whose value all synthesizers of a replicate share, from the field ``reference``; empty for none."""
        return getattr(self, "reference", "")

    @property
    def printed_apart(self) -> bool:
        """True if printed values have a frame of their own."""
        return False

    def members(self) -> Mapping[str, Figure]:
        """Parts of a sheet, by letter, from the field ``parts``; empty for a single figure."""
        return getattr(self, "parts", {})

    def tables(self) -> list[str]:
        """Names of the collected tables that it reads for each scenario."""
        return [self.table]

    def alt(self) -> str:
        """Alternative text of the drawing, on one line."""
        return f"{self.ALT}: {self.subject}. Details are in the caption."

    def line_at(self, display: FigureDisplay, panel: Panel, column: str) -> float:
        """Value at which a frame has its dashed line; NaN for none."""
        return float("nan")

    def extended(self, display: FigureDisplay, tidy: DataFrame, collected: Sequence[DataFrame]) -> DataFrame:
        """Return the tidy table with the additional rows and columns that only this kind draws.

        Args:
            display: the figure with its synthesizers and scenarios.
            tidy: one row for each value.
            collected: the collected tables of every scenario.
        """
        return tidy

    def reading(self, display: FigureDisplay) -> str:
        """Sentence of the caption on how to read the drawing."""
        return self.READING

    def line_words(self) -> str:
        """Words of the caption on dashed lines and markers; empty if there are none."""
        return ""

    def printed_range(self, table: DataFrame) -> str:
        """Ranges of printed values and of ours, for the caption; empty if there are no printed points."""
        return ""

    def logarithmic(self, table: DataFrame) -> Series | None:
        """Value of each row's mark, which a logarithmic axis only shows if it is positive; None for other axes."""
        return None

    def legend(self, display: FigureDisplay, table: DataFrame) -> Sequence[Handle]:
        """Legend entries below the frames."""
        return []

    def notes(self, display: FigureDisplay, table: DataFrame) -> Sequence[str]:
        """Return the notes of the parts of a sheet; none for a single figure."""
        return []

    def frames(self, display: FigureDisplay, table: DataFrame) -> list[tuple[str, DataFrame]]:
        """Titles and tables of the frames: panels, synthesizers, or the scenarios in the order of the figure."""
        if self.panels == "synthesizer":
            return [(display.looks[id].label, group) for id, group in by_name(table, "synthesizer")]
        titles = {scenario.id: scenario.label for scenario in display.scenarios}
        groups = by_name(table, "scenario" if self.panels == "scenario" else "panel")
        groups.sort(key=lambda group: list(titles).index(group[0]) if group[0] in titles else 0)
        return [(titles.get(name, name), group) for name, group in groups]

    def inches(self, display: FigureDisplay, table: DataFrame) -> tuple[float, float]:
        """Width and height in inches, without title and legend; ``table`` is the table to paint."""
        return self.WIDTH, self.HEIGHT * math.ceil(len(self.frames(display, table)) / self.IN_A_ROW) + self.MARGIN

    def paint(self, display: FigureDisplay, table: DataFrame, canvas: Canvas) -> None:
        """Draw a tidy figure table.

        Args:
            display: the figure with its synthesizers and scenarios.
            table: output of :func:`formalsynth_workflow.show.left_out.with_reasons`; only with :attr:`EMPTY_ROWS`, it has rows
                that lack a value.
            canvas: an empty drawing, or a part of one.
        """
        raise NotImplementedError


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

    def line_at(self, display: FigureDisplay, panel: Panel, column: str) -> float:
        """Value at which a frame has its dashed line; NaN for none."""
        if self.line == "half_epsilon" and panel.epsilon is not None:
            return panel.epsilon / 2
        if self.line == "population":
            return display.truths[column]
        return self.line if isinstance(self.line, float) else float("nan")

    def line_name(self) -> str:
        """Label of the dashed line in the drawing."""
        line = self.line
        return self.line_label or (f"{line:g}" if isinstance(line, float) else {"half_epsilon": "ε/2"}.get(line, line))

    def line_words(self) -> str:
        """Words of the caption on the dashed lines; empty if there are none."""
        if isinstance(self.line, float):
            return f"Dashed line: {f'{self.line_label}, ' if self.line_label else ''}{self.line:g}"
        words = {"half_epsilon": "ε / 2", "population": "the value in the simulated population"}
        return f"Dashed line: {words[self.line]}" if self.line in words else ""


FIGURES: Registry[type[Figure]] = Registry("kind of figure", "show/figures/*.py", package=PACKAGE)
DEFAULT = "violin"
"""Kind of a figure without the key ``kind``."""


figure_kind = FIGURES.register
"""Decorator that registers a subclass of :class:`Figure` as a kind; its field ``kind`` is a Literal of the same name."""


class FigureDisplay(Display):
    """Content of one figure. Its kind must be registered before :meth:`of` is called."""

    NAME = "Figure"

    figure: Annotated[Figure, ByKind(FIGURES)]
    panels: tuple[Panel, ...]
    at: dict[str, float | None]
    """Parameter value at each synthesizer's point on its line, if x is a result."""
    truths: dict[str, float]
    """Population value of each drawn column, if the dashed line shows it."""
    printed: tuple[Printed, ...] = ()
    """Printed values of the drawn cells."""
    parts: dict[str, FigureDisplay] = Field(default_factory=dict)
    """Parts of a sheet, by letter."""

    @property
    def kinds(self) -> list[str]:
        """Kinds of guarantee of its synthesizers in short; empty if it shows no privacy numbers."""
        shown = not BOUNDS.isdisjoint(self.figure.shown_columns())
        return list(dict.fromkeys(self._kind(id) for id in self.ids if id not in NOT_SYNTHETIC)) if shown else []

    def _kind(self, id: str) -> str:
        return mark_of(self.looks[id].guarantee).words

    def named(self, id: str, end: str = " ({})") -> str:
        """Label of a synthesizer, with its kind of guarantee if privacy numbers of several kinds are shown."""
        known = id not in NOT_SYNTHETIC and len(self.kinds) > 1
        return self.looks[id].label + (end.format(self._kind(id)) if known else "")

    @property
    def value_label(self) -> str:
        """Label of the value axis, with the kind of guarantee if privacy numbers of one kind are shown."""
        return self._with_kind(self.figure.y, self.figure.columns())

    @property
    def x_label(self) -> str:
        """Label of the x axis, with the kind of guarantee if privacy numbers of one kind are on it."""
        return self._with_kind(getattr(self.figure, "x_label", ""), [self.figure.x_column])

    def _with_kind(self, words: str, columns: Sequence[str]) -> str:
        return f"{words} ({self.kinds[0]})" if words and len(self.kinds) == 1 and not BOUNDS.isdisjoint(columns) else words

    @property
    def entry(self) -> Figure:
        """Its fields in config."""
        return self.figure

    @property
    def drawings(self) -> list[FigureDisplay]:
        """Parts of a sheet; otherwise the figure itself."""
        return list(self.parts.values()) or [self]
