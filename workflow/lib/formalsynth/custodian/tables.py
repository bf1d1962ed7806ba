"""Several columns under one budget: noisy margins, noisy sums for pairs, and rows drawn from them.

The confidential side counts the levels of each column and sums the products of scores for each declared pair, all with discrete
Laplace noise. Scores are positions on the declared scale, relative to noisy margins and sums, so they depend on the rows only
through these; they are part of the crossing. The public side draws rows from the distribution with these margins and sums that
is otherwise as close to independent columns as possible.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.private import discrete_laplace_variance
from formalsynth.core.text import DataError
from formalsynth.custodian.crossing import Part, noise_reason
from formalsynth.custodian.joint import Joint, Sum, consistent, estimated, joint_of
from formalsynth.custodian.levels import MISSING, Levels, levels_of
from formalsynth.custodian.margins import inside_levels, shares_of
from formalsynth.custodian.noise import noisy_counts
from formalsynth.custodian.schema import KIND, PublicSchema
from formalsynth.custodian.variables import Variable, products, recentred, scores_of, shares_among

if TYPE_CHECKING:
    import pandas as pd

Names = tuple[str, ...]
"""Name of a column, or those of the two variables of a pair."""
Noise = Callable[[Names, Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of a column or pair, for an epsilon and a sensitivity."""
OfPart = Callable[[Sequence[int], float, float], list[int]]
"""Function that adds noise to the numbers of one part."""
Drawn = Mapping[tuple[str, str], Part]
"""Parts of pairs that were drawn before, by the names of the variables: names of parts are texts, and two can be equal."""
Columns = Mapping[str, Levels]
Shares = Mapping[str, Array]
Scores = Mapping[str, Integers]
LEAST = 0.01
"""Smallest uncertainty of the sums of a pair."""
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
    columns = _columns(schema)
    places = _places(columns, table)
    share = 1.0 if len(columns) == 1 or schema.pairs == [] else schema.margins
    total = sum(schema.columns[name].weight for name in columns)
    of_margins = {name: epsilon * share * schema.columns[name].weight / total for name in columns}
    margins = tuple(
        noisy_part(
            schema, f"margin of {name}", [name], [_width(schema, columns, name)],
            _counted(schema, columns, name, places[name]), 1, of_margins[name], noise and functools.partial(noise, (name,)),
        )
        for name in columns
    )  # fmt: skip
    variables = _variables(schema, columns, _shares(schema, columns, margins))
    pairs = _pairs(schema, list(variables))
    if not pairs:
        return margins
    margins = tuple(part.model_copy(update={"scores": _scores(variables, *part.columns)}) for part in margins)
    of_pair = epsilon * (1 - share) / len(pairs)
    drawn, number = dict[tuple[str, str], Part](), _rows(schema, margins)
    for pair in pairs:
        members = _members_of(variables, drawn, number, pair)
        scores = {member.name: _listed(member) for member in members if member is not variables[member.name]}
        part = _pair(schema, members, places, of_pair, noise and functools.partial(noise, pair))
        drawn[pair] = part.model_copy(update={"scores": scores})
    return *margins, *drawn.values()


def part_with_wrong_scores(schema: PublicSchema, parts: Sequence[Part]) -> str:
    """Return the name of a part whose scores do not follow from the noisy numbers before them; empty if there is none.

    They may differ by 1 from those computed from these numbers and, for a pair, from the stated scores of its columns: the last
    digits of another processor can cause that.
    """
    columns = _columns(schema)
    shares, number = _shares(schema, columns, parts), _rows(schema, parts[: len(columns)])
    variables = _variables(schema, columns, shares)
    for part in parts[: len(columns)]:
        if _far(part, _scores(variables, *part.columns)):
            return part.name
    stated, drawn = _variables(schema, columns, shares, _read_scores(parts)), dict[tuple[str, str], Part]()
    for pair, part in zip(_pairs(schema, list(stated)), parts[len(columns) :], strict=True):
        members = _members_of(stated, drawn, number, pair)
        if _far(part, {member.name: _listed(member) for member in members}):
            return part.name
        drawn[pair] = part
    return ""


