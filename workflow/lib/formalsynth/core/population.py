"""Populations: what simulated confidential data are drawn from, and the register of them.

A population is a function ``name(generator, n, *, parameters...) -> Records``. One that draws from published counts takes
``counts`` too: config names a table of counts, and the function gets its contents, or None where the file is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import GetPydanticSchema

from formalsynth.core.arrays import Array, Records
from formalsynth.core.parameters import Parameters, parameters_of
from formalsynth.core.registry import Registry

Counts = Mapping[str, tuple[Array, Array]]
"""Published counts: values and number of records of each variable."""
PublishedCounts = Annotated[Counts | None, GetPydanticSchema(lambda _, schema_of: schema_of(str))]
"""In config the name of a registered table of counts; in the function its contents, None where the file is absent."""
Truth = Callable[..., Mapping[str, float]]
"""From a population's parameters to the values of its statistics."""


@dataclass(frozen=True)
class Population:
    """A registered population."""

    name: str
    function: Callable[..., Records]
    parameters: type[Parameters]
    truth: Truth | None = None
    """Its statistics, by the names of :data:`formalsynth.core.utility.STATISTICS`, where they are known exactly."""

    @property
    def from_counts(self) -> bool:
        """Whether it can draw from published counts."""
        return "counts" in self.parameters.model_fields

    def draw(self, generator: np.random.Generator, n: int, parameters: Mapping[str, object]) -> Records:
        """Data set of n records; of ``parameters``, counts are the contents of their table."""
        return self.function(generator, n, **parameters)


POPULATIONS: Registry[Population] = Registry("population", "data/populations/*.py", "papers/*/population*.py")


def population(truth: Truth | None = None) -> Callable[[Callable[..., Records]], Callable[..., Records]]:
    """Register a function under its own name.

    Args:
        truth: from the function's keyword arguments to the statistics of the population, where they are known exactly.
    """

    def register(function: Callable[..., Records]) -> Callable[..., Records]:
        entry = Population(function.__name__, function, parameters_of(function), truth)
        POPULATIONS.add(entry.name, entry, function.__module__)
        return function

    return register
