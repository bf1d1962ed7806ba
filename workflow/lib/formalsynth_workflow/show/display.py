"""Common content of figures and tables in plain types, and the parts of it. Nothing here draws."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from formalsynth.core.model import DATA, PRIOR, JobInput

BOUNDS = frozenset({"bound", "delta", "epsilon", "audited", "claimed", "attacked", "held"})
"""Columns with privacy numbers, which are never shown without the kind of guarantee and the unit of a continuous outcome."""
DRAWINGS = ("png", "svg")
"""File name extensions of a drawn figure."""
FOR_PRINT = "pdf"
"""File name extension of a drawing for print, which takes as long as the other formats together and is made only on request."""
NOT_SYNTHETIC = {DATA: "none: confidential", PRIOR: "none: prior"}
"""Entries that are not synthesizers, with the text shown instead of a guarantee."""


def in_words(units: Iterable[float | None]) -> str:
    """Units of outcomes in words, the first one first; None is for outcomes without a unit. Empty if no outcome has one."""
    return " or ".join("that of the data" if unit == 1 else f"{unit:,.10g}" for unit in dict.fromkeys(units) if unit is not None)


class Look(JobInput):
    """Label and colour of a synthesizer; separate from the synthesizer, so a new colour or label does not cause new fits."""

    label: str
    colour: str
    guarantee: str
    """Kind of its guarantee."""
    epsilon: float | None = None
    """Epsilon guaranteed for every data set when a record is added or removed; None without such a guarantee."""


class Panel(JobInput):
    """A frame of a figure."""

    title: str
    ids: tuple[str, ...]
    """Synthesizers in the frame, from left to right."""
    epsilon: float | None
    """Budget of the frame; None if it has none."""


class ShownScenario(JobInput):
    """Facts about a scenario at one sample size, used by figures, tables and captions."""

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
    """Name of the data file; empty for simulated data."""
    stand_in: bool
    """True if simulated data replace a missing file."""
    unit: float
    """Unit of the outcome in the fits, in that of figures and tables."""
    fitted_unit: float | None
    """Unit in which the fits see the outcome, if their log-likelihoods depend on it; None for counts and studies."""
    data: str
    """Description of the data in a caption; empty if the label of a real data set names them."""
    moves_only: bool = False
    """True if its audit tries only records that move inside their range."""


class Display(JobInput):
    """Common part of figures and tables."""

    NAME: ClassVar[str] = ""
    """Word before the number in the caption."""

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
    readings: tuple[str, ...] = ()
    """Descriptions of the readings of the paper whose synthesizers it shows."""

    @property
    def stand_in(self) -> bool:
        """True if any of its scenarios has stand-in data."""
        return any(scenario.stand_in for scenario in self.scenarios)


class Printed(JobInput):
    """Printed value of a cell in a figure."""

    scenario: str
    column: str
    id: str
    """The synthesizer."""
    low: float
    high: float
    """Upper end of a printed interval; equal to ``low`` for a single number."""