def _far(part: Part, scores: Mapping[str, tuple[int, ...]]) -> bool:
    return any(np.abs(np.subtract(given, scores[name])).max() > 1 for name, given in part.scores.items())


def check_numbers(schema: PublicSchema) -> None:
    """Check that the declared columns and pairs do not need too many values in the crossing.

    Raises:
        DataError: they do.
    """
    columns = _columns(schema)
    variables = _variables(schema, columns)
    sizes = {name: variable.indicators.shape[1] for name, variable in variables.items()}
    levels_of_all = sum(_width(schema, columns, name) for name in columns)
    numbers = {pair: sizes[pair[0]] * sizes[pair[1]] for pair in _pairs(schema, list(sizes))}
    (first, second), largest = max(numbers.items(), key=lambda item: item[1], default=(("", ""), 0))
    if largest > MOST_OF_PAIR:
        raise DataError(
            f"schema.yaml: pairs: {first} with {second}: needs {largest} noisy numbers; allowed: at most {MOST_OF_PAIR}: merge "
            "categories, declare them as ordered if they are, or leave the pair out"
        )
    values = 2 * levels_of_all + sum(numbers.values()) + PER_PART * (len(schema.released) + len(numbers))
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
    columns, largest = [_column(first.name), _column(second.name)], first.largest * second.largest
    return noisy_part(schema, f"{first.name} by {second.name}", columns, sums.shape, sums.ravel(), largest, epsilon, noise)


def variable_places(schema: PublicSchema, table: pd.DataFrame) -> dict[str, tuple[Integers, bool]]:
    """Return the levels (n,) of each variable, below 0 where it has none, and True if they have an order."""
    columns = _columns(schema)
    places = _places(columns, table)
    variables = _variables(schema, columns)
    return {name: (variable.places[places[variable.column]], variable.ordered) for name, variable in variables.items()}


def expected_errors(schema: PublicSchema, epsilon: float, rows: pd.DataFrame) -> tuple[float, dict[str, float]]:
    """Compute the errors to expect from the noise alone, with made-up rows and without the file.

    Returns:
        Largest standard deviation of the share of a level, and that of the correlation of each pair.
    """
    parts = measured(schema, rows, epsilon)
    return level_error(parts) / len(rows), pair_errors(schema, parts, len(rows))


def level_error(parts: Sequence[Part]) -> float:
    """Return the largest standard deviation of the noise in the number of rows of a level."""
    return max(math.sqrt(discrete_laplace_variance(part.scale)) for part in parts if len(part.columns) == 1)


def pair_errors(schema: PublicSchema, parts: Sequence[Part], rows: float | None = None) -> dict[str, float]:
    """Compute the standard error of the correlation of each pair that is due to the noise alone, from the noisy parts.

    Args:
        schema: declarations.
        parts: noisy parts.
        rows: number of rows; by default it is estimated.
    """
    columns = _columns(schema)
    variables = _variables(schema, columns, _shares(schema, columns, parts), _read_scores(parts))
    number = _rows(schema, parts[: len(columns)]) if rows is None else rows
    return {
        f"{first.name} and {second.name}": _error(part) / number / (first.spread * second.spread)
        for first, second, part in _of_pairs(schema, variables, parts)
    }


