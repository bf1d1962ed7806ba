"""E20: the classical formula of Gaussian noise at large ε."""

import numpy as np
from check import Row, at_most, numeric_check, simulated_delta

from formalsynth.core.gaussian import classical_sigma, gaussian_delta

DELTA, EPSILONS = 1 / 319, (1.0, 4.0, 7.0, 8.0, 16.0)
"""δ of the paper for Breast Cancer, and values of ε that the formula states."""


@numeric_check(
    "E20",
    printed="σ = Δ sqrt(2 log(1.25/δ)) / ε gives (ε, δ)-DP at every ε",
    derived="δ(ε) = Φ(Δ/(2σ) − εσ/Δ) − exp(ε) Φ(−Δ/(2σ) − εσ/Δ)",
)
def delta_of_the_classical_formula():
    """Noise with σ from the classical formula, for δ = 1/319."""
    rows, how = [], "1,000,000 simulated privacy losses"
    for epsilon in EPSILONS:
        sigma = classical_sigma(1.0, epsilon, DELTA)
        noise = np.random.default_rng(20).normal(0.0, sigma, 1_000_000)
        simulated = simulated_delta(((noise + 1) ** 2 - noise**2) / (2 * sigma**2), epsilon)
        rows.append(Row(f"δ needed at ε = {epsilon:g}", at_most(DELTA), gaussian_delta(sigma, 1.0, epsilon), simulated, how))
    return rows
