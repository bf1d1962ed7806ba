"""Several columns under one budget: noisy margins, and noisy sums for pairs.

The confidential side counts the levels of each column and sums the products of scores for each declared pair, all with discrete
Laplace noise. Scores are positions on the declared scale, relative to noisy margins and sums: the rows affect them only through
these. They are part of the crossing.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from formalsynth.core.text import DataError
from formalsynth_release.crossing import CROSSING, Crossing, Declarations, Part, noise_reason
from formalsynth_release.layout import Layout, Names, Pair, Reading, Stated, listed, named, weakness
from formalsynth_release.levels import no_rows
from formalsynth_release.schema import PublicSchema
from formalsynth_release.variables import KNOTS, products

if TYPE_CHECKING:
    from formalsynth.core.arrays import Integers

Noise = Callable[[Names, Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of a column or pair, for an epsilon and a sensitivity."""
OfPart = Callable[[Sequence[int], float, float], list[int]]  # function that adds noise to the numbers of one part
MOST_NOISE, MOST_OF_HATS, ROWS_OF_HATS = 0.003, 3000, 50
"""Largest noise of a share of rows times the number of knots (roughly the standard error of a correlation), largest number of
noisy numbers of pairs with hats, and smallest number of rows for each: otherwise, scores are more precise."""


def measured(
    schema: PublicSchema, table: pd.DataFrame, epsilon: float, noise: Noise | None = None, knots: int | None = None,
    kept: Sequence[Pair] | None = None,
) -> tuple[Part, ...]:  # fmt: skip
    """Count and sum the confidential rows, with noise; afterwards, nothing else from them is used.

    By default, the noise is that of a release, knots are those of :func:`knots_for`, and pairs are those of :func:`kept_pairs`.
    The noise of a simulation protects no one.
    """
    layout = Layout(schema)
    places, of_margins = layout.places(table), layout.epsilons_of_margins(epsilon)
    margins = []
    for name, width in layout.widths.items():
        counts, of_part = np.bincount(places[name], minlength=width), noise and functools.partial(noise, (name,))
        margins.append(noisy_part(schema, f"margin of {name}", [name], [width], counts, 1, of_margins[name], of_part))
    pairs = kept_pairs(layout, Reading(layout, margins), epsilon) if kept is None else kept
    if not pairs:
        return tuple(margins)
    of_pair, layout = layout.epsilon_of_pair(epsilon, len(pairs)), layout.of_pairs(pairs)
    computed = Reading(layout, margins)
    stated = computed.stated(knots_for(layout, computed.number, of_pair) if knots is None else knots)
    read = Reading(layout, [part.model_copy(update=stated[part.columns[0]]) for part in margins])
    drawn = dict[Pair, Part]()
    for pair in layout.pairs:
        first, second = members = read.scored(pair, drawn)
        scores = {member.name: listed(member) for member in members if member is not read.variables[member.name]}
        sums = products(first, second, places[first.column], places[second.column])
        (name, columns), largest, of_part = named(pair), first.largest * second.largest, noise and functools.partial(noise, pair)
        part = noisy_part(schema, name, columns, sums.shape, sums.ravel(), largest, of_pair, of_part)
        drawn[pair] = part.model_copy(update={"scores": scores})
    return *read.margins, *drawn.values()


def kept_pairs(layout: Layout, reading: Reading, epsilon: float) -> list[Pair]:
    """Return the pairs that are measured: as long as there are weak ones, the last declared of them is left out.

    This depends on the declarations and the noisy margins only. Accepted pairs are kept.
    """
    accepted = {frozenset(pair) for pair in layout.schema.accept_noise}
    kept = layout.in_order
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
    """
    noise, needed = math.sqrt(2) * layout.schema.change / of_pair / rows, sum(numbers_of_pairs(layout, KNOTS).values())
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
        impossible = (  # knots increase from the first to the last place
            bool((np.diff(given) < 1).any()) or given[0] != computed["knots"][name][0] or given[-1] != computed["knots"][name][-1]
            for name, given in part.knots.items()
        )
        if _far(part.scores, computed["scores"]) or _far(part.knots, computed["knots"]) or any(impossible):
            return part.name
    drawn = dict(zip(read.layout.pairs, read.sums, strict=True))
    for pair, part in drawn.items():
        if _far(part.scores, {member.name: listed(member) for member in read.scored(pair, drawn)}):
            return part.name
    return ""


def _far(given: Stated, computed: Stated) -> bool:
    return any(np.abs(np.subtract(numbers, computed[name])).max() > 1 for name, numbers in given.items())


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


def check_parts(crossing: Crossing, declarations: Declarations) -> None:
    """Refuse a crossing whose parts are not those that the declarations require."""
    if name := _wrong(crossing.tables, declarations):
        raise DataError(f"{CROSSING}: tables: {name}: is not what the declarations require")


def _wrong(parts: tuple[Part, ...], declarations: Declarations) -> str:
    """Return the name of a part that the declarations do not require; empty if there is none."""
    schema = declarations.schema_
    layout, ceiling = Layout(schema), declarations.release.ceiling
    margins = [part for part, width in zip(parts, layout.widths.values(), strict=False) if part.shape == (width,)]
    if len(margins) < len(layout.columns):
        return f"{len(parts)} parts"
    reading = Reading(layout, margins)
    kept = kept_pairs(layout, reading, ceiling)
    if len(parts) != (number := len(margins) + len(kept)):
        return f"{len(parts)} parts instead of {number}"
    knots = knots_for(layout.of_pairs(kept), reading.number, layout.epsilon_of_pair(ceiling, len(kept))) if kept else 0
    wanted = measured(schema, no_rows(schema), ceiling, no_noise, knots, kept)

    def required(part: Part) -> list[object]:
        lengths = [{name: len(numbers) for name, numbers in stated.items()} for stated in (part.scores, part.knots)]
        return [part.model_dump(exclude={"scores", "knots", "numbers"}), *lengths]

    differing = (part.name for part, other in zip(parts, wanted, strict=True) if required(part) != required(other))
    return next(differing, "") or part_with_wrong_scores(schema, parts, knots)