@dataclass(frozen=True)
class Model:
    """Joint distribution of the columns, estimated from noisy parts."""

    columns: Columns
    shares: Shares
    """Shares (levels,) of each column; those of missing values at the end."""
    joint: Joint
    number: float
    """Number of rows in the file, which is estimated if it is confidential."""
    uncertainty: Mapping[Names, float]
    """Standard error of the estimated sums of each pair, relative to that of the noisy ones."""

    @classmethod
    def of(cls, schema: PublicSchema, parts: Sequence[Part], shrink: bool = True) -> Model:
        """Fit the model to noisy parts.

        Args:
            schema: declarations.
            parts: noisy parts.
            shrink: False if the sums are not shrunk towards independent columns, for simulations.
        """
        columns = _columns(schema)
        shares, number = _shares(schema, columns, parts), _rows(schema, parts[: len(columns)])
        variables = _variables(schema, columns, shares, _read_scores(parts))
        noisy = [
            Sum(first, second, part.counts.ravel() / (number * part.largest), _error(part) / number)
            for first, second, part in _of_pairs(schema, variables, parts)
        ]
        sums = (estimated if shrink else consistent)(noisy)
        uncertainty: dict[Names, float] = {
            (before.first.name, before.second.name): max(after.error / before.error, LEAST) if before.error else 1.0
            for before, after in zip(noisy, sums, strict=True)
        }
        return cls(columns, shares, joint_of(shares, sums, number), number, uncertainty)

    def rows(self, number: int, generator: np.random.Generator) -> pd.DataFrame:
        """Draw rows."""
        import pandas as pd

        places = self.joint.drawn(number, generator)
        return pd.DataFrame({name: self._values(name, place, generator) for name, place in places.items()})

    def _values(self, name: str, places: Integers, generator: np.random.Generator) -> pd.Series:
        """Return the values of a column, from its levels."""
        import pandas as pd

        levels = self.columns[name]
        there = places < len(levels)
        place = np.where(there, places, 0)
        within = inside_levels(levels, self.shares[name], place, generator.random(len(place)))
        return pd.Series(levels.values(place, within)).where(there)


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


def _width(schema: PublicSchema, columns: Columns, name: str) -> int:
    return len(columns[name]) + schema.columns[name].may_be_missing


def _counted(schema: PublicSchema, columns: Columns, name: str, places: Integers) -> Integers:
    """Count the rows of each level, and at the end those with a missing value."""
    return np.bincount(places, minlength=_width(schema, columns, name))


def _error(part: Part) -> float:
    """Return the standard deviation of the noise of a part, for products of at most 1."""
    return math.sqrt(discrete_laplace_variance(part.scale)) / part.largest


def _shares(schema: PublicSchema, columns: Columns, parts: Sequence[Part]) -> dict[str, Array]:
    """Shares (levels,) of each column; those of missing values at the end."""
    margins = parts[: len(columns)]
    number = _rows(schema, margins)
    named = zip(columns.items(), margins, strict=True)
    return {name: shares_of(levels, part.counts, part.scale, number) for (name, levels), part in named}


def _variables(
    schema: PublicSchema, columns: Columns, shares: Shares | None = None, scores: Scores | None = None
) -> dict[str, Variable]:
    """Return variables by name: each column, and the kind of its values if it has several kinds.

    Args:
        schema: declarations.
        columns: levels of each column.
        shares: shares (levels,) of each column; by default, all levels have the same.
        scores: scores of each variable with an order; by default, they follow from the shares.
    """
    variables = {}
    for column, levels in columns.items():
        width = _width(schema, columns, column)
        of_column = np.full(width, 1 / width) if shares is None else shares[column]
        for name, places, positions in _members(column, levels, width):
            of_places = None
            if positions is not None:
                of_places = scores_of(positions, shares_among(places, of_column)) if scores is None else scores[name]
            variables[name] = Variable(name, column, places, of_places, of_column)
    return variables


def _scores(variables: Mapping[str, Variable], column: str) -> dict[str, tuple[int, ...]]:
    """Return the scores of the variables of a column that have an order."""
    return {name: _listed(variable) for name, variable in variables.items() if variable.column == column and variable.ordered}


def _listed(variable: Variable) -> tuple[int, ...]:
    return () if variable.scores is None else tuple(variable.scores.tolist())


def _read_scores(parts: Sequence[Part]) -> Scores | None:
    """Return the scores of all variables, which the margins state; None if there are none.

    They are not computed again, since the last digits of another processor could change one.
    """
    margins = [part for part in parts if len(part.columns) == 1]
    return {name: np.array(scores) for part in margins for name, scores in part.scores.items()} or None


