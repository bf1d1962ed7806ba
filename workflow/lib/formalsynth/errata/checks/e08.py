"""E8: steps of risk-equalised synthesis that use the records but are not part of its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.gaussian import analytic_sigma, gaussian_delta
from formalsynth.errata.check import Comparison, Interval, Reading, exactly, near, numeric_check, simulated_mean
from formalsynth.papers.reps.weighting import hinge_weights

N, CLIP, UPPER = 1000, 4.0, 10.0
"""Number of training records, half in each class; clip of standardised numbers; declared upper bound, also the added value."""
EPSILON, DELTA, TAIL, STRENGTH = 1.0, 1e-3, 0.9, 1.0
"""ε and δ of the noise; level of the quantile of the scores that gives τ; strength λ of the weights."""


@dataclass(frozen=True)
class Accounting:
    """Distances by which the released sums move."""

    joining: Callable[[Array], float]
    """Distance if a record at the bound is added to class 1, given the values (n,), whose first half is in class 0."""
    leaving: Callable[[Array], float]
    """Distance if the largest of the clipped values (n,), which are also the scores, is removed."""


def _own_joining(x: Array) -> float:
    """Distance from the record's own contribution only, with unchanged centre and scale."""
    return CLIP


def _joining(x: Array) -> float:
    """Distance with the centre c' = c + (u − c)/(n+1) and the scale k'² = n (k² + (u − c)²/(n+1)) / (n+1) of n + 1 records."""
    n, c, k = len(x), float(x.mean()), float(x.std())
    gap = UPPER - c
    centre, scale = c + gap / (n + 1), np.sqrt(n * (k**2 + gap**2 / (n + 1)) / (n + 1))
    first, second = ((n / 2) * ((half.mean() - centre) / scale - (half.mean() - c) / k) for half in np.split(x, 2))
    return float(np.hypot(first, second + min((UPPER - centre) / scale, CLIP)))


def _own_leaving(u: Array) -> float:
    """Distance from the record's own contribution, weighted, only."""
    return float((hinge_weights(u, float(np.quantile(u, TAIL)), STRENGTH) * u)[u.argmax()])


def _leaving(u: Array) -> float:
    """Distance if the weights of the others change: those above both thresholds are multiplied by exp(λ (τ' − τ))."""
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
        "a record moves the sums by w_i |u_i|, at most the clip: weights and scale are fixed by stage 1",
        Accounting(_own_joining, _own_leaving),
    ),
    derived=Reading(
        "it also moves centre, scale and τ: |w_i u_i + Σ_(j≠i) (w_j u_j − w'_j u'_j)|",
        Accounting(_joining, _leaving),
    ),
)
def distances_of_released_sums(formula: Accounting) -> Sequence[Comparison]:
    """Effect of one record on the sums of 1000 standardised records, and the guarantee of noise calibrated for the clip."""
    generator = np.random.default_rng(8)
    x = np.append(*(np.clip(generator.normal(mean, 1.0, N // 2), mean - 3, mean + 3) for mean in (-1.0, 1.0)))
    u = np.clip(generator.exponential(1.0, N), 0.0, CLIP)
    joined = _moved_by_joining(x)
    distance, size = formula.joining(x), float(np.linalg.norm(joined))
    sigma = analytic_sigma(CLIP, EPSILON, DELTA)
    return [
        Comparison("distance when a record is added", exactly(distance), near(size, 1e-9 * size), "features standardised again"),
        Comparison(
            "δ needed at ε = 1, δ = 0.001 spent", exactly(float(gaussian_delta(sigma, distance, EPSILON))),
            _simulated_delta(size, sigma), "100,000 simulated privacy losses",
        ),
        *(
            Comparison(
                f"distance when {removed} is removed", exactly(formula.leaving(values)), near(_moved_by_leaving(values), 1e-9),
                "τ and all weights recomputed",
            )
            for removed, values in (("a record", u), ("one of 11 values 2 next to 90 values 1", np.repeat([1.0, 2.0], [90, 11])))
        ),
    ]  # fmt: skip


def _standardised(x: Array) -> Array:
    return np.asarray(np.clip((x - x.mean()) / x.std(), -CLIP, CLIP))


def _moved_by_joining(x: Array) -> Array:
    """Change of each class's sum (2,)."""
    before, after = _standardised(x), _standardised(np.append(x, UPPER))
    half = len(x) // 2
    return np.array([after[:half].sum() - before[:half].sum(), after[half:].sum() - before[half:].sum()])


def _moved_by_leaving(u: Array) -> float:
    rest = np.delete(u, u.argmax())
    sums = [float((hinge_weights(values, float(np.quantile(values, TAIL)), STRENGTH) * values).sum()) for values in (u, rest)]
    return sums[0] - sums[1]


def _simulated_delta(distance: float, sigma: float) -> Interval:
    """Simulate the δ at :data:`EPSILON` of noisy sums that are this distance apart: the mean of ``(1 − exp(ε − loss))_+``."""
    noise = np.random.default_rng(88).normal(0.0, sigma, 100_000)
    loss = ((noise - distance) ** 2 - noise**2) / (2 * sigma**2)
    return simulated_mean(-np.expm1(np.minimum(EPSILON - loss, 0.0)))
