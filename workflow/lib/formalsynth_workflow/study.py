"""Studies: scenarios in which one function runs whole replicates, from the data to the measurements, without Stan.

A study is a function ``name(run, *, settings...) -> Outcome``. It lists its own arms, which figures and tables compare like
synthesizers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from formalsynth.core.model import Settings
from formalsynth.core.parameters import Parameters, parameters_of
from formalsynth.core.registry import Registry
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth_workflow import PACKAGE

if TYPE_CHECKING:
    import pandas as pd


class NoParameters(Parameters):
    """Empty parameters, for an arm without any."""


@dataclass(frozen=True)
class Arm:
    """Method that a study compares with others."""

    guarantee: str
    """Kind of its privacy guarantee."""
    meaning: str = ""
    """Description in one sentence."""
    parameters: type[Parameters] = NoParameters


@dataclass(frozen=True)
class ChosenArm:
    """Arm, as requested in config."""

    id: str
    """Value of the column synthesizer in its rows."""
    name: str
    """Name of the arm in the study."""
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """Input of a study."""

    key: ScenarioKey
    replicates: Sequence[int]
    arms: Sequence[ChosenArm]
    data_folder: str

    @property
    def n(self) -> int:
        """Sample size."""
        return self.key.n

    def address(self, replicate: int) -> Address:
        """Address of the random streams of a replicate."""
        return Address.of(self.key, replicate)


def no_details() -> pd.DataFrame:
    """Return the empty table of details of a study without details."""
    import pandas as pd

    return pd.DataFrame(columns=["replicate", "synthesizer"])


@dataclass(frozen=True)
class Outcome:
    """Result of a study: rows for ``replicates.csv`` and, in long form, results with several values for a row."""

    rows: pd.DataFrame
    """Rows with at least replicate and synthesizer; missing paper, scenario, n, status and guarantee are filled in."""
    details: pd.DataFrame = field(default_factory=no_details)
    """Details with replicate, synthesizer and any other columns; may be empty."""


@dataclass(frozen=True)
class Study:
    """A registered study."""

    name: str
    function: Callable[..., Outcome]
    settings: type[Parameters]
    """Settings that config may give."""
    arms: Mapping[str, Arm]
    """Arms by name."""
    requires: Callable[[Settings], tuple[str, ...]]
    """Function of its settings that returns the registered data files that it requires."""
    data: Callable[[Settings], str]
    """Function of its settings that returns the name of its data in captions; empty if the scenario's label contains it."""


STUDIES: Registry[Study] = Registry("study", "papers/*/study*.py", package=PACKAGE)


def study(
    arms: Mapping[str, Arm],
    requires: Callable[[Settings], tuple[str, ...]] = lambda settings: (),
    data: Callable[[Settings], str] = lambda settings: "simulated data",
) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Register a function under its own name; its keyword-only parameters are the settings that config may give."""

    def register(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        entry = Study(function.__name__, function, parameters_of(function), arms, requires, data)
        STUDIES.add(entry.name, entry, function.__module__)
        return function

    return register
