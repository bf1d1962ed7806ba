"""Several columns under one budget: noisy margins, noisy sums for pairs, and rows drawn from them.

The confidential side counts the levels of each column and sums the products of scores for each declared pair, all with discrete
Laplace noise. Scores are positions on the declared scale, relative to noisy margins and sums, so they depend on the rows only
through these; they are part of the crossing. The public side draws rows from the distribution with these margins and sums that
is otherwise as close to independent columns as possible.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.crossing import Part, noise_reason
from formalsynth_release.layout import Layout, Names, Pair, Reading, Stated, listed, named
from formalsynth_release.schema import PublicSchema
from formalsynth_release.variables import KNOTS, Variable, products
from formalsynth_release.weakness import weakness

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.arrays import Integers

Noise = Callable[[Names, Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of a column or pair, for an epsilon and a sensitivity."""
OfPart = Callable[[Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of one part."""
MOST_NOISE, MOST_OF_HATS, ROWS_OF_HATS = 0.003, 3000, 50
"""Largest noise of a share of rows times the number of knots (roughly the standard error of a correlation), largest number of
noisy numbers of pairs with hats, and smallest number of rows for each: otherwise, scores are more precise."""


def measured(
    schema: PublicSchema, table: pd.DataFrame, epsilon: float, noise: Noise | None = None, knots: int | None = None,
    kept: Sequence[Pair] | None = None,
) -> tuple[Part, ...]:  # fmt: skip
    """Count and sum the rows, with noise; afterwards, nothing else from them is used.

    Args:
        schema: declarations.
        table: the confidential rows.
        epsilon: epsilon of all parts together.
        noise: function that adds the noise, by default that of a release; that of a simulation protects no one.
        knots: largest number of knots of a variable with an order; by default, that of :func:`knots_for`.
        kept: pairs that are measured; by default those that :func:`kept_pairs` chooses from the noisy margins.
    """
    layout = Layout(schema)
    places, of_margins = layout.places(table), layout.epsilons_of_margins(epsilon)
    margins = [
        noisy_part(
            schema, f"margin of {name}", [name], [width], np.bincount(places[name], minlength=width), 1, of_margins[name],
            noise and functools.partial(noise, (name,)),
        )
        for name, width in layout.widths.items()
    ]  # fmt: skip
    computed = Reading(layout, margins)
    pairs = kept_pairs(layout, computed, epsilon) if kept is None else kept
    if not pairs:
        return tuple(margins)
    of_pair, layout = layout.epsilon_of_pair(epsilon, len(pairs)), layout.of_pairs(pairs)
    computed = Reading(layout, margins)
    number = knots_for(layout, computed.number, of_pair) if knots is None else knots
    stated = computed.stated(number)
    read = Reading(layout, [part.model_copy(update=stated[part.columns[0]]) for part in margins])
    drawn = dict[Pair, Part]()
    for pair in layout.pairs:
        members = read.scored(pair, drawn)
        scores = {member.name: listed(member) for member in members if member is not read.variables[member.name]}
        part = _pair(schema, members, places, of_pair, noise and functools.partial(noise, pair))
        drawn[pair] = part.model_copy(update={"scores": scores})
    return *read.margins, *drawn.values()


def kept_pairs(layout: Layout, reading: Reading, epsilon: float) -> list[Pair]:
    """Return the pairs that are measured: as long as there are weak ones, the last declared of them is left out.

    This depends on the declarations and the noisy margins only. Accepted pairs are kept.

    Args:
        layout: columns and declared pairs.
        reading: noisy margins.
        epsilon: epsilon of all parts together.
    """
    order = {frozenset(pair): k for k, pair in enumerate(layout.schema.pairs)}
    accepted = {frozenset(pair) for pair in layout.schema.accept_noise}
    kept = sorted(layout.pairs, key=lambda pair: order[frozenset(pair)])
    while kept:
        factors = weakness(layout, reading.computed(0), reading.number, epsilon, kept)
        weak = [pair for pair in kept if factors[pair] > 1 and frozenset(pair) not in accepted]
        if not weak:
            break
        kept.remove(weak[-1])
    return [pair for pair in layout.pairs if pair in kept]


def knots_for(layout: Layout, rows: float, of_pair: float) -> int:
    """Return the largest number of knots of variables with an order, or 0 if few rows or a small epsilon allow only scores.

    Sums of hats keep the shape of a relation, and have more noise than sums of scores. The number depends on the declarations
    and, if the number of rows is confidential, on its noisy estimate.

    Args:
        layout: columns, and the pairs that are measured.
        rows: number of rows.
        of_pair: epsilon of each pair.
    """
    noise = math.sqrt(2) * layout.schema.change / of_pair / rows
    numbers = numbers_of_pairs(layout, KNOTS)
    needed = sum(numbers.values())
    return KNOTS if KNOTS * noise <= MOST_NOISE and needed <= min(MOST_OF_HATS, rows / ROWS_OF_HATS) else 0


def numbers_of_pairs(layout: Layout, knots: int = 0) -> dict[Pair, int]:
    """Count the noisy numbers of each pair."""
    sizes = {name: variable.indicators.shape[1] for name, variable in layout.variables(knots=knots).items()}
    return {pair: sizes[pair[0]] * sizes[pair[1]] for pair in layout.pairs}


def part_with_wrong_scores(schema: PublicSchema, parts: Sequence[Part], knots: int) -> str:
    """Return the name of a part whose scores or knots do not follow from the noisy numbers before them; empty if there is none.

    They may differ by 1 from those computed from these numbers and, for a pair, from the stated scores of its columns: the last
    digits of another processor can cause that. The first and the last knot may not, and all knots increase.
    """
    read = Reading.of(schema, parts)
    stated = read.stated(knots)
    for part in read.margins:
        computed = stated[part.columns[0]]
        if _far(part.scores, computed["scores"]) or _far(part.knots, computed["knots"]):
            return part.name
        if any(_impossible(given, computed["knots"][name]) for name, given in part.knots.items()):
            return part.name
    drawn = dict(zip(read.layout.pairs, read.sums, strict=True))
    for pair, part in drawn.items():
        if _far(part.scores, {member.name: listed(member) for member in read.scored(pair, drawn)}):
            return part.name
    return ""


def _impossible(given: Sequence[int], computed: Sequence[int]) -> bool:
    """Return True if knots are not increasing from the first to the last place."""
    return bool((np.diff(given) < 1).any()) or (given[0], given[-1]) != (computed[0], computed[-1])


def _far(given: Stated, computed: Stated) -> bool:
    return any(np.abs(np.subtract(numbers, computed[name])).max() > 1 for name, numbers in given.items())


def _pair(
    schema: PublicSchema, members: tuple[Variable, Variable], places: Mapping[str, Integers], epsilon: float, noise: OfPart | None
) -> Part:
    first, second = members
    sums = products(first, second, places[first.column], places[second.column])
    (name, columns), largest = named((first.name, second.name)), first.largest * second.largest
    return noisy_part(schema, name, columns, sums.shape, sums.ravel(), largest, epsilon, noise)


def noisy_part(
    schema: PublicSchema, name: str, columns: Sequence[str], shape: Sequence[int], numbers: Integers, largest: int,
    epsilon: float, noise: OfPart | None = None,
) -> Part:  # fmt: skip
    """Add noise to numbers; each row changes them by at most ``largest`` in total."""
    sensitivity = schema.change * largest
    if noise is None:  # imported here, since nothing else needs it to verify a release
        from formalsynth_release.noise import noisy_counts

        noise = noisy_counts
    noisy = noise([int(number) for number in numbers], epsilon, sensitivity)
    scale = sensitivity / epsilon
    return Part(
        name=name, columns=tuple(columns), epsilon=epsilon, scale=scale, reason=noise_reason(sensitivity, scale, epsilon),
        largest=largest, shape=tuple(shape), numbers=tuple(noisy),
    )  # fmt: skip


def no_noise(_names: Names, counts: Sequence[int], _epsilon: float, _sensitivity: float) -> list[int]:
    """Return the counts as they are, for rows that are made up."""
    return list(counts)
