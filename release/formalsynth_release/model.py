"""Joint distribution of all columns, estimated from noisy parts; and its conditions, which are not the noisy sums themselves.

The noise is added to sums of products of cut scores. The log density has uncut scores, with the mean of their products in the
distribution of the two columns alone whose cut products have the estimated mean. Rows without a value have no score: without a
further condition, the distribution of largest entropy moves them to the middle of the other column. So whether there is a value
stays unrelated to the other column's score and its square, or as related as a pair with the kind says. If a rule excludes a value
for some levels of a third column, it is as related as the pair with that column says; otherwise, these conditions would
contradict the rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from formalsynth.core.laplace import discrete_laplace_variance
from formalsynth_release.crossing import Part
from formalsynth_release.joint import Condition, Joint, Sum, Target, Term, consistent, estimated, joint_of
from formalsynth_release.layout import Names, Pair, Reading
from formalsynth_release.margins import inside_levels
from formalsynth_release.rules import Mask, applied, impossible
from formalsynth_release.schema import KIND, PublicSchema
from formalsynth_release.variables import KNOTS, Function, Variable

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array, Integers

STRAIGHT = 1e-6  # change of a log density across a level that makes no difference
Impossible = tuple[str, Mask, str, Mask]  # two columns, each with a mask of its levels: no row has a masked level of both
ROUNDS, SCALINGS, CLOSE = 150, 3, 1e-5
"""Largest number of rounds, scalings to the margins in each, and largest error of a mean after which they end."""
LEAST, FARTHEST, STEP = 1e-12, 60.0, 2.0  # smallest share or weight, largest strength, and largest change of one in a round
NEVER = -12.0  # strength at the start for levels that no row has together: a fit that has to find it may end far from its margins


@dataclass(frozen=True)
class Model:
    """Joint distribution of the columns, estimated from noisy parts."""

    reading: Reading  # levels, shares and variables of the columns, and the pairs that were measured
    joint: Joint
    targets: Mapping[Names, Target]  # estimated means of the products of each pair
    knots: int  # largest number of knots of a variable; 0 if the sums are of scores

    @property
    def pairs(self) -> list[Pair]:
        """The pairs that were measured."""
        return self.reading.layout.pairs

    @classmethod
    def of(cls, schema: PublicSchema, parts: Sequence[Part], shrink: bool = True, released: float | None = None) -> Model:
        """Fit the model to noisy parts.

        In simulations, the sums are not shrunk towards independent columns, and the file that is released may have more rows.
        """
        reading = Reading.of(schema, parts)
        pairs, number = reading.of_pairs(), reading.number
        noisy = [Sum(a, b, part.counts.ravel() / (number * part.largest), _error(part) / number) for a, b, part in pairs]
        targets = (estimated if shrink else consistent)(noisy)
        never = list(impossible(schema, reading.layout.columns))
        joint = joint_of(reading.shares, conditions(targets, never), reading.number, released)
        named: dict[Names, Target] = dict(zip(reading.layout.pairs, targets, strict=True))
        knots = KNOTS if any(variable.knots for variable in reading.variables.values()) else 0
        return cls(reading, joint, named, knots)

    def rows(self, number: int, generator: np.random.Generator, sample: bool = False) -> pd.DataFrame:
        """Draw rows: independent ones for a sample, as in a file; otherwise, levels have the shares of the model."""
        places = self.joint.drawn(number, generator, sample)
        tilts = self.joint.tilts(places)
        rows = {name: self._values(name, place, tilts.get(name), generator) for name, place in places.items()}
        return applied(self.reading.layout.schema, pd.DataFrame(rows))

    def _values(self, name: str, places: Integers, tilt: Array | None, generator: np.random.Generator) -> pd.Series:
        """Return the values of a column, from its levels and the changes of the log density across them."""
        levels = self.reading.layout.columns[name]
        there = places < len(levels)
        place, share = np.where(there, places, 0), generator.random(len(places))
        if tilt is not None:
            tilt = np.where(np.abs(tilt) < STRAIGHT, STRAIGHT, tilt)
            share = np.log1p(share * np.expm1(tilt)) / tilt
        within = inside_levels(levels, self.joint.shares[name], place, share)
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
    pairs, number = reading.of_pairs(), reading.number
    return {f"{a.name} and {b.name}": _error(part) / number / (a.spread * b.spread) for a, b, part in pairs}


def _error(part: Part) -> float:
    """Return the standard deviation of the noise of a part, for products of at most 1."""
    return math.sqrt(discrete_laplace_variance(part.scale)) / part.largest


def conditions(targets: Sequence[Target], impossible: Sequence[Impossible] = ()) -> list[Condition]:
    """Return the conditions of all pairs, and of levels of two columns that no row has together."""
    never = [Condition(Term(_mask(*sides[:2]), _mask(*sides[2:])), np.zeros(1), NEVER) for sides in impossible]
    return [*map(_uncut, targets), *_presence(targets, impossible), *never]


def _mask(column: str, levels: Mask) -> Function:
    return Function(column, levels.astype(np.int64), np.array([[0.0], [1.0]]))


def _uncut(target: Target) -> Condition:
    first, second = target.of_pair.first, target.of_pair.second
    if first.fitted is first.function and second.fitted is second.function:
        return Condition(target.of_pair.term, target.means)
    term = Term(first.fitted, second.fitted)
    shares = np.zeros((len(term.first.values), len(term.second.values)))
    np.add.at(shares, np.ix_(term.first.codes, term.second.codes), closest(target, term))
    return Condition(term, term.means(shares))


def closest(target: Target, term: Term) -> Array:
    """Return the table (levels, levels) of two columns with their margins, the mean of a target, and a log density of a term."""
    first, second = target.of_pair.first, target.of_pair.second
    cut, wanted = (first.function.of_levels, second.function.of_levels), target.means.reshape(target.of_pair.term.shape)
    new = term.first.of_levels, term.second.of_levels
    log_p, log_q = (np.log(np.maximum(variable.shares, LEAST)) for variable in (first, second))
    rows, columns, strengths = log_p.copy(), log_q.copy(), np.zeros(term.shape)
    best, nearest = np.outer(first.shares, second.shares), np.inf
    for _ in range(ROUNDS):
        product = new[0] @ strengths @ new[1].T
        for _ in range(SCALINGS):
            rows += log_p - np.log(np.maximum(np.exp(product + rows[:, None] + columns).sum(axis=1), LEAST))
            columns += log_q - np.log(np.maximum(np.exp(product + rows[:, None] + columns).sum(axis=0), LEAST))
        table = np.exp(product + rows[:, None] + columns)
        table /= table.sum()
        there, moved = cut[0].T @ table @ cut[1], new[0].T @ table @ new[1]
        far = float(np.abs(wanted - there).max())
        if far < nearest:
            best, nearest = table, far
        if far < CLOSE:
            break
        slope = np.maximum((cut[0] * new[0]).T @ table @ (cut[1] * new[1]) - there * moved, 1e-4)
        change = np.clip(0.8 * (wanted - there) / slope, -STEP, STEP)
        strengths = np.clip(strengths + change, -FARTHEST, FARTHEST)
    return np.asarray(best)


def _presence(targets: Sequence[Target], impossible: Sequence[Impossible]) -> Iterator[Condition]:
    named = {frozenset((target.of_pair.first.name, target.of_pair.second.name)): target for target in targets}
    linked = {frozenset((cause, effect)) for cause, _, effect, _ in impossible}
    for target in targets:
        pair = target.of_pair
        for variable, other in ((pair.first, pair.second), (pair.second, pair.first)):
            if frozenset((variable.column, other.column)) in linked or other.share >= 1 - LEAST:
                continue
            if variable.scored and KIND not in variable.name[-len(KIND) :] + other.name[-len(KIND) :]:
                of_kind = named.get(frozenset((variable.name, other.name + KIND)))
                yield _of_kind(variable, other, of_kind) if of_kind else _by_rules(variable, other, named, impossible)


def _there(variable: Variable) -> Function:
    """Return the indicator of rows in which a column has a value, with a mean of 0."""
    return Function(variable.column, (variable.places >= 0).astype(np.int64), np.array([[0.0], [1.0]]) - variable.share)


def _squares(variable: Variable) -> Function:
    """Return the score of a column and its square, with means of 0."""
    squares = variable.fitted.with_squares
    return replace(squares, values=squares.values - variable.shares @ squares.of_levels, scored=False)


def _of_kind(variable: Variable, other: Variable, target: Target) -> Condition:
    """Return the condition that the presence of another column's value is as related to the square as its kind is."""
    squares, there = _squares(variable), _there(other)
    square = replace(squares, values=squares.values[:, 1:])
    return Condition(Term(square, there), (square.of_levels.T @ _table(variable, target) @ there.of_levels).ravel())


def _by_rules(
    variable: Variable, other: Variable, named: Mapping[frozenset[str], Target], impossible: Sequence[Impossible]
) -> Condition:
    """Return the condition that the presence of another column's value is related to score and square by rules alone."""
    without = dict[str, Mask]()
    for cause, holds, effect, never in impossible:
        if effect == other.column and never[other.places >= 0].all():
            without[cause] = holds | without.get(cause, False)
    chance = np.ones(len(variable.shares))
    """Relative probability (levels,) of a value."""
    for cause, levels in without.items():
        if target := named.get(frozenset((variable.name, cause))):
            chance *= 1 - _table(variable, target)[:, levels].sum(axis=1) / np.maximum(variable.shares, LEAST)
    present = other.share * variable.shares * chance / max(float(variable.shares @ chance), LEAST)
    squares = _squares(variable)
    return Condition(Term(squares, _there(other)), squares.of_levels.T @ present)


def _table(variable: Variable, target: Target) -> Array:
    """Return the closest table (levels, levels) of a target, with the levels of one of its variables first."""
    first, second = target.of_pair.first, target.of_pair.second
    table = closest(target, Term(first.fitted, second.fitted))
    return table if first.name == variable.name else table.T
