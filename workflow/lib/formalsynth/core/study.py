"""Studies: scenarios whose replicates one function runs whole, from the data to what is measured, without Stan.

A study is a function ``name(run, *, settings...) -> Outcome``. It lists its own arms, which are what config puts side by side
in its figures and tables as synthesizers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formalsynth.core.job import ScenarioKey
from formalsynth.core.model import Settings
from formalsynth.core.parameters import Parameters, parameters_of
from formalsynth.core.registry import Registry
from formalsynth.core.streams import Address

if TYPE_CHECKING:
    import pandas as pd


class NoParameters(Parameters):
    """An arm without parameters."""


@dataclass(frozen=True)
class Arm:
    """One of the things that a study compares."""

    guarantee: str
    """The kind of privacy number it gives."""
    meaning: str = ""
    """What it is, in one sentence."""
    parameters: type[Parameters] = NoParameters


@dataclass(frozen=True)
class ChosenArm:
    """An arm as config asks for it."""

    id: str
    """What its rows are called in the column synthesizer."""
    name: str
    """Which of the study's arms it is."""
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """What a study is asked for."""

    key: ScenarioKey
    replicates: Sequence[int]
    arms: Sequence[ChosenArm]
    data_folder: str

    @property
    def n(self) -> int:
        """Sample size."""
        return self.key.n

    def address(self, replicate: int) -> Address:
        """Where the random streams of a replicate are."""
        return Address.of(self.key, replicate)


@dataclass(frozen=True)
class Outcome:
    """What a study found: rows for ``replicates.csv`` and, in long form, whatever has more than one value a row."""

    rows: pd.DataFrame
    """At least replicate and synthesizer; paper, scenario, n, status and guarantee are filled in where they are absent."""
    details: pd.DataFrame
    """Columns as the study likes, replicate and synthesizer among them; may be empty."""


@dataclass(frozen=True)
class Study:
    """A registered study."""

    name: str
    function: Callable[..., Outcome]
    settings: type[Parameters]
    """What config may set."""
    arms: Mapping[str, Arm]
    """What it compares, by name."""
    requires: Callable[[Settings], tuple[str, ...]]
    """From its settings to the registered data files without which it cannot run."""
    data: Callable[[Settings], str]
    """From its settings to what a caption calls its data; empty where the scenario's label says it."""


STUDIES: Registry[Study] = Registry("study", "papers/*/study*.py")


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
