"""Membership inference that knows the class of the generator (REPS paper, Sections 2.1 and 7.1).

Densities of all classes here are exact, so no density has to be estimated from distances. The attacker knows the mechanism and
its budget, but neither its noise nor who is a member.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.influence import Mask
from formalsynth.reps.stages import Budget, Learner

NO_NOISE = Budget(math.inf, 0.0)


def class_densities(
    learner: Learner, domain: Domain, synthetic: MixedRecords, targets: MixedRecords, generator: np.random.Generator
) -> Array:
    """Log densities (m,) of records under the generator's class, fitted without noise to synthetic or reference records.

    The difference between the densities given synthetic records and given reference records is the log likelihood ratio of the
    two. References must be neither members nor targets: a target that is its own reference is recognised without a release.
    """
    fitted = learner.fit(replace(domain, n=len(synthetic)), synthetic, np.ones(len(synthetic)), NO_NOISE, generator)
    return fitted.model.log_density(targets)


def shadow_ratios(
    release: Callable[[MixedRecords, np.random.Generator], MixedRecords],
    score: Callable[[MixedRecords], Array],
    synthetic: MixedRecords,
    pool: MixedRecords,
    members: int,
    shadows: int,
    generator: np.random.Generator,
) -> Array:
    """Log likelihood ratio (m,) of membership of each record of a pool, from shadow releases of random halves of it.

    Scores of a record with and without it among the members are taken as normal with a common variance.

    Args:
        release: the complete mechanism at the known budget, from members to synthetic records.
        score: scores (m,) of the pool's records given synthetic records, such as :func:`class_densities`.
        synthetic: the attacked release.
        pool: m records, of which ``members`` are members.
        members: number of members.
        shadows: number of shadow releases, even and at least 4.
        generator: source of the shadows' members and of their noise.

    Source: after Carlini et al. (2022), LiRA.
    """
    inside, scores = np.zeros((shadows, len(pool)), dtype=bool), np.empty((shadows, len(pool)))
    orders = [generator.permutation(len(pool)) for _ in range(shadows // 2)]
    # Each order serves twice, so with as many members as others each record is in half of the shadows.
    for k, order in enumerate([*orders, *(order[::-1] for order in orders)]):
        inside[k, order[:members]] = True
        scores[k] = score(release(pool.take(order[:members]), generator))
    return normal_ratios(score(synthetic), scores, inside)


def normal_ratios(observed: Array, scores: Array, inside: Mask) -> Array:
    """Log ratio (m,) of two normal densities of common variance at the observed scores; 0 where a mean is unknown.

    Args:
        observed: (m,) scores given the attacked release.
        scores: (shadows, m) scores given shadow releases.
        inside: (shadows, m) bool, True where the record was a member.
    """
    counts = np.stack([inside.sum(axis=0), (~inside).sum(axis=0)])
    means = np.stack([np.where(side, scores, 0).sum(axis=0) for side in (inside, ~inside)]) / np.maximum(counts, 1)
    squares = (scores - np.where(inside, *means)) ** 2
    variance = np.maximum(squares.sum(axis=0) / max(len(scores) - 2, 1), 1e-12)
    ratio = ((observed - means[1]) ** 2 - (observed - means[0]) ** 2) / (2 * variance)
    return np.where(counts.min(axis=0) > 0, ratio, 0.0)
