"""One draw from a beta-divergence posterior (Jewson, Ghalebikesabi and Holmes 2023) with a bounded loss.

The loss of a record is ``-f(x)^b / b + c``, with the density f of a candidate, ``b = BETA - 1``, and ``c`` the integral of
``f^(b + 1)`` over ``b + 1``. It is clipped to an interval of declared width W, and the posterior is the prior times
``exp(-(epsilon / W) * sum of losses)``. An additional record multiplies each candidate's probability by a factor between
``exp(-epsilon / W * upper)`` and ``exp(-epsilon / W * lower)`` before scaling, so one exact draw is epsilon-DP for adding or
removing a record. (The paper's bound is for replacing one.) W depends on the declared candidates only. Densities are computed
on a scale on which they are bounded: the logit for shares, the logarithm for amounts. No library implements this mechanism.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaln, gammaln

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.tables import BETA, NEGATIVE_BINOMIAL, NORMAL

from .tasks import Task

POWER = 0.5
"""Value of b, which is beta minus 1, as in the paper's examples."""
CANDIDATES = 60
"""Number of candidates for each of two parameters."""
STEPS = 4000
"""Number of steps of the Markov chain for a regression."""
COUNTS = np.arange(2000.0)
"""Counts over which the integral is summed."""
WIDEST = 20.0
"""Largest standard deviation of a regression, as a multiple of the smallest one."""


@dataclass(frozen=True)
class Candidates:
    """Declared candidates of two parameters, with the bounds of their losses."""

    first: Array
    """(G,) first parameters."""
    second: Array
    """(G,) second parameters."""
    log_density: Callable[[Array, Array, Array], Array]
    """Log density of values (n,) under parameters (G, 1)."""
    integral: Array
    """(G,) the constant c of each candidate."""
    log_peak: Array
    """(G,) logarithm of the largest density of each candidate."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest loss of any value under any candidate."""
        lowest = self.integral - np.exp(POWER * self.log_peak) / POWER
        return float(lowest.min()), float(self.integral.max())

    def losses(self, values: Array, weights: Array) -> Array:
        """Sum the clipped losses (G,) over values (u,), each multiplied by its weight (u,), the number of its occurrences."""
        lower, upper = self.bounds
        total = np.empty(len(self.first))
        for start in range(0, len(total), 200):
            part = slice(start, start + 200)
            density = self.log_density(values, self.first[part, None], self.second[part, None])
            loss = self.integral[part, None] - np.exp(POWER * np.nan_to_num(density, nan=-np.inf)) / POWER
            total[part] = np.clip(loss, lower, upper) @ weights
        return total


def log_probabilities(candidates: Candidates, values: Array, epsilon: float) -> Array:
    """Log probabilities (G,) of the candidates, up to a constant, with equal prior probabilities."""
    lower, upper = candidates.bounds
    distinct, number = np.unique(values, return_counts=True)
    return -epsilon / (upper - lower) * candidates.losses(distinct, number.astype(float))


@functools.cache
def candidates_of(task: Task) -> Candidates:
    """Return the declared candidates of a family without predictors.

    Raises:
        ValueError: no candidates are declared for this family.
    """
    if task.tabled.kind == BETA:
        first, second = _grid(np.geomspace(0.05, 20, CANDIDATES), np.geomspace(0.05, 20, CANDIDATES))
        integral = betaln(first * (1 + POWER), second * (1 + POWER)) - (1 + POWER) * betaln(first, second)
        total = first + second
        peak = first * np.log(first / total) + second * np.log(second / total) - betaln(first, second)
        return Candidates(first, second, _logit_beta, np.exp(integral) / (1 + POWER), peak)
    low, high = task.bins.edges[[0, -1]]
    if task.tabled.kind == NEGATIVE_BINOMIAL:
        first, second = _grid(np.geomspace(max(low, 1), high, CANDIDATES), np.geomspace(0.5, 200, CANDIDATES))
        table = _negative_binomial(COUNTS, first[:, None], second[:, None])
        integral = np.exp((1 + POWER) * table).sum(axis=1) / (1 + POWER)
        return Candidates(first, second, _negative_binomial, integral, table.max(axis=1))
    if task.tabled.kind == NORMAL:
        first, second = _grid(np.linspace(low, high, CANDIDATES), np.geomspace(task.spread, high - low, CANDIDATES))
        return Candidates(first, second, _normal, _normal_integral(second), -np.log(second) - 0.5 * np.log(2 * np.pi))
    raise ValueError(f"no candidates are declared for the family {task.family}")


def _grid(first: Array, second: Array) -> tuple[Array, Array]:
    pairs = np.meshgrid(first, second, indexing="ij")
    return pairs[0].ravel(), pairs[1].ravel()


def _logit_beta(x: Array, first: Array, second: Array) -> Array:
    inside = np.clip(x, 1e-300, 1 - 1e-16)
    return np.asarray(first * np.log(inside) + second * np.log1p(-inside) - betaln(first, second))


