"""What one figure or table shows, in plain types: everything that its job depends on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from formalsynth.core.kinds import ByKind
from formalsynth.core.model import DATA, PRIOR, JobInput
from formalsynth.show.figures.base import FIGURES, Figure
from formalsynth.show.tables.base import TABLES, Table

BOUNDS = ("bound", "delta", "epsilon", "audited", "claimed", "attacked", "held")
"""Columns of privacy numbers: they never travel without the kind of guarantee."""
NOT_SYNTHETIC = (DATA, PRIOR)
"""What stands beside synthesizers and has no guarantee."""


class Look(JobInput):
    """How a synthesizer is shown; apart from the synthesizer, so that a new colour or label refits nothing."""

    label: str
    colour: str
    guarantee: str
    """Kind of guarantee."""


class Panel(JobInput):
    """A frame of a figure."""

    title: str
    ids: tuple[str, ...]
    """Synthesizers in it, from left to right."""
    epsilon: float | None
    """The budget that the frame stands for, where it does."""


class ShownScenario(JobInput):
    """A scenario at one sample size, as far as a figure or table speaks of it."""

    id: str
    name: str
    label: str
    n: int
    place: str
    """Where in the paper it is."""
    replicates: int
    audited: int
    """How many of them are audited."""
    synthetic_sets: int
    file: str
    """Name of the data file; empty when simulated."""
    stand_in: bool
    """Whether simulated data take the place of an absent file."""
    unit: float
    """What a value of 1 is in the unit of figures and tables."""
    data: str
    """What a caption says of the data; empty where the label of a real data set says it."""


class Display(JobInput):
    """What a figure and a table have in common."""

    paper: str
    number: str
    scale: str
    authors: str
    table: str
    """Which collected table it reads."""
    ids: tuple[str, ...]
    """Synthesizers from left to right."""
    looks: dict[str, Look]
    scenarios: tuple[ShownScenario, ...]

    @property
    def stand_in(self) -> bool:
        """Whether stand-in data are among what it shows."""
        return any(scenario.stand_in for scenario in self.scenarios)


class Printed(JobInput):
    """What a paper prints of a cell of a figure."""

    scenario: str
    column: str
    id: str
    """The synthesizer."""
    low: float
    high: float
    """The same as ``low`` for a single number, else the other end of an interval."""


class FigureDisplay(Display):
    """What one figure shows. Its kind has to be registered before :meth:`of` is called."""

    figure: Annotated[Figure, ByKind(FIGURES)]
    panels: tuple[Panel, ...]
    at: dict[str, float | None]
    """Which point of its line a synthesizer is, where x is a result."""
    truths: dict[str, float]
    """Value of each drawn column in the population, where the dashed line is there."""
    printed: tuple[Printed, ...] = ()
    """Printed values of what is drawn."""
    parts: dict[str, FigureDisplay] = Field(default_factory=dict)
    """The figures that a sheet is made of, by letter."""


class TableDisplay(Display):
    """What one table shows. Its kind has to be registered before :meth:`of` is called."""

    entry: Annotated[Table, ByKind(TABLES)]
    parameters: dict[str, dict[str, float]] = Field(default_factory=dict)
    """By synthesizer, the parameters in which those of one label differ."""
