"""Privacy cost of risk-weighted DP-SGD, for a record of a given weight.

Whatever the other records are, a record of weight w pays at most what a Poisson-subsampled Gaussian with noise multiplier
``sigma / w`` pays, composed over the steps. Proof: ``docs/proofs/weighted_dpsgd.md``. Losses are composed by dp-accounting, whose
discretization never makes epsilon too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import scipy  # imports its submodules on first use

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import check_delta
from formalsynth.reps.stages import Budget, Cost

INTERVAL = 1e-3
"""Interval of the discretized losses; a smaller one is more precise and takes longer."""
Scope = Literal["fixed", "of the release"]
"""Scope of an epsilon: fixed in advance, or stated with a release, whose noisy tables determine which epsilon holds."""


@dataclass(frozen=True)
class SubsampledCost:
    """Cost of the steps of DP-SGD."""

    sigma: float
    """Standard deviation of the noise in units of the clipping norm; 0 for no noise."""
    rate: float
    """Probability that a record is in a batch."""
    steps: int
    interval: float = INTERVAL

    def epsilon(self, delta: float, weight: float = 1.0, before: float = 0.0) -> float:
        """Smallest epsilon at ``delta`` if a record is added or removed: see :meth:`formalsynth.reps.stages.Cost.epsilon`."""
        check_delta(delta)
        if before == math.inf or (weight > 0 and self.sigma == 0):
            return math.inf
        return float(self._loss(weight, before).get_epsilon_for_delta(delta))

    def delta(self, epsilon: float, weight: float = 1.0, before: float = 0.0) -> float:
        """Smallest delta at ``epsilon``; other arguments as in :meth:`epsilon`."""
        return float(self._loss(weight, before).get_delta_for_epsilon(epsilon))

    def replaced(self, delta: float, weight: float, other: float, before: float = 0.0) -> float:
        """Epsilon at ``delta`` if a record of this weight is replaced by one of another weight, both fixed.

        The replacement is a removal and an addition: ``delta(eps) <= delta_w(a) + exp(a) delta_w'(eps - a)`` for every a. The
        result is the larger of the two directions, each with the best a.
        """
        return max(self._hops(delta, weight, other, before), self._hops(delta, other, weight, before))

    def _hops(self, delta: float, weight: float, other: float, before: float) -> float:
        first, second = self._loss(weight, before), self._loss(other, before)

        def total(spent: float) -> float:
            rest = (delta - float(first.get_delta_for_epsilon(spent))) * math.exp(-spent)
            return spent + float(second.get_epsilon_for_delta(rest)) if rest > 0 else math.inf

        # at the ends, nearly all or nearly none of delta is spent on the first hop
        low, high = (float(first.get_epsilon_for_delta(delta * share)) for share in (1 - 1e-3, 1e-3))
        return float(scipy.optimize.minimize_scalar(total, bounds=(low, high), method="bounded").fun)

    def replaced_opposite(self, delta: float, weight: float) -> float:
        """Epsilon at ``delta`` if a record is replaced by another, both of at most this weight and given the noisy tables.

        The opposite gradient is the worst replacement; the proof card proves this.
        """
        return float(_subsampled(self.sigma / weight, self.rate, self.steps, self.interval, True).get_epsilon_for_delta(delta))

    def _loss(self, weight: float, before: float) -> Any:
        losses = [_gaussian(before, self.interval)] if before > 0 else []
        if weight > 0:
            losses.append(_subsampled(self.sigma / weight, self.rate, self.steps, self.interval, False))
        return losses[0].compose(losses[1]) if len(losses) == 2 else losses[0] if losses else _nothing(self.interval)


def sigma_for(budget: Budget, rate: float, steps: int, before: float = 0.0) -> float:
    """Noise of each step, in units of the clipping norm, with which a record of weight 1 has the budget; 0 for no noise.

    Args:
        budget: epsilon and delta; an infinite epsilon means no noise.
        rate: probability that a record is in a batch.
        steps: number of steps.
        before: Gaussian cost mu of the releases before, which the budget includes.

    Raises:
        ValueError: the releases before spend the budget.
    """
    return 0.0 if math.isinf(budget.epsilon) else _sigma_for(budget, rate, steps, before)


@lru_cache(maxsize=256)
def _sigma_for(budget: Budget, rate: float, steps: int, before: float) -> float:
    if SubsampledCost(1.0, rate, steps).epsilon(budget.delta, 0.0, before) >= budget.epsilon:
        raise ValueError(f"the budget ε = {budget.epsilon:g} is spent before the first step")

    def excess(log_sigma: float) -> float:
        return SubsampledCost(math.exp(log_sigma), rate, steps).epsilon(budget.delta, 1.0, before) - budget.epsilon

    low = high = 0.0
    while excess(high) > 0:
        high += 1
    while excess(low) < 0:
        low -= 0.5
    sigma = math.exp(scipy.optimize.brentq(excess, low, high, xtol=1e-4))
    while excess(math.log(sigma)) > 0:  # the root may be on the wrong side
        sigma *= 1 + 1e-4
    return sigma


def rounded_up(weights: Array, levels: Sequence[float]) -> Array:
    """Smallest declared level that is not below each weight (n,).

    Raises:
        ValueError: a weight is above all levels.
    """
    ordered = np.sort(levels)
    if np.max(weights, initial=0.0) > ordered[-1]:
        raise ValueError(f"weights: given {np.max(weights):g}; allowed: at most the largest level {ordered[-1]:g}")
    return np.asarray(ordered[np.searchsorted(ordered, weights)])


@dataclass(frozen=True)
class StatedEpsilon:
    """Epsilon of a record with the scope in which it holds."""

    weight: float
    """Level of its weight; for the fixed epsilon the largest level."""
    epsilon: float
    delta: float
    """Delta of the complete statement."""
    scope: Scope


def epsilons_by_level(cost: Cost, levels: Sequence[float], delta: float, before: float = 0.0) -> tuple[StatedEpsilon, ...]:
    """Epsilon that is stated for the records of each level of weight, and the fixed epsilon, which is the last entry.

    Both stages are composed. An epsilon of the release holds for a record whose weight, given the noisy tables, is at this level,
    and is computed at delta divided by the number of levels. The fixed epsilon holds for all records, whatever the tables are.

    Args:
        cost: cost of stage 2.
        levels: declared levels of weight; weights are rounded up to them.
        delta: delta of the statement for one record.
        before: Gaussian cost mu of stage 1.
    """
    release = [
        StatedEpsilon(float(level), cost.epsilon(delta / len(levels), level, before), delta, "of the release")
        for level in sorted(levels, reverse=True)
    ]
    top = release[0].weight
    return (*release, StatedEpsilon(top, cost.epsilon(delta, top, before), delta, "fixed"))


@lru_cache(maxsize=256)
def _subsampled(sigma: float, rate: float, steps: int, interval: float, replace: bool) -> Any:
    """Privacy loss of composed Poisson-subsampled Gaussians of sensitivity 1."""
    accounting, losses = _library()
    relation = accounting.NeighboringRelation.REPLACE_ONE if replace else accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
    single = losses.from_gaussian_mechanism(
        sigma, sampling_prob=rate, value_discretization_interval=interval, neighboring_relation=relation
    )
    return single.self_compose(steps)


@lru_cache(maxsize=64)
def _gaussian(mu: float, interval: float) -> Any:
    """Privacy loss of a Gaussian release with sensitivity mu in units of the noise."""
    return _library()[1].from_gaussian_mechanism(1 / mu, value_discretization_interval=interval)


def _nothing(interval: float) -> Any:
    return _library()[1].identity(interval)


def _library() -> tuple[Any, Any]:
    """Import dp-accounting, which takes more than a second, when it is first needed."""
    import dp_accounting
    from dp_accounting.pld import privacy_loss_distribution

    return dp_accounting, privacy_loss_distribution
