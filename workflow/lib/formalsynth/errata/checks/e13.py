"""E13: an attack whose reference set is the set of non-members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.errata.check import Comparison, Interval, Reading, at_most, exactly, near, numeric_check
from formalsynth.papers.reps.attacks import advantage_limit, prepare_targets, weighted_auc

K, DIMENSION, MEMBERS, OTHERS, REPEATS = 5, 2, 1500, 1500, 6
"""Neighbours; features, members and non-members, all uniform in a square; data sets."""
LARGEST, EPSILON, TRAIN = 0.667, 0.5, 2800
"""The paper's top-decile advantage of uniform weights at this ε on the simulated data, and its training records."""


@dataclass(frozen=True)
class Reference:
    """What the distance to the reference set alone tells of members, and the largest advantage that a release may give."""

    advantage: Callable[[], Interval]
    largest: Callable[[float, float], float]


def _own_reference() -> Interval:
    """For points of one density: 2 Pr(mean(D₁ … D_k) > mean(0, D'₁ … D'_(k−1))) − 1, D_j^d the times of a Poisson process."""
    generator = np.random.default_rng(13)

    def distances(size: int) -> Array:
        return np.cumsum(generator.exponential(1.0, (200_000, size)), axis=1) ** (1 / DIMENSION)

    member, other = distances(K).mean(axis=1), distances(K - 1).sum(axis=1) / K
    return near(2 * float((member > other).mean()) - 1, 8 * 0.5 / np.sqrt(200_000))


@numeric_check(
    "E13",
    printed=Reading(
        "a held-out reference tells nothing by itself: advantage 0; with the release at most that of its (ε, δ)",
        Reference(lambda: exactly(0.0), advantage_limit),
    ),
    derived=Reading(
        "a non-member is its own nearest reference record, at distance 0: a large advantage, with or without a release",
        Reference(_own_reference, lambda epsilon, delta: 1.0),
    ),
)
def advantage_of_the_reference(formula: Reference) -> Sequence[Comparison]:
    """The distance to the reference set alone, without any release: members and non-members of one distribution."""
    rows = np.array([_advantages(np.random.default_rng([13, k])) for k in range(REPEATS)])
    printed, fair = (near(float(column.mean()), 4 * float(column.std(ddof=1)) / REPEATS**0.5 + 0.01) for column in rows.T)
    limit = at_most(formula.largest(EPSILON, 1 / TRAIN))
    how = f"attack of the paper on {REPEATS} data sets in a square, no synthetic records"
    return [
        Comparison("advantage, non-members as reference", formula.advantage(), printed, how),
        Comparison("advantage, each record but itself", exactly(0.0), fair, how),
        Comparison("top-decile advantage at ε = 0.5", limit, exactly(LARGEST), "printed in Appendix B"),
    ]  # fmt: skip


def _advantages(generator: np.random.Generator) -> tuple[float, float]:
    """Advantage of both references in one data set."""
    train, test = generator.random((MEMBERS, DIMENSION)), generator.random((OTHERS, DIMENSION))
    targets = prepare_targets(train, test, np.arange(MEMBERS + OTHERS), K, generator)
    scores = (targets.reference_printed, targets.reference)
    first, second = (2 * float(weighted_auc(each, targets.member, targets.weight[:, None])[0]) - 1 for each in scores)
    return first, second
