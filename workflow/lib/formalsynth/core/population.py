"""Populations from which simulated confidential data are drawn, and their register.

A population is a function ``name(generator, n, *, parameters...) -> Records``. A population that draws from published counts
also has a parameter ``counts``: config names a table of counts, and the function receives its content.
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
"""Published counts: for each variable, its values and the number of records with each value."""
PublishedCounts = Annotated[Counts, GetPydanticSchema(lambda _, schema_of: schema_of(str))]
"""In config, the name of a registered table of counts; in the function, its content."""
Truth = Callable[..., Mapping[str, float]]
"""Function of a population's parameters that returns the values of its statistics."""


@dataclass(frozen=True)
class Population:
    """A registered population."""

    name: str
    function: Callable[..., Records]
    parameters: type[Parameters]
    truth: Truth | None = None
    """Function that returns exact values of statistics, by their names in :data:`formalsynth.core.utility.STATISTICS`."""

    def draw(self, generator: np.random.Generator, n: int, parameters: Mapping[str, object]) -> Records:
        """Draw a data set of n records; ``counts`` in ``parameters`` is the content of the table."""
        return self.function(generator, n, **parameters)


POPULATIONS: Registry[Population] = Registry("population", "data/populations/*.py")


def population(truth: Truth | None = None) -> Callable[[Callable[..., Records]], Callable[..., Records]]:
    """Register a function under its own name.

    Args:
        truth: function of the same keyword arguments that returns the exact statistics of the population.
    """

    def register(function: Callable[..., Records]) -> Callable[..., Records]:
        entry = Population(function.__name__, function, parameters_of(function), truth)
        POPULATIONS.add(entry.name, entry, function.__module__)
        return function

    return register
