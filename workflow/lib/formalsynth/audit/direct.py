"""Direct releases: mechanisms without a pseudo posterior, whose privacy loss is known in closed form.

One that adds Laplace noise to counts has the loss of the counts that differ between two data sets. It is the loss of the noisy
counts, of which all that is released is made; clamping and scaling them can only lower it. Any number of synthetic data sets
that are drawn from one release cost no more than that release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.audit.attack import Attack, told_apart
from formalsynth.audit.losses import Direction
from formalsynth.audit.neighbours import Neighbour, added, removed, replaced
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Index
from formalsynth.core.job import Synthesizer
from formalsynth.core.mechanism import LaplaceCounts

CELLS = 4000
"""Of the losses between the two ends of a Laplace variable's."""


@dataclass(frozen=True)
class DirectLoss:
    """The loss of a direct release between D and one neighbour, the same in both directions."""

    neighbour: Neighbour
    sides: tuple[LaplaceCounts, LaplaceCounts]
    tried: int = 1
    """Neighbours of its kind that were tried."""

    @property
    def more(self) -> np.ndarray | None:
        """By how much D has more in each bin; None where the bins differ, which everybody sees."""
        ours, theirs = (each.counts for each in self.sides)
        return ours - theirs if len(ours) == len(theirs) else None

    def epsilon(self, delta: float) -> float:
        """The exact epsilon at delta, rounded down where two counts differ."""
        if self.more is None:
            return math.inf
        differs = np.abs(self.more[self.more != 0])
        # a single bin has a share of 1 whatever its noise
        if not len(differs) or len(self.more) == 1:
            return 0.0
        return laplace_loss(float(differs[0]) / self.sides[0].scale).epsilon(delta, len(differs))

    @property
    def fewest(self) -> float:
        """Records of D in the bins that differ: the fewer, the easier is the attack."""
        return 0.0 if self.more is None else float(self.sides[0].counts[self.more != 0].sum())


def laplace_loss(ratio: float) -> Direction:
    """The loss of one count whose noise has a scale of 1 / ratio, between neighbours that differ by 1 in it."""
    # noise times the ratio, from 0 to the ratio, where the loss falls from ratio to -ratio
    ends = np.linspace(0, ratio, CELLS + 1)
    between = 0.5 * np.exp(-ends[:-1]) * -np.expm1(-np.diff(ends))
    loss = np.concatenate([[ratio], ratio - 2 * ends[1:], [-ratio]])
    return Direction(loss, np.concatenate([[0.5], between, [0.5 * math.exp(-ratio)]]), ratio)


def direct_losses(replay: Replay, synthesizer: Synthesizer, n: int) -> list[DirectLoss]:
    """The worst neighbour of each kind, of the same cost those that are easiest to tell.

    Args:
        replay: the replicate; D is the first n records of its universe.
        synthesizer: the direct release.
        n: records of D.

    Raises:
        ValueError: no loss is known for its mechanism.
    """
    base, x = _counts(replay, synthesizer, np.arange(n)), replay.universe.x[:n]
    ends = {"smallest": [int(x.argmin())], "largest": [int(x.argmax())]}
    found = []
    for neighbours in (removed(n, ends) if n > 1 else [], added(n, len(replay.universe))):
        found += _worst(replay, synthesizer, base, neighbours)
    if len(found) == 2 and (out := found[0].neighbour.removed) is not None:
        changed = [replaced(n, out, k) for k in range(n, len(replay.universe))]
        found += _worst(replay, synthesizer, base, changed)
    return found


def _worst(replay: Replay, synthesizer: Synthesizer, base: LaplaceCounts, neighbours: Sequence[Neighbour]) -> list[DirectLoss]:
    tried = len(neighbours)
    found = [DirectLoss(each, (base, _counts(replay, synthesizer, each.index)), tried) for each in neighbours]
    return sorted(found, key=lambda each: (-each.epsilon(0), each.fewest))[:1]


def _counts(replay: Replay, synthesizer: Synthesizer, index: Index) -> LaplaceCounts:
    counts = replay.release(synthesizer, index).counts
    if counts is None:
        raise ValueError(f"{synthesizer.id}: no privacy loss is known for {synthesizer.mechanism}, which releases directly")
    return counts


def attack_counts(loss: DirectLoss, n: int, runs: int, delta: float, seed: int) -> Attack:
    """Tell D from its neighbour by how many of n synthetic values are in the bin in which they differ.

    Args:
        loss: of the neighbour.
        n: synthetic values.
        runs: of the mechanism on each data set.
        delta: of the guarantee that is attacked.
        seed: of the noise and of the synthetic values.

    Raises:
        ValueError: the bins differ, or the counts do not.
    """
    if loss.more is None or not loss.more.any():
        raise ValueError("the attack needs a neighbour with the same bins and another count")
    at, generator, scores = int(np.flatnonzero(loss.more)[0]), np.random.default_rng(seed), []
    for side in loss.sides:
        kept = np.maximum(side.noisy(generator, runs), 0)
        total = kept.sum(axis=1)
        shares = np.where(total > 0, kept[:, at] / np.where(total > 0, total, 1), 1 / len(side.counts))
        # more synthetic values speak for the data set with more records there
        scores.append(loss.more[at] * generator.binomial(n, shares))
    return told_apart(scores[0], scores[1], delta)
