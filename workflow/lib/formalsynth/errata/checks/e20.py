"""E20: the classical formula of Gaussian noise at large ε."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.gaussian import classical_sigma, gaussian_delta
from formalsynth.errata.check import Comparison, Interval, Reading, at_most, exactly, numeric_check, simulated_mean

DELTA, EPSILONS = 1 / 319, (1.0, 4.0, 7.0, 8.0, 16.0)
"""δ of the paper for Breast Cancer, and values of ε that the formula states."""
DeltaNeeded = Callable[[float, float], Interval]
"""Function that maps a noise scale for sensitivity 1 and an ε to the δ needed."""


@numeric_check(
    "E20",
    printed=Reading("σ = Δ sqrt(2 log(1.25/δ)) / ε gives (ε, δ)-DP at every ε", lambda sigma, epsilon: at_most(DELTA)),
    derived=Reading(
        "δ(ε) = Φ(Δ/(2σ) − εσ/Δ) − exp(ε) Φ(−Δ/(2σ) − εσ/Δ)",
        lambda sigma, epsilon: exactly(float(gaussian_delta(sigma, 1.0, epsilon))),
    ),
)
def delta_of_the_classical_formula(formula: DeltaNeeded) -> Sequence[Comparison]:
    """Noise with σ from the classical formula, for δ = 1/319."""
    return [_compared(formula, epsilon) for epsilon in EPSILONS]


def _compared(formula: DeltaNeeded, epsilon: float) -> Comparison:
    sigma = classical_sigma(1.0, epsilon, DELTA)
    how = "1,000,000 simulated privacy losses"
    return Comparison(f"δ needed at ε = {epsilon:g}", formula(sigma, epsilon), _simulated(sigma, epsilon), how)


def _simulated(sigma: float, epsilon: float) -> Interval:
    """Mean of ``(1 − exp(ε − loss))_+`` with a record of influence 1."""
    noise = np.random.default_rng(20).normal(0.0, sigma, 1_000_000)
    loss = ((noise + 1) ** 2 - noise**2) / (2 * sigma**2)
    return simulated_mean(-np.expm1(np.minimum(epsilon - loss, 0.0)))
