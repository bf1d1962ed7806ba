"""Direct releases and private fits: mechanisms whose privacy comes from noisy counts, with a loss in closed form.

The loss of Laplace noise on counts depends only on the counts that differ between two data sets. The audit covers the noisy
counts; the rest of the release is computed from them, and post-processing such as clamping and scaling can only lower the loss.
Any number of synthetic data sets drawn from one release add no loss to that of the release.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from formalsynth.audit.attack import Attack, attack_bound
from formalsynth.audit.losses import Direction, loss_of_counts
from formalsynth.audit.neighbours import Neighbour, added, removed, replaced
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Index
from formalsynth.core.mechanism import Counts, DirectRelease
from formalsynth.core.private import DiscreteLaplaceCounts
from formalsynth.core.selection import Selection, log_ratio
from formalsynth.core.synthesizer import Synthesizer

CELLS = 4000
"""Number of cells between the two extremes of the loss of a Laplace variable."""


@dataclass(frozen=True)
class DirectLoss:
    """Privacy loss of a direct release between D and one neighbour, equal in both directions."""

    neighbour: Neighbour
    sides: tuple[Counts, Counts]

    @property
    def more(self) -> np.ndarray | None:
        """Difference of the counts, D minus D', in each bin; None if the bins differ, which the release reveals."""
        ours, theirs = (side.counts for side in self.sides)
        return ours - theirs if len(ours) == len(theirs) else None

    def epsilon(self, delta: float) -> float:
        """Exact epsilon at delta; rounded down for continuous Laplace noise if two counts differ.

        Raises:
            ValueError: a count with discrete noise differs by more than 1.
        """
        if self.more is None:
            return math.inf
        ours, theirs = self.sides
        if isinstance(ours, DiscreteLaplaceCounts) and isinstance(theirs, DiscreteLaplaceCounts):
            return loss_of_counts(ours, theirs).epsilon(delta)
        differs = np.abs(self.more[self.more != 0])
        # the share of a single bin is always 1
        if not len(differs) or len(self.more) == 1:
            return 0.0
        return laplace_loss(float(differs[0]) / ours.scale).epsilon(delta, len(differs))

    @property
    def same_outputs(self) -> bool:
        """True if both data sets have the same bins."""
        return self.more is not None

    @property
    def fewest(self) -> float:
        """Number of records of D in the bins that differ; the attack is easier if there are fewer."""
        return 0.0 if self.more is None else float(self.sides[0].counts[self.more != 0].sum())


@dataclass(frozen=True)
class SelectionLoss:
    """Privacy loss of a selection among declared candidates between D and one neighbour, the larger of the two directions."""

    neighbour: Neighbour
    sides: tuple[Selection, Selection]
    same_outputs: bool = True
    """Always true: the candidates are declared, so every output is possible on both data sets."""

    @cached_property
    def largest(self) -> float:
        """Largest log ratio of the probabilities of an output, or a lower bound found stage by stage; see :func:`log_ratio`."""
        return log_ratio(*self.sides)

    def epsilon(self, delta: float) -> float:
        """Epsilon at delta: exact for one stage; for several, a lower bound, which uses only the first stage if delta > 0."""
        if delta == 0:
            return self.largest
        ours, theirs = (side.log_probability for side in self.sides)
        directions = Direction(ours - theirs, np.exp(ours)), Direction(theirs - ours, np.exp(theirs))
        return max(direction.epsilon(delta) for direction in directions)

    @property
    def fewest(self) -> float:
        """Zero: among neighbours with equal losses, none is known to be easier to distinguish."""
        return 0.0


Loss = DirectLoss | SelectionLoss


def laplace_loss(ratio: float) -> Direction:
    """Loss of one count with noise of scale 1 / ratio, between neighbours whose counts differ by 1."""
    # noise times the ratio, from 0 to the ratio; the loss decreases from ratio to -ratio
    ends = np.linspace(0, ratio, CELLS + 1)
    between = 0.5 * np.exp(-ends[:-1]) * -np.expm1(-np.diff(ends))
    loss = np.concatenate([[ratio], ratio - 2 * ends[1:], [-ratio]])
    return Direction(loss, np.concatenate([[0.5], between, [0.5 * math.exp(-ratio)]]), ratio)


def direct_losses(replay: Replay, synthesizer: Synthesizer, n: int) -> list[Loss]:
    """Worst neighbour of each kind; among equal losses, the one that is easiest to distinguish.

    Args:
        replay: the replicate; D is the first n records of its universe.
        synthesizer: the direct release.
        n: number of records of D.

    Raises:
        ValueError: the loss of its mechanism is unknown.
    """
    base, x = _source(replay, synthesizer, np.arange(n)), replay.universe.x[:n]
    ends = {"smallest": [int(x.argmin())], "largest": [int(x.argmax())]}
    worst: list[Loss] = []
    for neighbours in (removed(n, ends) if n > 1 else [], added(n, len(replay.universe))):
        worst += _worst(replay, synthesizer, base, neighbours)
    if len(worst) == 2 and (out := worst[0].neighbour.removed) is not None:
        changed = [replaced(n, out, k) for k in range(n, len(replay.universe))]
        worst += _worst(replay, synthesizer, base, changed)
    return worst


def _worst(replay: Replay, synthesizer: Synthesizer, base: Counts | Selection, neighbours: Sequence[Neighbour]) -> list[Loss]:
    losses = [_loss(neighbour, base, _source(replay, synthesizer, neighbour.index)) for neighbour in neighbours]
    return sorted(losses, key=lambda loss: (-loss.epsilon(0), loss.fewest))[:1]


def _loss(neighbour: Neighbour, base: Counts | Selection, other: Counts | Selection) -> Loss:
    if isinstance(base, Selection) and isinstance(other, Selection):
        return SelectionLoss(neighbour, (base, other))
    assert not isinstance(base, Selection) and not isinstance(other, Selection)
    return DirectLoss(neighbour, (base, other))


def _source(replay: Replay, synthesizer: Synthesizer, index: Index) -> Counts | Selection:
    """Noisy counts or selection from which the release is made."""
    made = replay.release(synthesizer, index)
    if isinstance(made, DirectRelease) and made.selection is not None:
        return made.selection
    counts = made.counts
    if counts is None:
        raise ValueError(f"{synthesizer.id}: the privacy loss of the direct release {synthesizer.mechanism} is unknown")
    return counts


def attack_counts(loss: DirectLoss, n: int, runs: int, delta: float, seed: int) -> Attack:
    """Distinguish D from its neighbour by the number of n synthetic values in the bin that differs.

    Args:
        loss: the loss between D and the neighbour.
        n: number of synthetic values.
        runs: number of runs of the mechanism on each data set.
        delta: delta of the attacked guarantee.
        seed: seed of the noise and of the synthetic values.

    Raises:
        ValueError: the bins differ, or the counts do not.
    """
    if loss.more is None or not loss.more.any():
        raise ValueError("the attack needs a neighbour with the same bins and a different count")
    at, generator, scores = int(np.flatnonzero(loss.more)[0]), np.random.default_rng(seed), []
    for side in loss.sides:
        counts = np.maximum(side.noisy(generator, runs), 0)
        total = counts.sum(axis=1)
        shares = np.where(total > 0, counts[:, at] / np.where(total > 0, total, 1), 1 / len(side.counts))
        # more synthetic values in the bin favour the data set with more records in it
        scores.append(loss.more[at] * generator.binomial(n, shares))
    return attack_bound(scores[0], scores[1], delta)
