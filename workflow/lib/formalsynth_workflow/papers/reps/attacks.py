"""Membership inference by distance, overall and by outlier decile (REPS paper, Section 7.1 and Appendix B.4).

Members are the training records, non-members the test records. AUC is the probability that a member scores above
a non-member. The advantage is ``|2 AUC - 1|``; the paper reports this absolute value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.influence import Mask
from formalsynth_workflow.papers.reps.neighbours import nearest
from formalsynth_workflow.papers.reps.tables import Encoded

DECILES = 10
_TINY = 1e-12


def mean_distance(
    queries: Encoded, pool: Encoded, k: int, leave_out: Integers | None = None, levels: Sequence[int] = ()
) -> Array:
    """Mean distance of each query to its k nearest records of the pool: (m,).

    Args:
        queries: (m, d).
        pool: (r, d) with more than k records.
        k: number of neighbours.
        leave_out: (m,) position of the pool record with which a query is not compared, such as the query itself.
        levels: number of values of each categorical feature.
    """
    distances, index = nearest(queries, pool, k if leave_out is None else k + 1, levels)
    kept = distances if leave_out is None else _without(distances, index, leave_out)
    return np.asarray(kept.mean(axis=1))


def _without(distances: Array, index: Integers, leave_out: Integers) -> Array:
    """Distances (m, k) to the nearest records, without one record of the pool for each query, from those to k + 1 records."""
    out = index == leave_out[:, None]
    # If the record to leave out is not among the nearest, the last neighbour is dropped.
    out[~out.any(axis=1), -1] = True
    return np.asarray(distances[~out].reshape(len(distances), -1))


@dataclass(frozen=True)
class Targets:
    """The attacked records, with all quantities that do not depend on synthetic data."""

    features: Encoded = field(repr=False)
    """(m, d) encoded queries."""
    row: Integers = field(repr=False)
    """(m,) row in the data set."""
    member: Mask = field(repr=False)
    """(m,) bool."""
    decile: Integers = field(repr=False)
    """(m,) 1 to 10; decile 10 contains the most outlying tenth."""
    weight: Array = field(repr=False)
    """(m,) number of records that a sampled query represents."""
    reference: Array = field(repr=False)
    """(m,) mean distance to the reference records except one: the query itself or, for a member, a random one."""
    reference_printed: Array = field(repr=False)
    """(m,) mean distance to all reference records, including the query itself for a non-member."""
    train_outlierness: Array = field(repr=False)
    """(n_train,) mean nearest-neighbour distance of every training record."""
    train_decile: Integers = field(repr=False)
    """(n_train,)."""
    levels: tuple[int, ...] = ()
    """Number of values of each categorical feature."""


def deciles_of(outlierness: Array) -> Integers:
    """Deciles 1 to 10 of equal size by rank; ties are broken by position."""
    rank = np.empty(len(outlierness), dtype=np.int64)
    rank[np.argsort(outlierness, kind="stable")] = np.arange(len(outlierness))
    return rank * DECILES // len(outlierness) + 1


def prepare_targets(
    train: Encoded,
    test: Encoded,
    rows: Integers,
    k: int,
    generator: np.random.Generator,
    queries: int | None = None,
    levels: tuple[int, ...] = (),
) -> Targets:
    """Compute outlier deciles, the sample of queries and the reference distances.

    Outlierness is the mean distance to the k nearest other records among members and non-members, so deciles treat both
    equally. The reference is the test split, as in the paper. Because non-members belong to it, each query is compared with
    all of it except one record (the query itself, or a random one for a member). Otherwise a non-member would be recognised
    by its distance 0 to itself, independently of the synthetic data.

    Args:
        train: (n_train, d) encoded members.
        test: (n_test, d) encoded non-members.
        rows: (n_train + n_test,) rows of the data set.
        k: number of neighbours.
        generator: source of the random queries, and of the random records with which members are not compared.
        queries: largest number of queries for each decile and membership; None for all.
        levels: number of values of each categorical feature.
    """
    everyone = np.concatenate([train, test])
    member = np.arange(len(everyone)) < len(train)
    outlierness = mean_distance(everyone, everyone, k, np.arange(len(everyone)), levels)
    decile = deciles_of(outlierness)
    chosen, weight = _sample(decile, member, queries, generator)
    at_random = generator.integers(len(test), size=len(chosen))
    left_out = np.where(member[chosen], at_random, chosen - len(train))
    distances, index = nearest(everyone[chosen], test, k + 1, levels)
    return Targets(
        features=everyone[chosen],
        row=rows[chosen],
        member=member[chosen],
        decile=decile[chosen],
        weight=weight,
        reference=_without(distances, index, left_out).mean(axis=1),
        reference_printed=distances[:, :k].mean(axis=1),
        train_outlierness=outlierness[: len(train)],
        train_decile=decile[: len(train)],
        levels=levels,
    )


def _sample(decile: Integers, member: Mask, queries: int | None, generator: np.random.Generator) -> tuple[Integers, Array]:
    """Sample up to ``queries`` records of each decile and membership, with the number of records that each represents."""
    parts = [np.flatnonzero((decile == d) & (member == m)) for d in range(1, DECILES + 1) for m in (False, True)]
    kept = [part if queries is None or len(part) <= queries else generator.permutation(part)[:queries] for part in parts]
    chosen = np.concatenate(kept)
    weight = np.concatenate([np.full(len(k), len(p) / max(len(k), 1)) for k, p in zip(kept, parts, strict=True)])
    order = np.argsort(chosen)
    return chosen[order], weight[order]


def attack_scores(targets: Targets, synthetic: Encoded, k: int) -> dict[str, Array]:
    """Scores (m,) of every attack; higher means "member".

    ``distance`` uses the distance to the synthetic records, ``domias`` the ratio with a fair reference, and ``domias_printed``
    the ratio with the reference as printed.

    Args:
        targets: the queries.
        synthetic: (s, d) encoded synthetic records.
        k: number of neighbours.
    """
    log_distance = np.log(mean_distance(targets.features, synthetic, k, levels=targets.levels) + _TINY)
    return {
        "distance": -log_distance,
        "domias": np.log(targets.reference + _TINY) - log_distance,
        "domias_printed": np.log(targets.reference_printed + _TINY) - log_distance,
    }


def advantages_without_release(targets: Targets) -> dict[int, float]:
    """Signed advantage by decile of the reference distance as printed, without synthetic records.

    A value other than 0 is not leakage from a release: a non-member is recognised because it is its own reference (erratum E13).
    NaN if a decile lacks members or non-members.
    """
    advantages = {}
    for decile in range(1, DECILES + 1):
        chosen = targets.decile == decile
        auc = weighted_auc(targets.reference_printed[chosen], targets.member[chosen], targets.weight[chosen, None])[0]
        advantages[decile] = float(2 * auc - 1)
    return advantages


@dataclass(frozen=True)
class Comparison:
    """Members and non-members under several columns of weights: all inputs of an AUC except the scores."""

    inside: Integers = field(repr=False)
    """(p,) positions of the members."""
    outside: Integers = field(repr=False)
    """(q,) positions of the non-members."""
    of_members: Array = field(repr=False)
    """(p, b) weights."""
    of_others: Array = field(repr=False)
    """(q, b) weights."""
    total: Array = field(repr=False)
    """(b,) weight of all members."""
    below: Array = field(repr=False)
    """(q + 1, b) buffer for the cumulative weights of the non-members in increasing order of scores, from 0.

    It is reused because allocation takes longer than the computation.
    """
    beaten: Array = field(repr=False)
    """(p, b) buffer for the total weight of the non-members with a lower score than each member."""

    @classmethod
    def of(cls, member: Mask, weights: Array) -> Comparison:
        """Return the comparison of members (m,) bool with all others under nonnegative weights (m, b)."""
        inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
        of_members, below = weights[inside], np.zeros((len(outside) + 1, weights.shape[1]))
        return cls(inside, outside, of_members, weights[outside], of_members.sum(axis=0), below, np.empty_like(of_members))

    def auc(self, scores: Array) -> Array:
        """AUC of scores (m,) under each column of weights: (b,). Ties count half; NaN if a class has no weight."""
        of_members, of_others = scores[self.inside], scores[self.outside]
        order = np.argsort(of_others, kind="stable")
        # mode "clip" lets numpy write to the given buffer; all positions are valid
        np.take(self.of_others, order, axis=0, out=self.below[1:], mode="clip")
        # Row by row: numpy's sum along the first axis takes three times as long.
        for less, row in pairwise(self.below[1:]):
            np.add(less, row, out=row)
        first, last = (np.searchsorted(of_others[order], of_members, side) for side in ("left", "right"))
        beaten, tied = np.take(self.below, first, axis=0, out=self.beaten, mode="clip"), np.flatnonzero(first < last)
        beaten[tied] = (beaten[tied] + self.below[last[tied]]) / 2
        with np.errstate(invalid="ignore"):
            return np.asarray(np.einsum("mb,mb->b", self.of_members, beaten) / (self.total * self.below[-1]))


def weighted_auc(scores: Array, member: Mask, weights: Array) -> Array:
    """AUC under each column of weights (b,), as in :meth:`Comparison.auc`.

    Args:
        scores: (m,).
        member: (m,) bool.
        weights: (m, b) nonnegative.
    """
    return Comparison.of(member, weights).auc(scores)


def resampled_counts(targets: Targets, resamples: int, generator: np.random.Generator) -> NDArray[np.uint16]:
    """Compute the number of times that each query is drawn (resamples, m) in bootstrap samples within each decile and membership.

    Resampling within strata makes the interval account for the sampling of queries.
    """
    counts = np.zeros((resamples, len(targets.row)), dtype=np.uint16)
    for decile in range(1, DECILES + 1):
        for member in (False, True):
            stratum = np.flatnonzero((targets.decile == decile) & (targets.member == member))
            if len(stratum):
                drawn = generator.integers(len(stratum), size=(resamples, len(stratum)))
                drawn += np.arange(resamples)[:, None] * len(stratum)
                counts[:, stratum] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(resamples, len(stratum))
    return counts


def bootstrap_comparisons(targets: Targets, resamples: int, generator: np.random.Generator) -> tuple[Comparison, ...]:
    """Comparisons of members and non-members: all queries, then each decile.

    The first column of weights is the number of records that each query represents in the sample, the others are those in each
    bootstrap sample.
    """
    counts = resampled_counts(targets, resamples, generator).T
    weights = np.hstack([np.ones((len(counts), 1)), counts]) * targets.weight[:, None]
    deciles = (targets.decile == decile for decile in range(1, DECILES + 1))
    chosen = (np.ones(len(weights), dtype=bool), *deciles)
    return tuple(Comparison.of(targets.member[queries], weights[queries]) for queries in chosen)


def attack_table(targets: Targets, comparisons: Sequence[Comparison], scores: Mapping[str, Array], level: float) -> pd.DataFrame:
    """Compute AUC and advantage with bootstrap intervals, overall (decile 0) and in each outlier decile.

    Args:
        targets: the queries.
        comparisons: result of :func:`bootstrap_comparisons`.
        scores: (m,) of each attack.
        level: confidence level of the intervals.

    Returns:
        Columns attack, decile, members, non_members, auc, auc_low, auc_high, signed_advantage ``2 auc - 1`` and its absolute
        value advantage. Absolute values of pure noise are positive: compare signed advantages. NaN if a decile lacks members
        or non-members.
    """
    tail = (1 - level) / 2
    rows = []
    for decile, comparison in enumerate(comparisons):
        chosen = targets.decile == decile if decile else slice(None)
        members, others = len(comparison.inside), len(comparison.outside)
        for attack, values in scores.items():
            auc = comparison.auc(values[chosen])
            low, high = np.quantile(auc[1:], [tail, 1 - tail])
            row = {"attack": attack, "decile": decile, "members": members, "non_members": others}
            rows.append(row | {"auc": auc[0], "auc_low": low, "auc_high": high})
    table = pd.DataFrame(rows)
    signed = 2 * table["auc"] - 1
    return table.assign(signed_advantage=signed, advantage=signed.abs())


def advantage_limit(epsilon: float, delta: float) -> float:
    """Return the largest ``2 AUC - 1`` of any attack on an (epsilon, delta)-DP release (add/remove).

    It holds for exchangeable members and non-members. If the member of a pair were not in the training records either, each of
    the two would score higher half of the time; adding it to them changes the probability of either order by no more than the
    guarantee allows. A larger printed advantage cannot come from membership inference on the release alone.
    """
    return min(math.expm1(epsilon) + 2 * delta, 1 - math.exp(-epsilon) * (1 - 2 * delta), 1.0)


def summarise(table: pd.DataFrame) -> dict[str, float]:
    """Compute the columns of a replicate's row: for each attack, overall, top decile and top/median ratio.

    The median in the ratio is that of the ten deciles' advantages (our choice: the paper does not define it).
    """
    columns: dict[str, float] = {}
    for attack, part in table.groupby("attack", sort=False):
        by_decile = part.set_index("decile")
        for name, decile in (("all", 0), ("top", DECILES)):
            for value in ("auc", "auc_low", "auc_high", "advantage"):
                columns[f"{attack}_{name}_{value}"] = float(by_decile[value].loc[decile])
        median = float(by_decile.loc[1:, "advantage"].median())
        columns[f"{attack}_top_median"] = columns[f"{attack}_top_advantage"] / median if median > 0 else float("nan")
    return columns
