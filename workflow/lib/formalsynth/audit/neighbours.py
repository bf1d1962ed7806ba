"""Neighbours of a data set: which records are taken away, which are added, and what the smallest data sets look like.

The audit is the largest loss over the neighbours that are tried, so a candidate left out can only lower it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.replay import Outcome
from formalsynth.core.arrays import Array, Draws, Index, Records
from formalsynth.core.family import Family, whole
from formalsynth.core.job import Kind

REASONS = ("largest risk", "smallest risk", "largest bound", "largest weight", "largest pull")
"""Why a record is taken away, beside at random; the pull is the spread of its weighted log-likelihood over the posterior."""


@dataclass(frozen=True, eq=False)
class Neighbour:
    """One neighbour of D, as positions in the universe."""

    kind: Kind
    candidate: str
    """Why it was tried."""
    index: Index
    """The records of D'."""
    removed: int | None = None
    """Position of the record that D' lacks."""
    added: int | None = None
    """Position of the record that D lacks."""

    def value(self, universe: Records) -> float:
        """Outcome of the record that is added, else of the one that is removed; NaN for the same data."""
        position = self.removed if self.added is None else self.added
        return float("nan") if position is None else float(universe.x[position])


def additions(records: Records, outcomes: Array, predictors: Sequence[Array] = ()) -> Records:
    """Records to add: every combination of values of the outcome and of the predictors.

    Args:
        records: D, whose constant columns of the design are kept.
        outcomes: values between the declared bounds of the outcome, ends included.
        predictors: the same for each column of the design that is not constant, in their order.

    Raises:
        ValueError: there are not as many predictors as columns that vary.
    """
    varies = np.ptp(records.design, axis=0) > 0
    if len(predictors) != varies.sum():
        raise ValueError(f"{int(varies.sum())} columns of the design vary, and values of {len(predictors)} are given")
    rows = np.array(list(itertools.product(outcomes, *predictors)), dtype=float)
    design = np.tile(records.design[0], (len(rows), 1))
    design[:, varies] = rows[:, 1:]
    return Records(rows[:, 0], design)


def joined(records: Records, more: Records) -> Records:
    """The universe: D first, then what can be added."""
    return Records(np.append(records.x, more.x), np.concatenate([records.design, more.design]))


def added(n: int, universe: int) -> list[Neighbour]:
    """D with each of the records that follow its n in the universe."""
    return [Neighbour("add", "grid", np.append(np.arange(n), k), added=k) for k in range(n, universe)]


def removed(n: int, chosen: Mapping[str, Iterable[int]]) -> list[Neighbour]:
    """D without each of the chosen records, once; the first reason is kept."""
    reasons: dict[int, str] = {}
    for reason, positions in chosen.items():
        for position in positions:
            reasons.setdefault(int(position), reason)
    return [Neighbour("remove", why, np.delete(np.arange(n), k), removed=k) for k, why in reasons.items()]


def replaced(n: int, remove: int, add: int) -> Neighbour:
    """D with one record for another."""
    return Neighbour("replace", "worst with worst", np.append(np.delete(np.arange(n), remove), add), remove, add)


def same(n: int) -> Neighbour:
    """D itself, for the floor: other seeds alone."""
    return Neighbour("same", "other seeds", np.arange(n))


def to_remove(
    family: Family, records: Records, outcomes: Mapping[str, Outcome], each: int, random: int, generator: np.random.Generator
) -> dict[str, list[int]]:
    """Records of D whose removal is likely to cost most, by reason.

    Args:
        family: the family.
        records: D.
        outcomes: every synthesizer on D, with its bounds.
        each: how many for each reason and synthesizer.
        random: how many at random.
        generator: for those.
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
            raise ValueError("the synthesizers have to be run on D with their bounds")
        weights, bounds = outcome.weights[:n], outcome.bounds.by_record
        if (weights == 1).all():
            chosen["largest risk"] += _largest(bounds, each)
            chosen["smallest risk"] += _largest(-bounds, 1)
        chosen["largest bound"] += _largest(bounds, each)
        chosen["largest weight"] += _largest(weights, 1)
        chosen["largest pull"] += _largest(weights * pull(family, records, outcome.draws), each)
    chosen["random"] = generator.choice(n, min(random, n), replace=False).tolist()
    return chosen


def pull(family: Family, records: Records, draws: Draws) -> Array:
    """Standard deviation (n,) over the draws of each record's log-likelihood: how far it alone moves the posterior."""
    if evaluated := whole(family):
        return np.asarray(evaluated.log_likelihood(records, draws).std(axis=0))
    left, right = family.factors(records, draws)
    centred = left - left.mean(axis=0)
    variance = ((right @ (centred.T @ centred / len(left))) * right).sum(axis=1)
    spread: Array = np.sqrt(np.maximum(variance, 0))
    return spread


def _largest(values: Array, k: int) -> list[int]:
    return np.argsort(-values, kind="stable")[:k].tolist()


def small_data_sets(records: Records, sizes: Sequence[int] = (2, 3, 5, 10)) -> dict[str, Records]:
    """Data sets of few records at which the worst case is looked for, made of records that are given.

    For each size: all of them the record in the middle; in halves the records at the outer twentieths; and one of those beside
    copies of the record in the middle.
    """
    order = np.argsort(records.x, kind="stable")
    n = len(order)
    middle, low, high = (int(order[int(share * (n - 1))]) for share in (0.5, 0.05, 0.95))
    found = {}
    for size in sizes:
        half = size // 2
        found[f"{size} alike"] = records.take([middle] * size)
        found[f"{size} in two clusters"] = records.take([low] * half + [high] * (size - half))
        found[f"{size}, one apart"] = records.take([middle] * (size - 1) + [high])
    return found
