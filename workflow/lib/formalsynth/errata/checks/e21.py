"""E21: the sum of the stages' ε for a record whose weight depends on the scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import gaussian_delta, gaussian_epsilon
from formalsynth.errata.check import Comparison, Interval, Reading, at_most, exactly, numeric_check, simulated_mean

DELTA = 1e-3
"""δ of both stages, half for each."""
OTHERS, THRESHOLD, SMALL = 2.0, 3.0, 0.1
"""Number of others with the record's value, noisy count from which the weight is 1, and weight below it."""
COUNT_NOISE, SUM_NOISE = 4.0, 1.0
"""Standard deviation of the noise on the count, and of the noise on the sum of weights."""


def _weight(count: Array) -> Array:
    """Weight of the record, given the noisy count (draws,)."""
    return np.where(count < THRESHOLD, SMALL, 1.0)


def _stated(weight: float) -> float:
    """Sum of the ε of both stages at half of δ each, for a fixed weight."""
    return gaussian_epsilon(COUNT_NOISE, 1.0, DELTA / 2) + gaussian_epsilon(SUM_NOISE, weight, DELTA / 2)


def _integrated(epsilon: float) -> Interval:
    """Integrate the δ of stage 2 at ε minus the loss of stage 1 over the noisy count."""
    count, step = np.linspace(OTHERS + 1 - 9 * COUNT_NOISE, OTHERS + 1 + 9 * COUNT_NOISE, 20_001, retstep=True)
    density = np.exp(-(((count - OTHERS - 1) / COUNT_NOISE) ** 2) / 2) / (COUNT_NOISE * np.sqrt(2 * np.pi))
    return exactly(float(step * density @ gaussian_delta(SUM_NOISE, _weight(count), epsilon - _count_loss(count))))


def _count_loss(count: Array) -> Array:
    """Privacy loss of the noisy count."""
    return np.asarray(((count - OTHERS) ** 2 - (count - OTHERS - 1) ** 2) / (2 * COUNT_NOISE**2))


@numeric_check(
    "E21",
    printed=Reading("ε₁ + ε₂(w) at δ₁ + δ₂ for the record, with its weight w held fixed", lambda epsilon: at_most(DELTA)),
    derived=Reading("δ(ε) = E_T[δ₂(ε − L₁(T), w(T))] over the scores T, with the privacy loss L₁ of the scores", _integrated),
)
def delta_of_a_sum_with_a_weight_from_the_scores(formula: Callable[[float], Interval]) -> Sequence[Comparison]:
    """Noisy sum of weights, in which a noisy count sets a record's weight to 0.1 or 1."""
    return [
        Comparison(
            f"δ needed at ε = {_stated(weight):.4g}, stated for weight {weight:g}", formula(_stated(weight)),
            _simulated(_stated(weight)), "1,000,000 simulated privacy losses",
        )
        for weight in (SMALL, 1.0)
    ]  # fmt: skip


def _simulated(epsilon: float) -> Interval:
    """Mean of ``(1 − exp(ε − loss))_+`` over both stages with the record."""
    generator = np.random.default_rng(21)
    count = generator.normal(OTHERS + 1, COUNT_NOISE, 1_000_000)
    weight = _weight(count)
    released = generator.normal(weight, SUM_NOISE)
    loss = _count_loss(count) + (released**2 - (released - weight) ** 2) / (2 * SUM_NOISE**2)
    return simulated_mean(-np.expm1(np.minimum(epsilon - loss, 0.0)))
