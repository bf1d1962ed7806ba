"""The perturbed histogram: noisy bin counts on declared bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from formalsynth.families import Array, Draws, Records

SENSITIVITY = 2.0
"""L1 sensitivity of the counts when one record is replaced: it leaves one bin and enters another."""


def perturb(x: Array, low: float, high: float, bins: int, epsilon: float, generator: np.random.Generator) -> Array:
    """Bin probabilities under epsilon-DP (replace-one).

    Args:
        x: (n,) values; those outside the declared bounds count in the nearest bin.
        low: declared lower bound.
        high: declared upper bound.
        bins: number of bins of equal width.
        epsilon: privacy budget.
        generator: source of the Laplace noise.

    Returns:
        (bins,) probabilities: noisy counts clamped at 0 and scaled to 1, uniform where every count was clamped.

    Source: censor paper, Section 2.3.
    """
    counts, _ = np.histogram(np.clip(x, low, high), bins=bins, range=(low, high))
    noisy = np.maximum(counts + generator.laplace(scale=SENSITIVITY / epsilon, size=bins), 0)
    return noisy / noisy.sum() if noisy.sum() > 0 else np.full(bins, 1 / bins)


@dataclass(frozen=True)
class BinPredictor:
    """Synthetic values from bin probabilities, uniform inside each bin."""

    low: float
    high: float

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """One synthetic data set (n,) for each row of ``probability`` (S, bins)."""
        n = len(records["x"])
        rows = []
        for probability in draws["probability"]:
            bins = len(probability)
            chosen = generator.choice(bins, size=n, p=probability)
            rows.append(self.low + (chosen + generator.random(n)) * (self.high - self.low) / bins)
        return np.stack(rows)
