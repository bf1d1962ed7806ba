"""E22: the cost of the scores, which a record of any weight pays."""

import math

import numpy as np
from check import Row, at_most, numeric_check, simulated_delta

from formalsynth.core.gaussian import classical_sigma, gaussian_delta, gaussian_epsilon

EPSILON, SHARE, N, FEATURES, BLOCKS = 1.0, 0.2, 2800, 9, 4
"""ε of both stages, share of the scores, number of training records, and numbers of features and blocks of statistics."""
DELTA = 1 / N
CAPS = (0.05, 0.12)
"""Caps on the ε of a high-risk record."""


@numeric_check(
    "E22",
    printed="weights w_i that cap the ε of stage 2 cap the ε of the record",
    derived="the record pays both stages: one Gaussian release with μ² = μ₁² + w_i² μ₂²",
    notes=lambda: [
        f"ε of a record with weight {weight:g} at δ = 1/{N}: {gaussian_epsilon(1.0, math.hypot(*ratios(weight)), DELTA):.4f}"
        for weight in (0.0, 0.1, 0.5, 1.0)
    ],
)
def delta_of_a_capped_record():
    """Cost of a record whose weight caps its ε in stage 2, with a fifth of ε for the scores and noise as printed."""
    rows = []
    for cap in CAPS:
        weight = cap / (1 - SHARE) / EPSILON
        both_stages = gaussian_delta(1.0, math.hypot(*ratios(weight)), cap)
        simulated = simulated_delta(simulated_losses(weight), cap)
        rows.append(
            Row(f"δ needed at a cap of {cap:g}", at_most(DELTA), both_stages, simulated, "1,000,000 simulated privacy losses")
        )
    return rows


def ratios(weight):
    """Influence over noise in the two stages, with noise as printed."""
    scores = classical_sigma(math.sqrt(FEATURES), SHARE * EPSILON, DELTA / 2)
    block = classical_sigma(1.0, (1 - SHARE) * EPSILON / BLOCKS, DELTA / 2 / BLOCKS)
    return math.sqrt(FEATURES) / scores, weight * math.sqrt(BLOCKS) / block


def simulated_losses(weight):
    """Privacy losses over the noise of both stages, one coordinate each."""
    generator, loss = np.random.default_rng(22), np.zeros(1_000_000)
    for ratio in ratios(weight):
        noise = generator.standard_normal(len(loss))
        loss += ((noise + ratio) ** 2 - noise**2) / 2
    return loss
