"""Several columns under one budget: noisy margins, noisy sums for pairs, and rows drawn from them.

The confidential side counts the levels of each column and sums the products of scores for each declared pair, all with discrete
Laplace noise. Scores are middle ranks in the noisy margins, so they depend on the rows only through these. The public side
draws rows with these margins and latent normal correlations that explain the sums, and weights the rows so that they have them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.private import discrete_laplace_variance
from formalsynth.core.text import DataError
from formalsynth.custodian.crossing import Part, noise_reason
from formalsynth.custodian.levels import MISSING, Levels, levels_of
from formalsynth.custodian.margins import inside_levels, shares_of
from formalsynth.custodian.noise import noisy_counts
from formalsynth.custodian.relations import Variable, correlations, drawn, errors, products
from formalsynth.custodian.schema import KIND, PublicSchema
from formalsynth.custodian.tilting import Tilt, chosen, tilt_of

if TYPE_CHECKING:
    import pandas as pd

Noise = Callable[[Sequence[int], float, float], list[int]]
"""Function that adds noise to counts, for an epsilon and a sensitivity."""
Columns = Mapping[str, Levels]
Drawn = Mapping[str, tuple[Integers, Array]]
"""Levels (n,) of each variable, with the position within them, from 0 to 1."""
Shares = Mapping[str, Array]
POOL = 20_000
"""Rows of the model from which the weights of rows are computed."""
MOST_OF_PAIR, MOST_VALUES, PER_PART = 10_000, 40_000, 25
"""Largest number of noisy numbers of a pair, largest number of values of a crossing, and values that describe a part of it."""
SPARE, BLOCK = 2, 50_000
"""Number of rows drawn for each row that is chosen by weight, and number of rows chosen at a time."""


def measured(schema: PublicSchema, table: pd.DataFrame, epsilon: float, noise: Noise | None = None) -> tuple[Part, ...]:
    """Count and sum the rows, with noise; afterwards, nothing else from them is used.

    Args:
        schema: declarations.
        table: the confidential rows.
        epsilon: epsilon of all parts together.
        noise: function that adds the noise, by default that of a release; that of a simulation protects no one.
    """
    columns = _columns(schema)
    places = {name: levels.of(table[name]) for name, levels in columns.items()}
    share = 1.0 if len(columns) == 1 or schema.pairs == [] else schema.margins
    total = sum(schema.columns[name].weight for name in columns)
    of_margins = {name: epsilon * share * schema.columns[name].weight / total for name in columns}
    margins = tuple(
        noisy_part(
            schema, f"margin of {name}", [name], [_width(schema, columns, name)],
            _counted(schema, columns, name, places[name]), 1, of_margins[name], noise,
        )
        for name in columns
    )  # fmt: skip
    variables = _variables(schema, columns, margins, _shares(columns, margins))
    pairs = _pairs(schema, list(variables))
    if not pairs:
        return margins
    scores = {name: variable.indicators(_places(columns, places, name)) for name, variable in variables.items()}
    of_pair = epsilon * (1 - share) / len(pairs)
    return margins + tuple(
        _pair(schema, variables[first], variables[second], products(scores[first], scores[second]), of_pair, noise)
        for first, second in pairs
    )


def check_numbers(schema: PublicSchema) -> None:
    """Check that the declared columns and pairs do not need too many values in the crossing.

    Raises:
        DataError: they do.
    """
    sizes, levels_of_all = {}, 0
    for name, levels in _columns(schema).items():
        missing = schema.columns[name].may_be_missing
        levels_of_all += len(levels) + missing
        sizes[name] = 1 if levels.ordered else len(levels)
        if (kinds := len(levels.runs) + missing) > 1:
            sizes[name + KIND] = 1 if kinds == 2 else kinds
    numbers = {pair: sizes[pair[0]] * sizes[pair[1]] for pair in _pairs(schema, list(sizes))}
    (first, second), largest = max(numbers.items(), key=lambda item: item[1], default=(("", ""), 0))
    if largest > MOST_OF_PAIR:
        raise DataError(
            f"schema.yaml: pairs: {first} with {second}: needs {largest} noisy numbers; allowed: at most {MOST_OF_PAIR}: merge "
            "categories, declare them as ordered if they are, or leave the pair out"
        )
    values = levels_of_all + sum(numbers.values()) + PER_PART * (len(schema.released) + len(numbers))
    if values > MOST_VALUES:
        raise DataError(
            f"schema.yaml: columns and pairs: need {values} values in the crossing; allowed: at most {MOST_VALUES}: declare "
            "fewer pairs, bins or categories"
        )


def _pair(schema: PublicSchema, first: Variable, second: Variable, sums: Integers, epsilon: float, noise: Noise | None) -> Part:
    columns, largest = [_column(first.name), _column(second.name)], first.largest * second.largest
    return noisy_part(schema, f"{first.name} by {second.name}", columns, sums.shape, sums.ravel(), largest, epsilon, noise)


def variable_places(schema: PublicSchema, table: pd.DataFrame) -> dict[str, tuple[Integers, bool]]:
    """Return the levels (n,) of each variable, below 0 where it has none, and True if they have an order."""
    columns = _columns(schema)
    places = {name: levels.of(table[name]) for name, levels in columns.items()}
    ordered = {name: levels.ordered for name, levels in columns.items()}
    kinds = {kind: False for name, column in schema.released.items() for kind in column.kind_of(name)}
    return {name: (_places(columns, places, name), known) for name, known in (ordered | kinds).items()}


def expected_errors(schema: PublicSchema, epsilon: float, rows: pd.DataFrame) -> tuple[float, dict[str, float]]:
    """Compute the errors to expect from the noise alone, with made-up rows and without the file.

    Returns:
        Largest standard deviation of the share of a level, and that of the correlation of each pair.
    """
    parts = measured(schema, rows, epsilon)
    of_level = max(math.sqrt(discrete_laplace_variance(part.scale)) for part in parts[: len(schema.released)])
    return of_level / len(rows), pair_errors(schema, parts, len(rows))


def pair_errors(schema: PublicSchema, parts: Sequence[Part], rows: float | None = None) -> dict[str, float]:
    """Compute the standard error of the correlation of each pair that is due to the noise alone, from the noisy parts.

    Args:
        schema: declarations.
        parts: noisy parts.
        rows: number of rows; by default it is estimated.
    """
    columns = _columns(schema)
    variables = list(_variables(schema, columns, parts, _shares(columns, parts)).values())
    of_pairs = _by_pair(schema, variables, parts[len(columns) :])
    variances = {pair: discrete_laplace_variance(part.scale) for pair, part in of_pairs.items()}
    number = _rows(parts[: len(columns)]) if rows is None else rows
    return {
        f"{variables[i].name} and {variables[j].name}": error for (i, j), error in errors(variables, number, variances).items()
    }


@dataclass(frozen=True)
class Model:
    """Margins and latent correlations, estimated from noisy parts."""

    columns: Columns
    variables: Mapping[str, Variable]
    number: float
    """Estimated number of rows in the file."""
    shares: Shares
    """Shares (levels,) of each column among the values that are not missing."""
    matrix: Array
    """(d, d) latent correlations of the splits of all variables."""
    tilt: Tilt | None
    """Weights of rows drawn from the model; None without pairs."""

    @classmethod
    def of(cls, schema: PublicSchema, parts: Sequence[Part]) -> Model:
        """Fit the model to noisy parts."""
        columns = _columns(schema)
        shares = _shares(columns, parts)
        variables = _variables(schema, columns, parts, shares)
        of_pairs = _by_pair(schema, list(variables.values()), parts[len(columns) :])
        number = _rows(parts[: len(columns)])
        variances = {pair: discrete_laplace_variance(part.scale) for pair, part in of_pairs.items()}
        sums = {pair: part.counts for pair, part in of_pairs.items()}
        model = cls(columns, variables, number, shares, correlations(list(variables.values()), sums, number, variances), None)
        if not sums:
            return model
        names = list(variables)
        named = {(names[i], names[j]): (i, j) for i, j in sums}
        of_noise = {pair: variances[place] for pair, place in named.items()}
        places = model._places(model._levels(POOL, np.random.default_rng(0)))
        tilt = tilt_of(variables, {pair: sums[place] for pair, place in named.items()}, of_noise, number, places)
        return replace(model, tilt=tilt)

    def rows(self, number: int, generator: np.random.Generator) -> pd.DataFrame:
        """Draw rows."""
        import pandas as pd

        blocks = [self._tilted(min(BLOCK, number - start), generator) for start in range(0, number, BLOCK)]
        drawn_of = {
            name: (np.concatenate([block[name][0] for block in blocks]), np.concatenate([block[name][1] for block in blocks]))
            for name in self.variables
        }
        return pd.DataFrame({name: self._values(name, drawn_of, generator) for name in self.columns})

    def _tilted(self, number: int, generator: np.random.Generator) -> Drawn:
        """Draw more rows than asked for, and choose among them by weight."""
        if self.tilt is None:
            return self._levels(number, generator)
        pool = self._levels(SPARE * number, generator)
        index, again = chosen(self.tilt.weights(self._places(pool)), number, generator)
        return {
            name: (place[index], np.where(again, generator.random(number), share[index])) for name, (place, share) in pool.items()
        }

    def _levels(self, number: int, generator: np.random.Generator) -> Drawn:
        """Draw the levels of each variable, with the position within them, from the latent correlations."""
        return dict(zip(self.variables, drawn(list(self.variables.values()), self.matrix, number, generator), strict=True))

    def _places(self, drawn_of: Drawn) -> dict[str, Integers]:
        """Return the levels of each variable, missing where a column's kind differs from that of its level."""
        places = {name: place for name, (place, _) in drawn_of.items()}
        for name, levels in self.columns.items():
            if name + KIND in places:
                places[name] = np.where(places[name + KIND] == len(levels.runs) - 1, places[name], MISSING)
        return places

    def _values(self, name: str, drawn_of: Mapping[str, tuple[Integers, Array]], generator: np.random.Generator) -> pd.Series:
        """Return the values of a column, from the levels of its variables."""
        import pandas as pd

        levels, (place, share) = self.columns[name], drawn_of[name]
        place = place + levels.runs[-1].start
        kind = drawn_of.get(name + KIND)
        if kind is not None:
            for number, run in enumerate(levels.runs[:-1]):
                weights = np.maximum(self.shares[name][run], 1e-12)
                other = run.start + generator.choice(len(weights), len(place), p=weights / weights.sum())
                place = np.where(kind[0] == number, other, place)
        values = pd.Series(levels.values(place, inside_levels(levels, self.shares[name], place, share)))
        return values if kind is None else values.mask(kind[0] == len(levels.runs))


