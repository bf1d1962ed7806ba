"""Weak pairs: those whose noise alone can look like an association.

The noise of a pair, as the standard error of a correlation, is that of its sums divided by the standard deviations of both
variables. These follow from the shares of levels: cautious guesses before a release, and the noisy margins after it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from formalsynth_release.layout import Layout, Pair, Reading

if TYPE_CHECKING:
    from formalsynth_release.crossing import Part
    from formalsynth_release.schema import PublicSchema
    from formalsynth_release.variables import Variable

TENTH = 10
"""Standard deviations of the noise below which it changes a number of rows by more than a tenth."""
WEAK, LARGE = 0.06, 0.12
"""Standard error above which a pair is weak, and the same for the association that its noise alone makes: in 1,800 simulated
releases, no pair below them had an association above 0.3 that the file had not."""


def weakness(
    layout: Layout, variables: Mapping[str, Variable], rows: float, epsilon: float, kept: Sequence[Pair]
) -> dict[Pair, float]:
    """Compute the factor by which each kept pair is too noisy; it is weak if this is above 1.

    Args:
        layout: columns and declared pairs.
        variables: variables by name, with the shares of their levels.
        rows: number of rows.
        epsilon: epsilon of all parts together.
        kept: pairs among which the epsilon of pairs is divided.
    """
    noise = noise_of_pairs(layout, rows, epsilon, len(kept))
    return {pair: error_and_factor(variables[pair[0]], variables[pair[1]], noise)[1] for pair in kept}


def noise_of_pairs(layout: Layout, rows: float, epsilon: float, kept: int) -> float:
    """Compute the standard error of a mean of products of at most 1, from its noise alone."""
    if not kept:
        return 0.0
    scale = layout.schema.change / layout.epsilon_of_pair(epsilon, kept)
    return math.sqrt(2) * scale / rows


def error_and_factor(first: Variable, second: Variable, noise: float) -> tuple[float, float]:
    """Return the standard error of a correlation from the noise alone, and the factor by which it is too large."""
    error = noise / (first.spread * second.spread)
    freedom = max(1 if variable.ordered else len(variable.own) - 1 for variable in (first, second))
    return error, max(error / WEAK, error * math.sqrt(freedom) / LARGE)


class Marks(NamedTuple):
    """Pairs of a release whose relation is not kept well."""

    weak: list[str]
    """Pairs whose noise can look like an association."""
    left_out: list[str]
    """Declared pairs that the noise would have hidden."""
    implied: list[str]
    """Pairs of columns that are not declared, and follow from others through a common column."""


def marks(schema: PublicSchema, parts: Sequence[Part]) -> Marks:
    """Name the pairs of a release that are weak, left out, or implied by those that were kept."""
    reading = Reading.of(schema, parts)
    kept = [
        (first, second, math.sqrt(2) * part.scale / part.largest / reading.number) for first, second, part in reading.of_pairs()
    ]
    factors = {f"{first.name} and {second.name}": error_and_factor(first, second, noise)[1] for first, second, noise in kept}
    left_out = [" and ".join(pair) for pair in Layout(schema).pairs if pair not in reading.layout.pairs]
    weak = [pair for pair, factor in factors.items() if factor > 1]
    return Marks(weak, left_out, [pair for pair in map(" and ".join, reading.layout.implied) if pair not in left_out])
