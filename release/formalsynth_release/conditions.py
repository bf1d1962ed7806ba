"""Conditions of the joint distribution that follow from noisy sums, but are not the sums themselves.

The noise is added to sums of products of cut scores. The log density has uncut scores, with the mean of their products in the
distribution of the two columns alone whose cut products have the estimated mean. Rows without a value have no score: without a
further condition, the distribution of largest entropy moves them to the middle of the other column. So whether there is a value
stays unrelated to the other column's score and its square, or as related as a pair with the kind says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from formalsynth_release.joint import Condition, Target, Term
from formalsynth_release.rules import Mask
from formalsynth_release.schema import KIND
from formalsynth_release.variables import Function, Variable

if TYPE_CHECKING:
    from formalsynth.core.arrays import Array

Impossible = tuple[str, Mask, str, Mask]
"""Two columns, each with a mask of its levels: no row has a masked level of both."""
ROUNDS, SCALINGS, CLOSE = 150, 3, 1e-5
"""Largest number of rounds, scalings to the margins in each, and largest error of a mean after which they end."""
LEAST, FARTHEST, STEP = 1e-12, 60.0, 2.0
"""Smallest share or weight, largest strength, and largest change of one in a round."""


def conditions(targets: Sequence[Target], impossible: Sequence[Impossible] = ()) -> list[Condition]:
    """Return the conditions of all pairs, and of levels of two columns that no row has together."""
    never = [Condition(Term(_mask(*sides[:2]), _mask(*sides[2:])), np.zeros(1)) for sides in impossible]
    linked = {frozenset((first, second)) for first, _, second, _ in impossible}
    pairs = [(target.of_pair.first.column, target.of_pair.second.column) for target in targets]
    unlinked = [target for target, pair in zip(targets, pairs, strict=True) if frozenset(pair) not in linked]
    return [*map(_uncut, targets), *_presence(unlinked), *never]


def _mask(column: str, levels: Mask) -> Function:
    return Function(column, levels.astype(np.int64), np.array([[0.0], [1.0]]))


def _uncut(target: Target) -> Condition:
    first, second = target.of_pair.first, target.of_pair.second
    if first.fitted is first.function and second.fitted is second.function:
        return target.condition
    term = Term(first.fitted, second.fitted)
    return Condition(term, term.means(_codes(term, closest(target, term))))


def _codes(term: Term, table: Array) -> Array:
    """Add up the shares (levels, levels) of levels with the same values."""
    shares = np.zeros((len(term.first.values), len(term.second.values)))
    np.add.at(shares, np.ix_(term.first.codes, term.second.codes), table)
    return shares


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


def _presence(targets: Sequence[Target]) -> Iterator[Condition]:
    named = {frozenset((target.of_pair.first.name, target.of_pair.second.name)): target for target in targets}
    for target in targets:
        pair = target.of_pair
        for variable, other in ((pair.first, pair.second), (pair.second, pair.first)):
            if variable.scored and KIND not in variable.name[-len(KIND) :] + other.name[-len(KIND) :] and other.share < 1 - LEAST:
                yield _present(variable, other, named.get(frozenset((variable.name, other.name + KIND))))


def _present(variable: Variable, other: Variable, of_kind: Target | None) -> Condition:
    """Return the condition that the presence of another column's value is as related to scores and squares as its kind is."""
    squares = variable.fitted.with_squares
    values = squares.values - variable.shares @ squares.of_levels
    there = Function(other.column, (other.places >= 0).astype(np.int64), np.array([[0.0], [1.0]]) - other.share)
    if of_kind is None:
        return Condition(Term(replace(squares, values=values, scored=False), there), np.zeros(2))
    first, second = of_kind.of_pair.first, of_kind.of_pair.second
    table = closest(of_kind, Term(first.fitted, second.fitted))
    square = replace(squares, values=values[:, 1:], scored=False)
    table = table if first.name == variable.name else table.T
    return Condition(Term(square, there), (square.of_levels.T @ table @ there.of_levels).ravel())
