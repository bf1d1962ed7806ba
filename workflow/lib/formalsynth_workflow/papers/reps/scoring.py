"""Stage 1: private outlier scores from one-way histograms (REPS paper, Section 5.1 and Appendix B.2).

Neighbours are add/remove: a record is replaced with a null record that adds nothing to any count; n is public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth_workflow.papers.reps.tables import offsets

THRESHOLD_DRAWS = 100_000
"""Number of records drawn from the released frequencies for the quantile of their scores."""
COUNT_FLOOR = 1.0
"""Smallest value of a noisy count, so an empty cell has a finite score (chosen)."""


def histogram_cells(z: Array, categories: Integers, clip: float, bins: int) -> Integers:
    """Cell of each record in each feature's histogram (n, features), continuous features first.

    Args:
        z: (n, p) standardised numbers; values beyond the clip are counted in the outermost bin.
        categories: (n, q) category positions.
        clip: the bins divide ``[-clip, clip]`` evenly.
        bins: number of bins of a continuous feature.
    """
    cell = np.floor((np.clip(z, -clip, clip) + clip) * (bins / (2 * clip))).astype(np.int64)
    return np.hstack([np.minimum(cell, bins - 1), categories])


def histogram_sensitivity(features: int) -> float:
    """L2 sensitivity of all histograms together: a record contributes one count to each (Section 5.1)."""
    return float(np.sqrt(features))


@dataclass(frozen=True)
class Marginals:
    """Released histograms as one-way frequencies; all functions of them are post-processing."""

    sizes: tuple[int, ...]
    """Number of cells of each feature."""
    log_frequency: Array = field(repr=False)
    """(sum of sizes,)."""

    def scores(self, cells: Integers) -> Array:
        """Rarity ``-log frequency``, averaged over the features (chosen): (n,), nonnegative."""
        return np.asarray(-self.log_frequency[cells + offsets(self.sizes)].mean(axis=1))

    def draw(self, generator: np.random.Generator, n: int) -> Integers:
        """Cells of n records, whose features are drawn independently with the released frequencies."""
        ends = np.split(np.exp(self.log_frequency), np.cumsum(self.sizes)[:-1])
        return np.column_stack([generator.choice(len(p), size=n, p=p / p.sum()) for p in ends])


def release_marginals(cells: Integers, sizes: Sequence[int], sigma: float, generator: np.random.Generator) -> Marginals:
    """Release the histograms of all features jointly with Gaussian noise and form frequencies.

    Args:
        cells: (n, features) output of :func:`histogram_cells`.
        sizes: number of cells of each feature.
        sigma: noise standard deviation of a count; 0 for no noise.
        generator: source of the noise.
    """
    total = int(sum(sizes))
    counts = np.bincount((cells + offsets(sizes)).ravel(), minlength=total) + sigma * generator.standard_normal(total)
    counts = np.maximum(counts, COUNT_FLOOR)
    by_feature = np.add.reduceat(counts, offsets(sizes))
    return Marginals(tuple(sizes), np.log(counts) - np.log(np.repeat(by_feature, sizes)))


def threshold_of(
    scores: Array,
    marginals: Marginals,
    quantile: float,
    taken_from: Literal["records", "marginals"],
    generator: np.random.Generator,
) -> float:
    """Threshold tau of high scores.

    With ``records``, it is the quantile of their scores, as in the paper: a function of the confidential records outside the
    budget. With ``marginals``, it is the quantile under the released frequencies, which is post-processing.
    """
    if taken_from == "marginals":
        scores = marginals.scores(marginals.draw(generator, THRESHOLD_DRAWS))
    return float(np.quantile(scores, quantile))
