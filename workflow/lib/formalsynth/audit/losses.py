"""Privacy loss between the outputs on two neighbouring data sets, and the epsilon at a given delta.

Two output distributions are represented by masses on shared points: the cells of a grid, or draws with importance weights. With
``L = log p(theta | D) - log p(theta | D')``, ``delta(eps) = E[(1 - exp(eps - L))_+]`` under ``D``. The audited epsilon at delta
is the smallest epsilon with ``delta(eps) <= delta`` in both directions, a lower bound of the epsilon that a mechanism can claim.

For several releases, losses are rounded down to multiples of an interval, which keeps the result a lower bound, and their
distribution is convolved with itself by the Fourier transform, as in the library dp-accounting, the reference of the tests. One
release is computed without rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.fft import next_fast_len

from formalsynth.core.arrays import Array
from formalsynth.core.private import DiscreteLaplaceCounts

INTERVAL = 1e-3
"""Interval to whose multiples losses are rounded down before several releases are composed."""
MOST_CELLS = 8000
"""Largest number of cells of a rounded distribution; a wider distribution gets a larger interval."""
DROPPED = 1e-4
"""Share of delta that is cut off from each tail before rounding, which may lower epsilon slightly but never raises it."""
GAP = 0.1
"""Difference of losses that limits how many of them are needed for one epsilon."""


@dataclass(frozen=True)
class Direction:
    """Privacy loss of one output distribution against another: losses with their probabilities under the first."""

    loss: Array
    """(G,) losses; infinite at points where the other distribution has no mass."""
    mass: Array
    """(G,) probabilities, which sum to 1."""
    largest: float | None = None
    """Supremum of the loss over all outputs, if known."""
    drawn: bool = False
    """True if the points are draws."""
    _known: dict[tuple[float, int], float] = field(default_factory=dict, repr=False)
    """Values of epsilon that were computed before, by delta and number of releases."""

    @cached_property
    def _tails(self) -> tuple[Array, Array, Array, float]:
        """Losses in decreasing order, their masses, their tail masses, and the infinite mass."""
        kept = self.mass > 0
        loss, mass = self.loss[kept], self.mass[kept]
        unbounded = np.isposinf(loss)
        infinite = float(mass[unbounded].sum())
        order = np.argsort(-loss[~unbounded])
        loss, mass = loss[~unbounded][order], mass[~unbounded][order]
        return loss, mass, infinite + np.cumsum(mass), infinite

    def epsilon(self, delta: float, releases: int = 1) -> float:
        """Smallest nonnegative epsilon that holds at this delta in this direction, for independent draws.

        Args:
            delta: from 0 to 1; 0 gives the supremum of the loss.
            releases: m, the number of released draws.
        """
        if delta == 0:
            return self.supremum * releases
        if (delta, releases) not in self._known:
            self._known[delta, releases] = self._composed(delta, releases) if releases > 1 else _smallest(*self._tails, delta)
        return self._known[delta, releases]

    def error(self, delta: float) -> float:
        """Monte Carlo standard error of ``epsilon(delta)``; 0 unless the points are draws and epsilon is positive and finite."""
        epsilon = self.epsilon(delta) if delta > 0 else math.inf
        if not (self.drawn and 0 < epsilon < math.inf):
            return 0.0
        inside = self.loss > epsilon
        excess = self.mass[inside] * -np.expm1(epsilon - self.loss[inside])
        slope = float(np.exp(epsilon - self.loss[inside]) @ self.mass[inside])
        return float(np.sqrt(excess @ excess)) / slope if slope > 0 else math.inf

    @property
    def supremum(self) -> float:
        """Largest loss with positive mass: the epsilon of pure DP."""
        if self.largest is not None:
            return max(0.0, self.largest)
        kept = self.loss[self.mass > 0]
        return max(0.0, float(kept.max())) if len(kept) else 0.0

    def _composed(self, delta: float, releases: int) -> float:
        loss, _, tail, infinite = self._tails
        if infinite > delta or not len(loss):
            return math.inf if infinite > delta else 0.0
        mass = np.diff(tail, prepend=infinite)
        kept = (tail - infinite > DROPPED * delta) & (tail[-1] - tail + mass > DROPPED * delta)
        loss, mass = loss[kept], mass[kept]
        interval = max(INTERVAL, float(np.ptp(loss)) / MOST_CELLS)
        cells = np.floor(loss / interval).astype(np.int64)
        single = np.bincount(cells - cells.min(), mass)
        size = releases * (len(single) - 1) + 1
        length = next_fast_len(size + 1, real=True)
        composed = np.fft.irfft(np.fft.rfft(single, length) ** releases, length)[:size][::-1]
        losses = np.asarray(interval * (releases * int(cells.min()) + np.arange(size))[::-1], dtype=float)
        # an infinite loss in one release makes the composed loss infinite
        unbounded = -math.expm1(releases * math.log1p(-infinite))
        above: Array = composed[composed > 0].astype(float, copy=False)
        return _smallest(losses[composed > 0], above, unbounded + np.cumsum(above), unbounded, delta)


def _smallest(loss: Array, mass: Array, tail: Array, infinite: float, delta: float) -> float:
    """Smallest nonnegative epsilon that holds at this delta, from losses in decreasing order; see :attr:`Direction._tails`."""
    if infinite > delta:
        return math.inf
    size = _needed(loss, tail, delta)
    loss, tail, log_other = loss[:size], tail[:size], _log_other(loss[:size], mass[:size])
    beyond = tail - np.exp(np.minimum(loss + log_other, 0.0))
    first = int(np.searchsorted(beyond, delta, side="right"))
    if first == 0:
        return max(0.0, float(loss[0])) if len(loss) else 0.0
    rest = float(tail[first - 1]) - delta
    return max(0.0, math.log(rest) - float(log_other[first - 1])) if rest > 0 else 0.0


def _log_other(loss: Array, mass: Array) -> Array:
    """Log tail masses (G,) under the other distribution."""
    return np.logaddexp.accumulate(np.log(mass) - loss) if len(loss) else loss


def _needed(loss: Array, tail: Array, delta: float) -> int:
    """Count the largest losses among which delta is exceeded.

    At a loss that is smaller by a gap than some others, delta is at least ``1 - exp(-gap)`` times the mass of these others.

    Args:
        loss: (G,) losses in decreasing order.
        tail: (G,) their tail masses.
        delta: the delta.
    """
    enough = int(np.searchsorted(tail, delta / (1 - 1e-9) / -math.expm1(-GAP)))
    return len(loss) - int(np.searchsorted(loss[::-1], loss[enough] - GAP)) + 1 if enough < len(loss) else len(loss)


def discrete_laplace_loss(ratio: float, cells: int) -> Direction:
    """Loss of several counts with discrete Laplace noise of scale 1 / ratio, between neighbours whose counts differ by 1.

    For a count c against c + 1, the loss is ``ratio`` at outputs up to c, whose probability is ``1 / (1 + exp(-ratio))``, and
    ``-ratio`` elsewhere. The number of cells with the larger loss is therefore binomial.
    """
    from scipy.stats import binom

    larger = np.arange(cells + 1.0)
    mass = np.asarray(binom.pmf(larger, cells, 1 / (1 + math.exp(-ratio))), dtype=np.float64)
    loss: Array = ratio * (2 * larger - cells)
    return Direction(loss, mass, ratio * cells)


def loss_of_counts(ours: DiscreteLaplaceCounts, theirs: DiscreteLaplaceCounts) -> Direction:
    """Loss of noisy counts between neighbours, the same in both directions.

    Raises:
        ValueError: a count differs by more than 1.
    """
    differs = np.abs(ours.counts - theirs.counts)
    if differs.max(initial=0) > 1:
        raise ValueError(f"a record changes a count by {differs.max():g}: the loss of discrete noise is known only for 1")
    return discrete_laplace_loss(1 / ours.scale, int(differs.sum()))


class Loss(Protocol):
    """Privacy loss between the outputs on two neighbouring data sets."""

    @property
    def note(self) -> str:
        """Note on the loss; usually empty."""

    def epsilon(self, delta: float, releases: int = 1) -> float:
        """Audited epsilon at this delta for this number of released draws."""

    def epsilons(self, delta: float, releases: int = 1) -> tuple[float, float]:
        """Audited epsilon under D and under D'."""

    def error(self, delta: float) -> float:
        """Compute the standard error of ``epsilon(delta)``."""

    def after(self, first: Direction) -> Loss:
        """Loss together with that of a first stage, which is the same under D and under D'."""


