"""Content of one figure or table in plain types: everything that its job depends on."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from formalsynth.core.kinds import ByKind
from formalsynth.core.model import DATA, PRIOR, JobInput
from formalsynth.displays.figure import FIGURES, Figure
from formalsynth.displays.table import TABLES, Table

BOUNDS = ("bound", "delta", "epsilon", "audited", "claimed", "attacked", "held")
"""Columns of privacy numbers: they never appear without the kind of guarantee."""
DRAWINGS = ("png", "svg")
"""File name extensions of a drawn figure."""
FOR_PRINT = "pdf"
"""File name extension of a drawing for print, which takes as long as the others together: it is made on request."""
NOT_SYNTHETIC = {DATA: "none: confidential", PRIOR: "none: prior"}
"""Entries that are no synthesizers, with the words in place of a guarantee."""


class Look(JobInput):
    """Label and colour of a synthesizer; apart from the synthesizer, so that a new colour or label refits nothing."""

    label: str
    colour: str
    guarantee: str
    """Kind of guarantee."""
    epsilon: float | None = None
    """Epsilon that is guaranteed for every data set when a record is added or removed; None without such a guarantee."""


class Panel(JobInput):
    """A frame of a figure."""

    title: str
    ids: tuple[str, ...]
    """Synthesizers in it, from left to right."""
    epsilon: float | None
    """Budget of the frame; None where it has none."""


class ShownScenario(JobInput):
    """Facts on a scenario at one sample size that figures, tables and captions use."""

    id: str
    name: str
    label: str
    n: int
    place: str
    """Place in the paper."""
    replicates: int
    audited: int
    """Number of replicates that are audited."""
    synthetic_sets: int
    file: str
    """Name of the data file; empty when simulated."""
    stand_in: bool
    """True where simulated data replace a missing file."""
    unit: float
    """Value of 1 in the unit of figures and tables."""
    data: str
    """Words for the data in a caption; empty where the label of a real data set names them."""


class Display(JobInput):
    """Common part of figures and tables."""

    paper: str
    number: str
    scale: str
    authors: str
    table: str
    """Collected table that it reads."""
    ids: tuple[str, ...]
    """Synthesizers from left to right."""
    looks: dict[str, Look]
    scenarios: tuple[ShownScenario, ...]

    @property
    def stand_in(self) -> bool:
        """True where any of its scenarios has stand-in data."""
        return any(scenario.stand_in for scenario in self.scenarios)


class Printed(JobInput):
    """Printed value of a cell of a figure."""

    scenario: str
    column: str
    id: str
    """The synthesizer."""
    low: float
    high: float
    """The same as ``low`` for a single number, else the other end of an interval."""


class FigureDisplay(Display):
    """Content of one figure. Its kind has to be registered before :meth:`of` is called."""

    figure: Annotated[Figure, ByKind(FIGURES)]
    panels: tuple[Panel, ...]
    at: dict[str, float | None]
    """Point of its line, by synthesizer, where x is a result."""
    truths: dict[str, float]
    """Value of each drawn column in the population, where the dashed line is there."""
    printed: tuple[Printed, ...] = ()
    """Printed values of the drawn cells."""
    parts: dict[str, FigureDisplay] = Field(default_factory=dict)
    """Figures of a sheet, by letter."""


class TableDisplay(Display):
    """Content of one table. Its kind has to be registered before :meth:`of` is called."""

    entry: Annotated[Table, ByKind(TABLES)]
    parameters: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Parameters in which synthesizers of one label differ, by synthesizer."""