def noisy_part(
    schema: PublicSchema, name: str, columns: Sequence[str], shape: Sequence[int], numbers: Integers, largest: int,
    epsilon: float, noise: Noise | None = None,
) -> Part:  # fmt: skip
    """Add noise to numbers; each row changes at most one of them, by at most ``largest``."""
    sensitivity = SENSITIVITY[schema.neighbours] * largest
    noisy = (noise or noisy_counts)([int(number) for number in numbers], epsilon, sensitivity)
    scale = sensitivity / epsilon
    return Part(
        name=name, columns=tuple(columns), epsilon=epsilon, scale=scale, reason=noise_reason(sensitivity, scale, epsilon),
        largest=largest, shape=tuple(shape), numbers=tuple(noisy),
    )  # fmt: skip


def _width(schema: PublicSchema, columns: Columns, name: str) -> int:
    return len(columns[name]) + schema.columns[name].may_be_missing


def _counted(schema: PublicSchema, columns: Columns, name: str, places: Integers) -> Integers:
    """Count the rows of each level, and at the end those with a missing value."""
    last = len(columns[name])
    return np.bincount(np.where(places == MISSING, last, places), minlength=_width(schema, columns, name))


def _by_pair(schema: PublicSchema, variables: Sequence[Variable], parts: Sequence[Part]) -> dict[tuple[int, int], Part]:
    """Return the part of each pair, keyed by the indices of its variables."""
    number = {variable.name: k for k, variable in enumerate(variables)}
    pairs = [(number[first], number[second]) for first, second in _pairs(schema, list(number))]
    return dict(zip(pairs, parts, strict=True))


