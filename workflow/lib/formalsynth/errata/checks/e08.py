"""E8: steps of risk-equalised synthesis that look at the records and are outside its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import analytic_sigma, classical_sigma, gaussian_delta
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check, simulated_mean
from formalsynth.papers.reps.weighting import hinge_weights

N, CLIP, UPPER = 1000, 4.0, 10.0
"""Training records, half of each class; the clip of standardised numbers; the declared upper bound, where the record joins."""
EPSILON, DELTA, TAIL, STRENGTH = 1.0, 1e-3, 0.9, 1.0
"""The noise is made for this ε and δ; τ is this quantile of the scores, and λ the strength of the weights."""


@dataclass(frozen=True)
class Accounting:
    """How far released sums move, and how much noise is taken."""

    joining: Callable[[Array], float]
    """From the values (n,), the first half of class 0, to the distance when a record at the bound joins class 1."""
    leaving: Callable[[Array], float]
    """From the clipped values (n,), which are the scores too, to the distance when the largest leaves."""
    sigma: Callable[[float, float, float], float]
    """From sensitivity, ε and δ."""


def _own_joining(x: Array) -> float:
    """The record's own contribution at most: centre and scale do not move."""
    return CLIP


def _joining(x: Array) -> float:
    """With the centre c' = c + (u − c)/(n+1) and the scale k'² = n (k² + (u − c)²/(n+1)) / (n+1) of all n + 1 records."""
    n, c, k = len(x), float(x.mean()), float(x.std())
    gap = UPPER - c
    centre, scale = c + gap / (n + 1), np.sqrt(n * (k**2 + gap**2 / (n + 1)) / (n + 1))
    first, second = ((n / 2) * ((half.mean() - centre) / scale - (half.mean() - c) / k) for half in np.split(x, 2))
    return float(np.hypot(first, second + min((UPPER - centre) / scale, CLIP)))


def _own_leaving(u: Array) -> float:
    """The record's weight times its contribution."""
    return float((hinge_weights(u, float(np.quantile(u, TAIL)), STRENGTH) * u)[u.argmax()])


def _leaving(u: Array) -> float:
    """With the change of the others' weights: those above both thresholds are multiplied by exp(λ (τ' − τ))."""
    top, rest = u.argmax(), np.delete(u, u.argmax())
    tau, after = float(np.quantile(u, TAIL)), float(np.quantile(rest, TAIL))
    weights = hinge_weights(u, tau, STRENGTH)
    others, above = np.delete(weights, top), rest > max(tau, after)
    between = (rest > min(tau, after)) & ~above
    lost = (1 - np.exp(STRENGTH * (after - tau))) * float((others * rest)[above].sum())
    lost += float(((others - hinge_weights(rest, after, STRENGTH)) * rest)[between].sum())
    return float(weights[top] * u[top] + lost)


@numeric_check(
    "E8",
    printed=Reading(
        "a record moves the sums by w_i |u_i|, at most the clip; σ = Δ sqrt(2 log(1.25/δ)) / ε",
        Accounting(_own_joining, _own_leaving, classical_sigma),
    ),
    derived=Reading(
        "it moves centre, scale and τ too: |w_i u_i + Σ_(j≠i) (w_j u_j − w'_j u'_j)|; σ from the exact curve",
        Accounting(_joining, _leaving, analytic_sigma),
    ),
)
def distances_of_released_sums(formula: Accounting) -> Sequence[Comparison]:
    """What one record does to the sums of 1000 standardised records, and what noise made for the clip then gives."""
    generator = np.random.default_rng(8)
    x = np.append(*(np.clip(generator.normal(mean, 1.0, N // 2), mean - 3, mean + 3) for mean in (-1.0, 1.0)))
    u = np.clip(generator.exponential(1.0, N), 0.0, CLIP)
    joined = _moved_by_joining(x)
    says, size = formula.joining(x), float(np.linalg.norm(joined))
    sigma = analytic_sigma(CLIP, EPSILON, DELTA)
    return [
        Comparison("distance when a record joins", exactly(says), near(size, 1e-9 * size), "all standardised anew"),
        Comparison(
            "δ needed at ε = 1, δ = 0.001 spent", exactly(float(gaussian_delta(sigma, says, EPSILON))),
            _simulated_delta(size, sigma), "100,000 simulated privacy losses",
        ),
        Comparison(
            "distance when a record leaves", exactly(formula.leaving(u)), near(_moved_by_leaving(u), 1e-9),
            "τ and all weights computed anew",
        ),
        *(_noise(formula, epsilon) for epsilon in (4.0, 20.0)),
    ]  # fmt: skip


def _standardised(x: Array) -> Array:
    return np.clip((x - x.mean()) / x.std(), -CLIP, CLIP)


def _moved_by_joining(x: Array) -> Array:
    """The sums by class (2,) after less those before."""
    before, after = _standardised(x), _standardised(np.append(x, UPPER))
    half = len(x) // 2
    return np.array([after[:half].sum() - before[:half].sum(), after[half:].sum() - before[half:].sum()])


def _moved_by_leaving(u: Array) -> float:
    rest = np.delete(u, u.argmax())
    sums = [float((hinge_weights(each, float(np.quantile(each, TAIL)), STRENGTH) * each).sum()) for each in (u, rest)]
    return sums[0] - sums[1]


def _simulated_delta(distance: float, sigma: float) -> Interval:
    """The δ at :data:`EPSILON` of sums that far apart with noise: the mean of ``(1 − exp(ε − loss))_+``."""
    noise = np.random.default_rng(88).normal(0.0, sigma, 100_000)
    loss = ((noise - distance) ** 2 - noise**2) / (2 * sigma**2)
    return simulated_mean(-np.expm1(np.minimum(EPSILON - loss, 0.0)))


def _noise(formula: Accounting, epsilon: float) -> Comparison:
    """The δ of a calibration at the paper's largest ε, and beyond."""
    delta = 1 / 2800
    needed = float(gaussian_delta(formula.sigma(1.0, epsilon, delta), 1.0, epsilon))
    found = Interval(0.0, delta * (1 + 1e-9))
    return Comparison(f"δ needed with σ made for ε = {epsilon:g}", exactly(needed), found, "δ = 1/2800, that of the paper, spent")
