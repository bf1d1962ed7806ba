"""Joint distribution of all columns, estimated from noisy parts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth_release.conditions import conditions
from formalsynth_release.crossing import Part
from formalsynth_release.joint import Joint, Sum, Target, consistent, estimated, joint_of
from formalsynth_release.layout import Names, Pair, Reading
from formalsynth_release.levels import Levels
from formalsynth_release.margins import inside_levels
from formalsynth_release.rules import applied, impossible
from formalsynth_release.schema import PublicSchema
from formalsynth_release.variables import KNOTS, Variable

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.arrays import Array, Integers

STRAIGHT = 1e-6
"""Change of a log density across a level that makes no difference."""


@dataclass(frozen=True)
class Model:
    """Joint distribution of the columns, estimated from noisy parts."""

    columns: Mapping[str, Levels]
    shares: Mapping[str, Array]
    """Shares (levels,) of each column; those of missing values at the end."""
    joint: Joint
    number: float
    """Number of rows in the file, which is estimated if it is confidential."""
    targets: Mapping[Names, Target]
    """Estimated means of the products of each pair."""
    schema: PublicSchema
    knots: int
    """Largest number of knots of a variable; 0 if the sums are of scores."""
    variables: Mapping[str, Variable]
    """Variables of pairs, with their noisy shares."""

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that were measured."""
        return [(first, second) for first, second in self.targets]

    @classmethod
    def of(cls, schema: PublicSchema, parts: Sequence[Part], shrink: bool = True, released: float | None = None) -> Model:
        """Fit the model to noisy parts.

        Args:
            schema: declarations.
            parts: noisy parts.
            shrink: False if the sums are not shrunk towards independent columns, for simulations.
            released: rows of the file that is released, for simulations; by default, those of the parts.
        """
        reading = Reading.of(schema, parts)
        noisy = [
            Sum(first, second, part.counts.ravel() / (reading.number * part.largest), _error(part) / reading.number)
            for first, second, part in reading.of_pairs()
        ]
        targets = (estimated if shrink else consistent)(noisy)
        never = list(impossible(schema, reading.layout.columns))
        joint = joint_of(reading.shares, conditions(targets, never), reading.number, released)
        named: dict[Names, Target] = dict(zip(reading.layout.pairs, targets, strict=True))
        knots = KNOTS if any(variable.knots for variable in reading.variables.values()) else 0
        return cls(reading.layout.columns, reading.shares, joint, reading.number, named, schema, knots, reading.variables)

    def rows(self, number: int, generator: np.random.Generator, sample: bool = False) -> pd.DataFrame:
        """Draw rows.

        Args:
            number: number of rows.
            generator: source of randomness.
            sample: True for independent rows, as in a file; otherwise, levels have the shares of the model.
        """
        import pandas as pd

        places = self.joint.drawn(number, generator, sample)
        tilts = self.joint.tilts(places)
        rows = {name: self._values(name, place, tilts.get(name), generator) for name, place in places.items()}
        return applied(self.schema, pd.DataFrame(rows))

    def _values(self, name: str, places: Integers, tilt: Array | None, generator: np.random.Generator) -> pd.Series:
        """Return the values of a column, from its levels and the changes of the log density across them."""
        import pandas as pd

        levels = self.columns[name]
        there = places < len(levels)
        place, share = np.where(there, places, 0), generator.random(len(places))
        if tilt is not None:
            tilt = np.where(np.abs(tilt) < STRAIGHT, STRAIGHT, tilt)
            share = np.log1p(share * np.expm1(tilt)) / tilt
        within = inside_levels(levels, self.shares[name], place, share)
        values = pd.Series(levels.values(place, within)).where(there)
        for k, code in enumerate(levels.column.codes):
            values = values.mask(places == len(levels) + k, code)
        return values


def level_error(parts: Sequence[Part]) -> float:
    """Return the largest standard deviation of the noise in the number of rows of a level."""
    return max(math.sqrt(discrete_laplace_variance(part.scale)) for part in parts if len(part.columns) == 1)


def pair_errors(schema: PublicSchema, parts: Sequence[Part]) -> dict[str, float]:
    """Compute the standard error of the correlation of each pair that is due to the noise alone, from the noisy parts."""
    reading = Reading.of(schema, parts)
    return {
        f"{first.name} and {second.name}": _error(part) / reading.number / (first.spread * second.spread)
        for first, second, part in reading.of_pairs()
    }


def _error(part: Part) -> float:
    """Return the standard deviation of the noise of a part, for products of at most 1."""
    return math.sqrt(discrete_laplace_variance(part.scale)) / part.largest
