"""E22: the cost of the scores, which a record of any weight pays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from formalsynth.core.gaussian import classical_sigma, gaussian_delta, gaussian_epsilon
from formalsynth.errata.check import Comparison, Interval, Reading, at_most, exactly, numeric_check, simulated_mean

EPSILON, SHARE, N, FEATURES, BLOCKS = 1.0, 0.2, 2800, 9, 4
"""ε of both stages, share of the scores, number of training records, and numbers of features and blocks of statistics."""
DELTA = 1 / N
CAPS = (0.05, 0.12)
"""Caps on the ε of a high-risk record."""


def _ratios(weight: float) -> tuple[float, float]:
    """Influence over noise in the two stages, with noise as printed."""
    scores = classical_sigma(math.sqrt(FEATURES), SHARE * EPSILON, DELTA / 2)
    block = classical_sigma(1.0, (1 - SHARE) * EPSILON / BLOCKS, DELTA / 2 / BLOCKS)
    return math.sqrt(FEATURES) / scores, weight * math.sqrt(BLOCKS) / block


def _both_stages(weight: float, epsilon: float) -> Interval:
    return exactly(float(gaussian_delta(1.0, math.hypot(*_ratios(weight)), epsilon)))


@numeric_check(
    "E22",
    printed=Reading("weights w_i that cap the ε of stage 2 cap the ε of the record", lambda weight, epsilon: at_most(DELTA)),
    derived=Reading("the record pays both stages: one Gaussian release with μ² = μ₁² + w_i² μ₂²", _both_stages),
    table=lambda: [
        f"ε of a record with weight {weight:g} at δ = 1/{N}: {gaussian_epsilon(1.0, math.hypot(*_ratios(weight)), DELTA):.4f}"
        for weight in (0.0, 0.1, 0.5, 1.0)
    ],
)
def delta_of_a_capped_record(formula: Callable[[float, float], Interval]) -> Sequence[Comparison]:
    """Cost of a record whose weight caps its ε in stage 2, with a fifth of ε for the scores and noise as printed."""
    return [
        Comparison(
            f"δ needed at a cap of {cap:g}", formula(cap / (1 - SHARE) / EPSILON, cap), _simulated(cap),
            "1,000,000 simulated privacy losses",
        )
        for cap in CAPS
    ]  # fmt: skip


def _simulated(cap: float) -> Interval:
    """Mean of ``(1 − exp(cap − loss))_+`` over the noise of both stages, one coordinate each."""
    generator, loss = np.random.default_rng(22), np.zeros(1_000_000)
    for ratio in _ratios(cap / (1 - SHARE) / EPSILON):
        noise = generator.standard_normal(len(loss))
        loss += ((noise + ratio) ** 2 - noise**2) / 2
    return simulated_mean(-np.expm1(np.minimum(cap - loss, 0.0)))
