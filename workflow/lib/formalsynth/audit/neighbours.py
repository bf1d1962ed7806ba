"""Neighbours of a data set: candidate removals, additions, replacements and moves.

The audited epsilon is the largest loss over the neighbours that are tried, so a missing candidate can only lower it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from formalsynth.audit.replay import Outcome
from formalsynth.core.arrays import RANGE, Array, Draws, Index, Records, blocks, is_sparse
from formalsynth.core.family import Family, whole
from formalsynth.core.synthesizer import Kind


@dataclass(frozen=True, eq=False)
class Neighbour:
    """Neighbour of D, as positions in the universe."""

    kind: Kind
    candidate: str
    """Reason for trying it: largest or smallest risk, largest bound, weight or pull (posterior standard deviation of the
    weighted log-likelihood), or random."""
    index: Index
    """Positions of the records of D'."""
    removed: int | None = None
    """Position of the record that is in D but not in D'."""
    added: int | None = None
    """Position of the record that is in D' but not in D."""

    def value(self, universe: Records) -> float:
        """Outcome of the added record, else of the removed record; NaN for the same data."""
        position = self.removed if self.added is None else self.added
        return float("nan") if position is None else float(universe.x[position])


def additions(
    records: Records,
    outcomes: Array,
    predictors: Sequence[Array] = (),
    inputs: Mapping[str, Array] = MappingProxyType({}),
    at_most: str = "",
) -> Records:
    """Candidate records for additions: every combination of outcome, predictor and input values.

    Args:
        records: D; the constant columns of its design are used for all candidates.
        outcomes: values between the declared bounds of the outcome, bounds included.
        predictors: values of each varying column of the design, in column order.
        inputs: values of each further column, by name.
        at_most: the input that no outcome may exceed; empty for none.

    Raises:
        ValueError: the number of predictors differs from the number of varying columns.
    """
    varies = np.ptp(records.design, axis=0) > 0
    if len(predictors) != varies.sum():
        raise ValueError(f"{int(varies.sum())} columns of the design vary, but values are given for {len(predictors)}")
    rows = np.array(list(itertools.product(outcomes, *predictors, *inputs.values())), dtype=float)
    design = np.tile(records.design[0], (len(rows), 1))
    design[:, varies] = rows[:, 1 : len(predictors) + 1]
    columns = dict(zip(inputs, rows[:, len(predictors) + 1 :].T, strict=True))
    candidates = Records(rows[:, 0], design, columns)
    return candidates.take(rows[:, 0] <= columns[at_most]) if at_most else candidates


def added(n: int, universe: int) -> list[Neighbour]:
    """Neighbours that add one of the records after the first n of the universe."""
    return [Neighbour("add", "grid", np.append(np.arange(n), k), added=k) for k in range(n, universe)]


def removed(n: int, chosen: Mapping[str, Iterable[int]]) -> list[Neighbour]:
    """Neighbours that remove one of the chosen records, without duplicates; the first reason counts."""
    reasons: dict[int, str] = {}
    for reason, positions in chosen.items():
        for position in positions:
            reasons.setdefault(int(position), reason)
    return [Neighbour("remove", why, np.delete(np.arange(n), k), removed=k) for k, why in reasons.items()]


def moves(records: Records, multiples: Sequence[float]) -> Records:
    """Make copies of all records for each multiple: with this multiple of the outcome, or the end of the declared range."""
    copies = records.take(np.tile(np.arange(len(records)), len(multiples)))
    x = copies.x * np.repeat(np.array(multiples), len(records))
    if set(RANGE) <= set(records.inputs):
        low, high = (copies.inputs[name] for name in RANGE)
        inside = (low <= copies.x) & (copies.x <= high)
        x = np.where(inside, np.clip(x, low, high), copies.x)
    return replace(copies, x=x)


def moved(n: int, first: int, universe: int, chosen: Mapping[str, Iterable[int]]) -> list[Neighbour]:
    """Neighbours in which one of the chosen records moves to one of its copies, which start at ``first`` in the universe."""
    return [
        Neighbour("move", left.candidate, np.append(left.index, left.removed + start), left.removed, left.removed + start)
        for left in removed(n, chosen)
        if left.removed is not None
        for start in range(first, universe, n)
    ]


def replaced(n: int, remove: int, add: int) -> Neighbour:
    """Neighbour that replaces one record by another."""
    return Neighbour("replace", "worst with worst", np.append(np.delete(np.arange(n), remove), add), remove, add)


def same(n: int) -> Neighbour:
    """D itself with other seeds: the noise floor of the audit."""
    return Neighbour("same", "other seeds", np.arange(n))


def to_remove(
    family: Family,
    records: Records,
    outcomes: Mapping[str, Outcome],
    per_reason: int,
    random: int,
    generator: np.random.Generator,
) -> dict[str, list[int]]:
    """Select records of D whose removal is likely to have the largest loss, by reason.

    Args:
        family: the family.
        records: D.
        outcomes: outcome of every synthesizer on D, with bounds.
        per_reason: number of records for each reason and synthesizer.
        random: number of random removals.
        generator: random numbers for the random removals.
    """
    chosen: dict[str, list[int]] = {
        "largest risk": [],
        "smallest risk": [],
        "largest bound": [],
        "largest weight": [],
        "largest pull": [],
    }
    n = len(records)
    for outcome in outcomes.values():
        if outcome.bounds is None or outcome.draws is None:
            raise ValueError("the outcomes on D have no bounds: run the synthesizers with bounds=True")
        weights, bounds = outcome.weights[:n], outcome.bounds.by_record
        if (weights == 1).all():
            chosen["largest risk"] += _largest(bounds, per_reason)
            chosen["smallest risk"] += _largest(-bounds, 1)
        chosen["largest bound"] += _largest(bounds, per_reason)
        chosen["largest weight"] += _largest(weights, 1)
        chosen["largest pull"] += _largest(weights * pull(family, records, outcome.draws), per_reason)
    chosen["random"] = generator.choice(n, min(random, n), replace=False).tolist()
    return chosen


def pull(family: Family, records: Records, draws: Draws) -> Array:
    """Compute the standard deviation (n,) of each record's log-likelihood over the draws: its influence on the posterior."""
    if evaluated := whole(family):
        return np.asarray(evaluated.log_likelihood(records, draws).std(axis=0))
    left, right = family.factors(records, draws)
    if is_sparse(right):
        return np.concatenate([(left @ right[part].T).std(axis=0) for part in blocks(len(records), len(left))])
    with np.errstate(over="ignore", invalid="ignore"):
        centred = left - left.mean(axis=0)
        variance = ((right @ (centred.T @ centred / len(left))) * right).sum(axis=1)
        spread: Array = np.sqrt(np.maximum(variance, 0))
        beyond = np.flatnonzero(~np.isfinite(variance))  # a product with one very large column is undefined for all records
        spread[beyond] = (left @ right[beyond].T).std(axis=0)
    return spread


def _largest(values: Array, k: int) -> list[int]:
    return [int(position) for position in np.argsort(-values, kind="stable")[:k]]
