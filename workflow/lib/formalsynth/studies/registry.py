"""The registry of studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from pydantic import BaseModel

    from formalsynth.scenario import Scenario


@dataclass(frozen=True)
class Run:
    """What a study is asked for."""

    scenario: Scenario
    root: int
    replicates: Sequence[int]
    data_folder: str


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
    requires: Callable[[dict[str, Any]], tuple[str, ...]]
    """Settings to the registered data files without which it cannot run."""
    sections: Mapping[str, type[BaseModel]]
    """Settings that are sections of their own, and what they have to be."""


STUDIES: dict[str, Study] = {}


def study(
    requires: Callable[[dict[str, Any]], tuple[str, ...]] = lambda settings: (),
    sections: Mapping[str, type[BaseModel]] | None = None,
) -> Callable[[Callable[..., Outcome]], Callable[..., Outcome]]:
    """Register a function under its own name; its keyword-only parameters are the settings that config may give."""

    def register(function: Callable[..., Outcome]) -> Callable[..., Outcome]:
        STUDIES[function.__name__] = Study(function.__name__, function, requires, sections or {})
        return function

    return register
