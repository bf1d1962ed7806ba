"""The perturbed histogram: noisy bin counts on declared bounds.

Sources: censor paper (arXiv:2205.05003), Section 2.3; Wasserman and Zhou 2010 (doi:10.1198/jasa.2009.tm08651).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.constraints import CountOrZero, Finite, PositiveNumber
from formalsynth.core.mechanism import Context, DirectRelease, LaplaceCounts, mechanism
from formalsynth.core.neighbours import SENSITIVITY


def _with_declared_bins(parameters: Mapping[str, float]) -> float | None:
    """Return the factor of epsilon for adding or removing a record, which changes one count; None if it can change the bins."""
    return 1 / SENSITIVITY["replace"] if parameters["bins"] else None


@mechanism("DP (replace-one)", parents=0, id=8, strict={"replace": 1.0, "add_remove": _with_declared_bins})
def perturbed_histogram(
    context: Context, *, epsilon: PositiveNumber, low: Finite, high: Finite, bins: CountOrZero = 0
) -> DirectRelease:
    """Histogram with Laplace noise on declared bounds; synthetic values are uniform within a bin (censor paper, Section 2.3).

    ``bins`` = 0 uses the integer part of sqrt(n), which the paper describes as a choice that does not use the data.
    """
    x = context.records.x
    counts = laplace_counts(x, low, high, int(bins) or max(math.isqrt(len(x)), 1), epsilon)
    noisy = counts.noisy(context.address.generator("mechanism"), 1)
    return DirectRelease({"probability": shares(noisy)}, BinPredictor(low, high), epsilon, counts)


def laplace_counts(x: Array, low: float, high: float, bins: int, epsilon: float) -> LaplaceCounts:
    """Count the values in each bin, for adding Laplace noise (censor paper, Section 2.3).

    Args:
        x: (n,) values; those outside the declared bounds are counted in the nearest bin.
        low: declared lower bound.
        high: declared upper bound.
        bins: number of bins of equal width.
        epsilon: privacy budget for replacing a record.
    """
    counts = np.histogram(np.clip(x, low, high), bins=bins, range=(low, high))[0]
    return LaplaceCounts(counts.astype(float), SENSITIVITY["replace"] / epsilon)


def shares(noisy: Array) -> Array:
    """Compute probabilities (S, bins) from noisy counts (S, bins): clamped at 0 and normalized; uniform if all are clamped."""
    kept = np.maximum(noisy, 0)
    total = kept.sum(axis=1, keepdims=True)
    probabilities: Array = np.where(total > 0, kept / np.where(total > 0, total, 1), 1 / noisy.shape[1])
    return probabilities


@dataclass(frozen=True)
class BinPredictor:
    """Predictor of synthetic values from bin probabilities, uniform within each bin."""

    low: float
    high: float

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Draw a synthetic data set (n,) for each row of ``probability`` (S, bins)."""
        n = len(records.x)
        rows = []
        for probability in draws["probability"]:
            bins = len(probability)
            chosen = generator.choice(bins, size=n, p=probability)
            rows.append(self.low + (chosen + generator.random(n)) * (self.high - self.low) / bins)
        return np.stack(rows)