@dataclass(frozen=True)
class Losses:
    """Outputs on two neighbouring data sets D and D', as masses on shared points."""

    loss: Array
    """(G,) ``log p(theta | D) - log p(theta | D')``; infinite if one of the two has no mass."""
    mass: Array
    """(G,) probabilities under D."""
    other: Array
    """(G,) probabilities under D'."""
    suprema: tuple[float, float] | None = None
    """Suprema of the loss under D and under D' over all outputs, if known."""
    drawn: bool = False
    """True if the points are draws."""
    note: str = ""
    """Note on the losses; usually empty."""

    @classmethod
    def weighted(cls, loss: Array, log_weight: Array, suprema: tuple[float, float] | None = None) -> Losses:
        """Losses at draws of any distribution, weighted by the log ratio of the density of D to that distribution.

        Both masses are normalised to sum 1.
        """
        return cls(loss, np.exp(_normalised(log_weight)), np.exp(_normalised(log_weight - loss)), suprema, True)

    @classmethod
    def disjoint(cls) -> Losses:
        """Losses between two distributions with disjoint supports: infinite in both directions."""
        return cls(np.array([np.inf, -np.inf]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), (np.inf, np.inf))

    @cached_property
    def forward(self) -> Direction:
        """Loss under D against D'."""
        return Direction(self.loss, self.mass, None if self.suprema is None else self.suprema[0], self.drawn)

    @cached_property
    def backward(self) -> Direction:
        """Loss under D' against D."""
        return Direction(-self.loss, self.other, None if self.suprema is None else self.suprema[1], self.drawn)

    def after(self, first: Direction) -> Losses:
        """Losses together with those of a first stage, which are the same under D and under D'."""
        both, back = first.supremum, first.mass * np.exp(-first.loss)
        suprema = None if self.suprema is None else (self.suprema[0] + both, self.suprema[1] + both)
        loss = np.add.outer(self.loss, first.loss).ravel()
        mass, other = np.outer(self.mass, first.mass).ravel(), np.outer(self.other, back).ravel()
        return replace(self, loss=loss, mass=mass, other=other, suprema=suprema)

    def epsilon(self, delta: float, releases: int = 1) -> float:
        """Audited epsilon at this delta for this number of released draws; see :meth:`Direction.epsilon`."""
        return max(self.epsilons(delta, releases))

    def epsilons(self, delta: float, releases: int = 1) -> tuple[float, float]:
        """Audited epsilon under D and under D'."""
        return self.forward.epsilon(delta, releases), self.backward.epsilon(delta, releases)

    def error(self, delta: float) -> float:
        """Monte Carlo standard error of ``epsilon(delta)``; 0 unless the points are draws."""
        worse = max((self.forward, self.backward), key=lambda direction: direction.epsilon(delta))
        return worse.error(delta)


def _normalised(log_mass: Array) -> Array:
    largest = log_mass.max(initial=-np.inf)
    if not np.isfinite(largest):
        raise ValueError("the privacy loss is undefined: a distribution has no mass, or infinite mass")
    normalised: Array = log_mass - (largest + np.log(np.exp(log_mass - largest).sum()))
    return normalised
