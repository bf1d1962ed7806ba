"""Attack on mechanisms with a posterior: repeated releases from two neighbouring data sets, and their scores."""

from __future__ import annotations

import numpy as np

from formalsynth.audit.attack import Attack, attack_bound, ratio_of_means, scores
from formalsynth.audit.neighbours import Neighbour
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array, Draws, Records, blocks, count, take
from formalsynth.core.family import Family

SCORING = 400
"""Number of draws of each hypothesis per score."""
TOGETHER = 20
"""Divisor of the number of records that sets the size of a block of released draws: blocks are larger by this factor."""


def attack_posterior(
    replay: Replay, n: int, neighbour: Neighbour, outcomes: tuple[Outcome, Outcome], runs: int, delta: float, seed: int
) -> Attack:
    """Distinguish D from its neighbour by one synthetic data set, at the predictors of the records that both contain.

    The attacker knows the random numbers of the weights.

    Args:
        replay: the replicate; D is the first n records of its universe.
        n: number of records of D.
        neighbour: D'.
        outcomes: outcomes of the synthesizer on D and on D'.
        runs: number of runs of the mechanism on each data set.
        delta: delta of the attacked guarantee.
        seed: seed of the released draws and synthetic values.
    """
    generator = np.random.default_rng(seed)
    records = replay.universe.take(np.intersect1d(np.arange(n), neighbour.index))
    drawn = [[replay.draw(outcome, generator, size) for size in (runs, SCORING)] for outcome in outcomes]
    learnt = drawn[0][1], drawn[1][1]
    scored = [_scored(replay.family, records, released, learnt, generator) for released, _ in drawn]
    return attack_bound(scored[0], scored[1], delta)


def _scored(
    family: Family, records: Records, released: Draws, learnt: tuple[Draws, Draws], generator: np.random.Generator
) -> Array:
    """Scores (R,) of one synthetic data set per released draw."""
    if family.program == "linear_regression":
        return linear_scores(records.design, released, learnt, generator)
    values = []
    for block in blocks(count(released), len(records) // TOGETHER):
        synthetic = family.predict(generator, records, take(released, block))
        values.append(scores(family, synthetic, records.design, *learnt))
    return np.concatenate(values)


def linear_scores(design: Array, released: Draws, learnt: tuple[Draws, Draws], generator: np.random.Generator) -> Array:
    """Scores (R,) of a linear regression, from simulated sufficient statistics of the synthetic data sets.

    In an orthonormal basis of the design, the least squares coefficients of a synthetic data set are normal around those of its
    draw with the variance of the draw. The residual sum of squares is that variance times a chi-squared variable with n - p
    degrees of freedom, independent of the coefficients. The score depends on the synthetic data only through these statistics.

    Args:
        design: (n, p) predictors.
        released: R draws.
        learnt: draws of both hypotheses, used by the attack only.
        generator: random numbers of the synthetic data.
    """
    n, p = design.shape
    basis = np.linalg.qr(design)[1]
    theirs = {name: np.concatenate([side[name] for side in learnt]) for name in learnt[0]}
    centre = theirs["beta"].mean(axis=0)
    coefficients, sigma = (theirs["beta"] - centre) @ basis.T, theirs["sigma"]
    estimated = (released["beta"] - centre) @ basis.T
    estimated = estimated + released["sigma"][:, None] * generator.standard_normal(estimated.shape)
    left_over = released["sigma"] ** 2 * 2 * generator.standard_gamma((n - p) / 2, len(estimated))
    squares = (coefficients**2).sum(axis=1)[:, None] + (estimated**2).sum(axis=1) - 2 * coefficients @ estimated.T
    values = -n * np.log(sigma)[:, None] - (squares + left_over) / (2 * sigma[:, None] ** 2)
    return ratio_of_means(values, count(learnt[0]))
