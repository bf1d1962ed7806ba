"""Attack on mechanisms with a posterior: repeated releases from two neighbouring data sets, and their scores."""

from __future__ import annotations

import numpy as np

from formalsynth.audit.attack import Attack, attack_bound, ratio_of_means, scores
from formalsynth.audit.neighbours import Neighbour
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array, Draws, Index, Records, blocks, count, take
from formalsynth.core.family import Family

SCORING = 400
"""Number of draws of each hypothesis per score."""
LATER = 500_000
"""First stream of the runs, which keeps them separate from the streams of the audit."""
TOGETHER = 20
"""Divisor of the number of records that sets the size of a block of released draws: blocks are larger by this factor."""


def attack_posterior(
    replay: Replay,
    n: int,
    id: str,
    neighbour: Neighbour,
    runs: int,
    delta: float,
    seed: int,
    weights_known: bool = True,
    outcomes: tuple[Outcome, Outcome] | None = None,
) -> Attack:
    """Distinguish D from its neighbour by one synthetic data set, at the predictors of the records that both contain.

    Args:
        replay: the replicate; D is the first n records of its universe.
        n: number of records of D.
        id: the synthesizer.
        neighbour: D'.
        runs: number of runs of the mechanism on each data set.
        delta: delta of the attacked guarantee.
        seed: seed of the released draws and synthetic values.
        weights_known: if True, all runs use the random numbers of stream 0 for their weights, and the attacker knows them; if
            False, each run has its own stream, and the attacker learns from separate runs.
        outcomes: outcomes of stream 0 on both data sets, if already computed.
    """
    data, generator = np.arange(n), np.random.default_rng(seed)
    records = replay.universe.take(np.intersect1d(data, neighbour.index))
    released, learnt = [], []
    for place, index in enumerate((data, neighbour.index)):
        if weights_known:
            outcome = outcomes[place] if outcomes is not None else replay.run(index, only=[id])[id]
            released.append(replay.draw(outcome, generator, runs))
            learnt.append(replay.draw(outcome, generator, SCORING))
        else:
            released.append(_own_streams(replay, id, index, runs, LATER * (1 + place), generator))
            learnt.append(_own_streams(replay, id, index, SCORING, LATER * (3 + place), generator))
    scored = [_scored(replay.family, records, side, (learnt[0], learnt[1]), generator) for side in released]
    return attack_bound(scored[0], scored[1], delta)


def _own_streams(replay: Replay, id: str, index: Index, runs: int, first: int, generator: np.random.Generator) -> Draws:
    # several draws share a run when the attacker learns; released draws never share one
    streams = range(first, first + (runs if first < 3 * LATER else 20))
    outcomes = [replay.run(index, stream, only=[id])[id] for stream in streams]
    parts = [replay.draw(outcome, generator, -(-runs // len(outcomes))) for outcome in outcomes]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return take(joined, slice(0, runs))


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
