"""Several columns under one budget: noisy margins, noisy sums for pairs, and rows drawn from them.

The confidential side counts the levels of each column and sums the products of scores for each declared pair, all with discrete
Laplace noise. Scores are positions on the declared scale, relative to noisy margins and sums, so they depend on the rows only
through these; they are part of the crossing. The public side draws rows from the distribution with these margins and sums that
is otherwise as close to independent columns as possible.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Integers
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.text import DataError
from formalsynth.custodian.crossing import Part, noise_reason
from formalsynth.custodian.layout import Layout, Names, Pair, Reading, Scores, column_of, listed
from formalsynth.custodian.noise import noisy_counts
from formalsynth.custodian.schema import PublicSchema
from formalsynth.custodian.variables import Variable, products

if TYPE_CHECKING:
    import pandas as pd

Noise = Callable[[Names, Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of a column or pair, for an epsilon and a sensitivity."""
OfPart = Callable[[Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of one part."""
MOST_OF_PAIR, MOST_VALUES, PER_PART = 10_000, 40_000, 25
"""Largest number of noisy numbers of a pair, largest number of values of a crossing, and values that describe a part of it."""


def measured(schema: PublicSchema, table: pd.DataFrame, epsilon: float, noise: Noise | None = None) -> tuple[Part, ...]:
    """Count and sum the rows, with noise; afterwards, nothing else from them is used.

    Args:
        schema: declarations.
        table: the confidential rows.
        epsilon: epsilon of all parts together.
        noise: function that adds the noise, by default that of a release; that of a simulation protects no one.
    """
    layout = Layout(schema)
    places = layout.places(table)
    share = 1.0 if len(layout.columns) == 1 or schema.pairs == [] else schema.margins
    total = sum(schema.columns[name].weight for name in layout.columns)
    of_margins = {name: epsilon * share * schema.columns[name].weight / total for name in layout.columns}
    margins = [
        noisy_part(
            schema, f"margin of {name}", [name], [width], np.bincount(places[name], minlength=width), 1, of_margins[name],
            noise and functools.partial(noise, (name,)),
        )
        for name, width in layout.widths.items()
    ]  # fmt: skip
    pairs = layout.pairs
    if not pairs:
        return tuple(margins)
    computed = Reading(layout, margins)
    read = Reading(layout, [part.model_copy(update={"scores": computed.scores(*part.columns)}) for part in margins])
    of_pair = epsilon * (1 - share) / len(pairs)
    drawn = dict[Pair, Part]()
    for pair in pairs:
        members = read.scored(pair, drawn)
        scores = {member.name: listed(member) for member in members if member is not read.variables[member.name]}
        part = _pair(schema, members, places, of_pair, noise and functools.partial(noise, pair))
        drawn[pair] = part.model_copy(update={"scores": scores})
    return *read.margins, *drawn.values()


def part_with_wrong_scores(schema: PublicSchema, parts: Sequence[Part]) -> str:
    """Return the name of a part whose scores do not follow from the noisy numbers before them; empty if there is none.

    They may differ by 1 from those computed from these numbers and, for a pair, from the stated scores of its columns: the last
    digits of another processor can cause that.
    """
    read = Reading.of(schema, parts)
    for part in read.margins:
        if _far(part, read.scores(*part.columns)):
            return part.name
    drawn = dict(zip(read.layout.pairs, read.sums, strict=True))
    for pair, part in drawn.items():
        if _far(part, {member.name: listed(member) for member in read.scored(pair, drawn)}):
            return part.name
    return ""


def _far(part: Part, scores: Scores) -> bool:
    return any(np.abs(np.subtract(given, scores[name])).max() > 1 for name, given in part.scores.items())


def check_numbers(schema: PublicSchema) -> None:
    """Check that the declared columns and pairs do not need too many values in the crossing, and that each pair can be related.

    Raises:
        DataError: they do, or a pair cannot.
    """
    layout = Layout(schema)
    variables = layout.variables()
    constant = [name for pair in schema.pairs or [] for name in pair if len(variables[name].own) < 2]
    if constant:
        raise DataError(
            f"schema.yaml: pairs: {constant[0]} has a single level or bin, so nothing is related to it: declare another scale, "
            "other bounds or more bins, or leave its pairs out"
        )
    sizes = {name: variable.indicators.shape[1] for name, variable in variables.items()}
    numbers = {pair: sizes[pair[0]] * sizes[pair[1]] for pair in layout.pairs}
    (first, second), largest = max(numbers.items(), key=lambda item: item[1], default=(("", ""), 0))
    if largest > MOST_OF_PAIR:
        raise DataError(
            f"schema.yaml: pairs: {first} with {second}: needs {largest} noisy numbers; allowed: at most {MOST_OF_PAIR}: merge "
            "categories, declare them as ordered if they are, or leave the pair out"
        )
    values = 2 * sum(layout.widths.values()) + sum(numbers.values()) + PER_PART * (len(schema.released) + len(numbers))
    if values > MOST_VALUES:
        raise DataError(
            f"schema.yaml: columns and pairs: need {values} values in the crossing; allowed: at most {MOST_VALUES}: declare "
            "fewer pairs, bins or categories"
        )


def _pair(
    schema: PublicSchema, members: tuple[Variable, Variable], places: Mapping[str, Integers], epsilon: float, noise: OfPart | None
) -> Part:
    first, second = members
    sums = products(first, second, places[first.column], places[second.column])
    columns, largest = [column_of(first.name), column_of(second.name)], first.largest * second.largest
    return noisy_part(schema, f"{first.name} by {second.name}", columns, sums.shape, sums.ravel(), largest, epsilon, noise)


def noisy_part(
    schema: PublicSchema, name: str, columns: Sequence[str], shape: Sequence[int], numbers: Integers, largest: int,
    epsilon: float, noise: OfPart | None = None,
) -> Part:  # fmt: skip
    """Add noise to numbers; each row changes at most one of them, by at most ``largest``."""
    sensitivity = SENSITIVITY[schema.neighbours] * largest
    noisy = (noise or noisy_counts)([int(number) for number in numbers], epsilon, sensitivity)
    scale = sensitivity / epsilon
    return Part(
        name=name, columns=tuple(columns), epsilon=epsilon, scale=scale, reason=noise_reason(sensitivity, scale, epsilon),
        largest=largest, shape=tuple(shape), numbers=tuple(noisy),
    )  # fmt: skip


def no_noise(_names: Names, counts: Sequence[int], _epsilon: float, _sensitivity: float) -> list[int]:
    """Return the counts as they are, for rows that are made up."""
    return list(counts)
