"""What leaves the mechanism on either of two neighbouring data sets, many times over, for the attack."""

from __future__ import annotations

import numpy as np

from formalsynth.audit.attack import Attack, scores, told_apart
from formalsynth.audit.neighbours import Neighbour
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array, Draws, count, take
from formalsynth.core.bounds import Index

SCORING = 400
"""Draws of each hypothesis behind a score."""
LATER = 500_000
"""First of the streams that the runs take, so that no run shares one with the audit."""


def attack(
    replay: Replay, n: int, id: str, neighbour: Neighbour, runs: int, delta: float, seed: int, told: bool = True
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
    """
    data, generator = np.arange(n), np.random.default_rng(seed)
    both = np.intersect1d(data, neighbour.index)
    sides = []
    for place, index in enumerate((data, neighbour.index)):
        released = _released(replay, id, index, runs, LATER * (1 + place), told, generator)
        learnt = _released(replay, id, index, SCORING, LATER * (3 + place), told, generator)
        sides.append((released, learnt))
    records = replay.universe.take(both)
    found = []
    for released, _ in sides:
        synthetic: list[Array] = []
        for start in range(0, runs, 100):
            part = take(released, slice(start, start + 100))
            synthetic += list(replay.family.predict(generator, records, part))
        found.append(scores(replay.family, synthetic, records.design, sides[0][1], sides[1][1]))
    return told_apart(found[0], found[1], delta)


def _released(replay: Replay, id: str, index: Index, runs: int, first: int, told: bool, generator: np.random.Generator) -> Draws:
    if told:
        return replay.draw(replay.run(index)[id].posterior, generator, runs)
    # a few draws share the weights of a run where the attacker learns; a released draw never does
    outcomes: list[Outcome] = [replay.run(index, first + run)[id] for run in range(runs if first < 3 * LATER else 20)]
    parts = [replay.draw(each.posterior, generator, -(-runs // len(outcomes))) for each in outcomes]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return take(joined, slice(0, runs)) if count(joined) > runs else joined
