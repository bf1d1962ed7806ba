"""What leaves the mechanism on either of two neighbouring data sets, many times over, for the attack."""

from __future__ import annotations

import numpy as np

from formalsynth.audit.attack import Attack, ratio_of_means, scores, told_apart
from formalsynth.audit.neighbours import Neighbour
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array, Draws, Index, Records, blocks, count, take
from formalsynth.core.family import Family

SCORING = 400
"""Draws of each hypothesis behind a score."""
LATER = 500_000
"""First of the streams that the runs take, so that no run shares one with the audit."""
TOGETHER = 20
"""Blocks of synthetic values that are scored together."""


def attack(
    replay: Replay,
    n: int,
    id: str,
    neighbour: Neighbour,
    runs: int,
    delta: float,
    seed: int,
    told: bool = True,
    outcomes: tuple[Outcome, Outcome] | None = None,
) -> Attack:
    """Tell D from its neighbour by one synthetic data set, at the predictors of the records that both have.

    Args:
        replay: the replicate; D is the first n records of its universe.
        n: records of D.
        id: the synthesizer.
        neighbour: D'.
        runs: of the mechanism on each of them.
        delta: of the guarantee that is attacked.
        seed: of the released draws and synthetic values.
        told: whether all runs of the mechanism have the random numbers of stream 0 behind their weights, as if they were told to
            the attacker; otherwise each run has its own, and the attacker has runs of their own to learn from.
        outcomes: of stream 0 on both data sets, where they are there already.
    """
    data, generator = np.arange(n), np.random.default_rng(seed)
    records = replay.universe.take(np.intersect1d(data, neighbour.index))
    released, learnt = [], []
    for place, index in enumerate((data, neighbour.index)):
        if told:
            outcome = outcomes[place] if outcomes is not None else replay.run(index, only=[id])[id]
            released.append(replay.draw(outcome.posterior, generator, runs))
            learnt.append(replay.draw(outcome.posterior, generator, SCORING))
        else:
            released.append(_untold(replay, id, index, runs, LATER * (1 + place), generator))
            learnt.append(_untold(replay, id, index, SCORING, LATER * (3 + place), generator))
    found = [_scored(replay.family, records, each, (learnt[0], learnt[1]), generator) for each in released]
    return told_apart(found[0], found[1], delta)


def _untold(replay: Replay, id: str, index: Index, runs: int, first: int, generator: np.random.Generator) -> Draws:
    # a few draws share the weights of a run where the attacker learns; a released draw never does
    streams = range(first, first + (runs if first < 3 * LATER else 20))
    outcomes = [replay.run(index, stream, only=[id])[id] for stream in streams]
    parts = [replay.draw(each.posterior, generator, -(-runs // len(outcomes))) for each in outcomes]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return take(joined, slice(0, runs))


def _scored(
    family: Family, records: Records, released: Draws, learnt: tuple[Draws, Draws], generator: np.random.Generator
) -> Array:
    """Scores (R,) of a synthetic data set for each released draw."""
    if family.program == "linear_regression":
        return linear_scores(records.design, released, learnt, generator)
    found = []
    for block in blocks(count(released), len(records) // TOGETHER):
        synthetic = family.predict(generator, records, take(released, block))
        found.append(scores(family, synthetic, records.design, *learnt))
    return np.concatenate(found)


def linear_scores(design: Array, released: Draws, learnt: tuple[Draws, Draws], generator: np.random.Generator) -> Array:
    """Scores (R,) of a linear regression, whose synthetic data sets are drawn as what is sufficient of them.

    In an orthonormal basis of the design the least squares coefficients of a synthetic data set are normal about those of its
    draw, with the draw's variance, and the squares left over are that variance times a chi-squared variable with n - p degrees
    of freedom; the two are independent. Given them the values do not depend on the draw, so no score is lost.

    Args:
        design: (n, p) predictors.
        released: R draws.
        learnt: draws of both hypotheses, made for the attack alone.
        generator: of the synthetic data.
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