def _shares(columns: Columns, margins: Sequence[Part]) -> dict[str, Array]:
    """Shares (levels,) of each column among the values that are not missing."""
    named = zip(columns.items(), margins, strict=False)
    return {name: shares_of(levels, part.counts[: len(levels)], part.scale) for (name, levels), part in named}


def _variables(schema: PublicSchema, columns: Columns, margins: Sequence[Part], all_shares: Shares) -> dict[str, Variable]:
    """Return variables by name: each column, and the kind of its values if it has several kinds."""
    variables = {}
    for (name, levels), part in zip(columns.items(), margins, strict=False):
        shares, missing = all_shares[name], 0.0
        if schema.columns[name].may_be_missing:
            missing = float(np.clip(part.counts[-1] / max(part.counts.sum(), 1.0), 1e-4, 1 - 1e-4))
        kinds = (1 - missing) * np.array([shares[run].sum() for run in levels.runs])
        last = shares[levels.runs[-1]]
        variables[name] = Variable(name, last / max(last.sum(), 1e-12), float(max(kinds[-1], 1e-4)), levels.ordered)
        kinds = np.append(kinds, missing) if missing else kinds
        if len(kinds) > 1:
            kinds = np.maximum(kinds, 1e-6) / np.maximum(kinds, 1e-6).sum()
            variables[name + KIND] = Variable(name + KIND, kinds, 1.0, len(kinds) == 2)
    return variables


def _pairs(schema: PublicSchema, names: Sequence[str]) -> list[tuple[str, str]]:
    """List the declared pairs of variables, in the order of the columns; none pairs a column with its own kind."""
    declared = None if schema.pairs is None else {frozenset(pair) for pair in schema.pairs}
    return [
        (first, second)
        for first, second in itertools.combinations(names, 2)
        if _column(first) != _column(second) and (declared is None or {first, second} in declared)
    ]


def _columns(schema: PublicSchema) -> Columns:
    """Return the levels of each released column."""
    return {name: levels_of(column) for name, column in schema.released.items()}


def _column(name: str) -> str:
    return name.removesuffix(KIND)


def _places(columns: Columns, places: Mapping[str, Integers], name: str) -> Integers:
    """Return the levels of a variable; a column's levels are numbered from its last run, and others count as missing."""
    levels, of_column = columns[_column(name)], places[_column(name)]
    if name not in columns:
        return levels.kinds(of_column)
    return np.asarray(np.maximum(of_column - levels.runs[-1].start, MISSING), dtype=np.int64)


def _rows(margins: Sequence[Part]) -> float:
    """Estimate the number of rows: the mean of the noisy totals, weighted by their precision."""
    totals = np.array([part.counts.sum() for part in margins])
    precision = np.array([1 / (part.scale**2 * math.prod(part.shape)) for part in margins])
    return float(max((totals * precision).sum() / precision.sum(), 1.0))
