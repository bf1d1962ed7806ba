"""Attack on weighted DP-SGD with one parameter, and planted violations of its proof.

The parameter is the mean of a few points. The attacker knows all other records, which of them are in each batch, and every noisy
step: the strongest position that the theorem allows. So the likelihood ratio of the two data sets, with and without one record,
is known exactly, and the mean of ``(1 - exp(epsilon - L))+`` over simulated trainings estimates the delta at epsilon.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array

OTHERS = np.linspace(-2, 2, 19)
ERROR = 1e-3
"""One minus the confidence of a lower limit."""
Law = tuple[Array, Array]
"""Mean and standard deviation (runs,) of a noisy step."""
Batches = tuple[Array, Array, Array]
"""Others in each batch (runs, others), the record (runs,), and log probabilities (3, runs) of these others up to a constant.

They are the probabilities with the record absent, present but not in the batch, and present and in the batch.
"""


def poisson(training: "Training", generator: np.random.Generator, runs: int, present: bool) -> Batches:
    """Draw batches to which each record belongs with the same probability."""
    rate = training.rate
    batch, mine = generator.random((runs, len(OTHERS))) < rate, (generator.random(runs) < rate) & present
    return batch, mine, np.tile(np.log([[1], [1 - rate], [rate]]), runs)


def fixed_size(training: "Training", generator: np.random.Generator, runs: int, present: bool) -> Batches:
    """Draw batches of a fixed size, in which the record takes the place of another one."""
    size = round(training.rate * training.n)
    drawn = generator.random((runs, len(OTHERS) + present)).argsort(axis=1).argsort(axis=1) < size
    batch, mine = drawn[:, : len(OTHERS)], drawn[:, -1] & present
    full = batch.sum(axis=1) == size
    with np.errstate(divide="ignore"):
        return batch, mine, np.log([full, full * (1 - size / training.n), ~full * size / training.n])


@dataclass(frozen=True)
class Training:
    """Training by weighted DP-SGD as proved; a violation replaces one of its functions, whose first argument is the training."""

    weight: float = 0.25
    record: float = 50.0
    n: int = 20
    sigma: float = 1.0
    rate: float = 0.2
    steps: int = 40
    step_size: float = 0.1
    points: Callable[..., Array] = lambda t, present: OTHERS
    start: Callable[..., float] = lambda t, present: 0.0
    weights: Callable[..., Array] = lambda t, present: np.ones(len(OTHERS))
    own: Callable[..., Array] = lambda t, theta: t.weight * np.clip(theta - t.record, -1, 1)
    divisor: Callable[..., Any] = lambda t, batch, present, mine: t.rate * t.n
    noise: Callable[..., Any] = lambda t, theta, batch, mine: t.sigma
    batches: Callable[..., Batches] = poisson

    def law(self, theta: Array, batch: Array, present: bool, mine: bool) -> Law:
        """Distribution of the noisy step, given the others in the batch, and whether the record is in it."""
        gradients = np.clip(theta[:, None] - self.points(self, present), -1, 1)
        total = (batch * self.weights(self, present) * gradients).sum(axis=1) + mine * self.own(self, theta)
        by = self.divisor(self, batch, present, mine)
        return total / by, np.broadcast_to(self.noise(self, theta, batch, mine) / by, theta.shape)

    def log_ratios(self, generator: np.random.Generator, runs: int, present: bool) -> tuple[Array, Array]:
        """Log likelihood ratio (runs,), with the record over without it, in trainings with or without it; last parameters."""
        theta = {side: np.full(runs, self.start(self, side)) for side in (True, False)}
        ratio = np.zeros(runs)
        for _ in range(self.steps):
            batch, mine, prior = self.batches(self, generator, runs, present)
            laws = [self.law(theta[side], batch, side, own) for side, own in ((False, False), (True, False), (True, True))]
            mean, sd = (np.where(mine, inside, outside) for outside, inside in zip(laws[int(present)], laws[2], strict=True))
            step = mean + sd * generator.standard_normal(runs)
            absent, out, inside = (p - ((step - m) / s) ** 2 / 2 - np.log(s) for p, (m, s) in zip(prior, laws, strict=True))
            ratio += np.logaddexp(out, inside) - absent
            theta = {side: value - self.step_size * step for side, value in theta.items()}
        return ratio, theta[present]


def shuffled(training: Training, present: bool) -> Array:
    """Permute weights in an order that the attacker knows."""
    weights = np.append(np.where(np.arange(len(OTHERS)) < 9, 0.25, 1.0), training.weight)[: training.n - (not present)]
    return np.random.default_rng(2).permutation(weights)[: len(OTHERS)]


def strength_of_records(training: Training, present: bool) -> Array:
    """Choose the strength lam by the loss of the records without noise."""
    strength = 4.0 if np.mean(np.append(OTHERS, [training.record] * present) ** 2) > 10 else 0.5
    return np.exp(-strength * np.maximum(np.abs(OTHERS) - 1, 0))


def norm_of_batch(training: Training, theta: Array, batch: Array, mine: bool) -> Array:
    """Clip to the largest norm in the batch, to which the noise is proportional."""
    norms = np.where(batch, np.abs(theta[:, None] - OTHERS), 0.1).max(axis=1)
    return training.sigma * np.maximum(norms, mine * np.abs(theta - training.record))


PROVED, IGNORED = Training(), Training(weight=0.0)
"""Training with a record of weight 0.25, and with one of weight 0, which pays nothing."""
VIOLATIONS: Mapping[str, tuple[Training, float]] = {
    "weight inside the loss": (replace(PROVED, own=lambda t, theta: np.clip(t.weight * (theta - t.record), -1, 1)), 1.0),
    "noise for the mean added to the sum": (replace(PROVED, noise=lambda t, *_: t.sigma / (t.rate * t.n)), 1.0),
    "divisor from the batch": (
        replace(IGNORED, divisor=lambda t, batch, present, mine: np.maximum(batch.sum(axis=1) + mine, 1)), 0.0,
    ),
    "divisor from the number of records": (
        replace(IGNORED, divisor=lambda t, batch, present, mine: t.rate * (t.n - (not present))), 0.0,
    ),
    "tau from the records": (
        replace(IGNORED, weights=lambda t, present: np.where((np.arange(len(OTHERS)) >= 16) & (not present), 0.25, 1.0)), 0.0,
    ),
    "standardised by the records": (replace(IGNORED, points=lambda t, present: OTHERS - present * t.record / t.n), 0.0),
    "first parameters from the records": (replace(IGNORED, start=lambda t, present: present * t.record / t.n), 0.0),
    "clipping norm from the batch": (replace(IGNORED, noise=norm_of_batch), 0.0),
    "weights rescaled to mean 1": (
        replace(IGNORED, weights=lambda t, present: np.full(len(OTHERS), t.n / (t.n - 1) if present else 1.0)), 0.0,
    ),
    "weights shuffled": (replace(IGNORED, weights=shuffled), 0.0),
    "lam from the loss of the records": (replace(IGNORED, weights=strength_of_records), 0.0),
    "batches of a fixed size": (replace(IGNORED, batches=fixed_size), 0.0),
}  # fmt: skip
"""Planted violations, each with the epsilon at which it is shown."""


def deltas(ratios: tuple[Array, Array], epsilon: float) -> tuple[float, float]:
    """Estimate of delta at epsilon from log ratios with and without the record, and a lower limit with 99.9 % confidence.

    The larger direction counts. The limit is the empirical Bernstein bound for numbers in [0, 1].
    Source: Maurer and Pontil (2009), Theorem 4.
    """
    estimates, limits = [], []
    tail = math.log(4 / ERROR)  # two directions
    for loss in (ratios[0], -ratios[1]):
        excess = np.maximum(0, -np.expm1(epsilon - loss))
        runs, mean = len(excess), float(excess.mean())
        estimates.append(mean)
        limits.append(mean - math.sqrt(2 * excess.var(ddof=1) * tail / runs) - 7 * tail / (3 * (runs - 1)))
    return max(estimates), max(0.0, *limits)


def attack(training: Training, runs: int, seed: int) -> tuple[Array, Array]:
    """Log ratios of trainings with the record and of trainings without it."""
    generator = np.random.default_rng(seed)
    return training.log_ratios(generator, runs, True)[0], training.log_ratios(generator, runs, False)[0]