def _of_pairs(
    schema: PublicSchema, variables: Mapping[str, Variable], parts: Sequence[Part]
) -> list[tuple[Variable, Variable, Part]]:
    """Return the variables of each pair, with the scores that its sums are made of, and its part."""
    pairs, of_pairs = _pairs(schema, list(variables)), [part for part in parts if len(part.columns) == 2]
    return [
        (_scored(variables[first], part), _scored(variables[second], part), part)
        for (first, second), part in zip(pairs, of_pairs, strict=True)
    ]


def _scored(variable: Variable, part: Part) -> Variable:
    return replace(variable, scores=np.array(part.scores[variable.name])) if variable.name in part.scores else variable


def _members_of(
    variables: Mapping[str, Variable], drawn: Drawn, number: float, pair: tuple[str, str]
) -> tuple[Variable, Variable]:
    """Return the variables of a pair, with the scores for its sums, from the parts that were drawn before."""
    first, second = pair
    return _centred(variables, drawn, number, first, second), _centred(variables, drawn, number, second, first)


def _centred(variables: Mapping[str, Variable], drawn: Drawn, number: float, name: str, other: str) -> Variable:
    """Return a variable whose scores have a mean of about 0 among rows in which another one has a place.

    Otherwise, the error of the other one's mean would enter the sum: incomes of those who work are higher, and if the noisy mean
    of their hours is too low, hours seem to be related to incomes. The mean comes from the noisy sums of the other one's kind.
    """
    variable, amount, kind = variables[name], variables[other], variables.get(other + KIND)
    part = drawn.get((name, other + KIND)) or drawn.get((other + KIND, name))
    if variable.scores is None or kind is None or part is None:
        return variable
    there, sums, scores = amount.places >= 0, part.counts.ravel(), _scored(kind, part).scores
    above = kind.places[there][0]
    total = sums[above] if scores is None else sums[0] / (scores[above] - scores[1 - above])
    share = amount.shares[there].sum() * variable.shares[variable.places >= 0].sum()
    return replace(variable, scores=recentred(variable.scores, total / max(share * number, 1.0)))


def _members(column: str, levels: Levels, width: int) -> Iterator[tuple[str, Integers, Array | None]]:
    """Yield the variables of a column: name, places (levels,), and positions (places,) of the places if they have an order."""
    places = np.where(np.arange(width) < len(levels), np.arange(width), MISSING)
    yield column, np.maximum(places - levels.runs[-1].start, MISSING), levels.positions
    kinds = levels.kinds(places)
    number = int(kinds.max()) + 1
    if number > 1:
        yield column + KIND, kinds, np.arange(2.0) if number == 2 else None


def _pairs(schema: PublicSchema, names: Sequence[str]) -> list[tuple[str, str]]:
    """List the declared pairs of variables, first those of kinds; none pairs a column with its own kind."""
    declared = None if schema.pairs is None else {frozenset(pair) for pair in schema.pairs}
    pairs = [
        (first, second)
        for first, second in itertools.combinations(names, 2)
        if _column(first) != _column(second) and (declared is None or {first, second} in declared)
    ]
    return sorted(pairs, key=lambda pair: -sum(name.endswith(KIND) for name in pair))


def _columns(schema: PublicSchema) -> Columns:
    """Return the levels of each released column."""
    return {name: levels_of(column) for name, column in schema.released.items()}


def _column(name: str) -> str:
    return name.removesuffix(KIND)


def _places(columns: Columns, table: pd.DataFrame) -> dict[str, Integers]:
    """Return the level (n,) of each value; missing values have one more at the end."""
    places = {name: levels.of(table[name]) for name, levels in columns.items()}
    return {name: np.where(place == MISSING, len(columns[name]), place) for name, place in places.items()}


def _rows(schema: PublicSchema, margins: Sequence[Part]) -> float:
    """Return the number of rows, or estimate it if it is confidential: the mean of the noisy totals, weighted by precision."""
    if schema.rows is not None and not schema.hides_rows:
        return float(schema.rows)
    totals = np.array([part.counts.sum() for part in margins])
    precision = np.array([1 / (part.scale**2 * math.prod(part.shape)) for part in margins])
    return float(max((totals * precision).sum() / precision.sum(), 1.0))