def _negative_binomial(x: Array, mu: Array, phi: Array) -> Array:
    below = gammaln(x + phi) - gammaln(phi) - gammaln(x + 1)
    return np.asarray(below + phi * np.log(phi / (phi + mu)) + x * np.log(mu / (phi + mu)))


def _normal(x: Array, mean: Array, sd: Array | float) -> Array:
    return np.asarray(-0.5 * ((x - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi))


def _normal_integral(sd: Array | float) -> Array:
    """Constant c of a normal density: the integral of its power, divided by the power."""
    return np.asarray((np.asarray(sd) * np.sqrt(2 * np.pi)) ** -POWER * (1 + POWER) ** -1.5)


def beta_divergence(task: Task, records: Records, epsilon: float, generator: np.random.Generator) -> Draws:
    """Make one draw from the posterior; for a regression by a Markov chain, although the guarantee assumes an exact draw."""
    if records.design.shape[1] > 1:
        return _regression(task, records, epsilon, generator)
    candidates = candidates_of(task)
    values = task.scaled(records.x) if task.tabled.kind == NORMAL else records.x
    log_mass = log_probabilities(candidates, values, epsilon)
    chosen = int(np.argmax(log_mass + generator.gumbel(size=len(log_mass))))
    first, second = candidates.first[chosen], candidates.second[chosen]
    declared = task.tabled
    if declared.kind == BETA:
        return declared.of(np.array([[np.log(first / second)]]), np.array([first + second]))
    if declared.kind == NEGATIVE_BINOMIAL:
        return declared.of(np.array([[np.log(first)]]), np.array([1 / second]))
    return declared.of(np.array([[first]]), np.array([second]))


def regression_bounds(spread: float) -> tuple[float, float]:
    """Smallest and largest loss of a normal regression whose standard deviation is at least ``spread``."""
    peak = (spread * np.sqrt(2 * np.pi)) ** -POWER
    return float(_normal_integral(spread) - peak / POWER), float(_normal_integral(spread))


def regression_loss(theta: Array, design: Array, y: Array, spread: float) -> float:
    """Sum of clipped losses under coefficients and log standard deviation (p + 1,); infinite outside the declared range."""
    sd = float(np.exp(theta[-1]))
    if not spread <= sd <= WIDEST * spread:
        return float("inf")
    lower, upper = regression_bounds(spread)
    loss = _normal_integral(sd) - np.exp(POWER * _normal(y, design @ theta[:-1], sd)) / POWER
    return float(np.clip(loss, lower, upper).sum())


def _regression(task: Task, records: Records, epsilon: float, generator: np.random.Generator) -> Draws:
    """Draw by random walk Metropolis started at the mode, in centred units; the prior is flat inside the declared bounds."""
    low, high = task.bins.edges[[0, -1]]
    centre, half = (task.predictor[0] + task.predictor[1]) / 2, (task.predictor[1] - task.predictor[0]) / 2
    design = np.column_stack([np.ones(len(records)), (records.design[:, 1:] - centre) / half])
    y, p = task.scaled(records.x), design.shape[1]
    limit = np.array([(high - low) / 2, *[high - low] * (p - 1)])
    lower, upper = regression_bounds(task.spread)
    rate = epsilon / (upper - lower)

    def energy(theta: Array) -> float:
        inside = np.abs(theta[:-1] - np.array([(low + high) / 2, *[0.0] * (p - 1)])) <= limit
        return rate * regression_loss(theta, design, y, task.spread) if inside.all() else float("inf")

    least = np.linalg.lstsq(design, y, rcond=None)[0]
    start = np.append(least, np.log(np.clip(np.std(y - design @ least), 1.05 * task.spread, 0.95 * WIDEST * task.spread)))
    mode = minimize(energy, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-3, "fatol": 1e-3}).x
    theta = _walk(energy, mode, generator)
    slopes = theta[1:-1] / half
    return task.tabled.of(np.array([[theta[0] - slopes.sum() * centre, *slopes]]), np.exp(theta[-1:]))


def _walk(energy: Callable[[Array], float], start: Array, generator: np.random.Generator) -> Array:
    """Return the state after :data:`STEPS` steps; in the first half, their size adapts to the covariance of earlier states."""
    theta, current, d = start, energy(start), len(start)
    root: Array = 0.02 * np.eye(d)
    states: list[Array] = []
    for step in range(STEPS):
        if step in (STEPS // 8, STEPS // 4, STEPS // 2):
            covariance = np.asarray(np.cov(np.array(states[-step // 2 :]).T), dtype=np.float64)
            root = np.linalg.cholesky(covariance * 2.4**2 / d + 1e-10 * np.eye(d)).astype(np.float64)
        proposal = theta + root @ generator.standard_normal(d)
        value = energy(proposal)
        if np.log(generator.random()) < current - value:
            theta, current = proposal, value
        states.append(theta)
    return theta
