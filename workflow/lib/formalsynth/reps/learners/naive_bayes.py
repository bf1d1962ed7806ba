"""Stage 2: weighted clipped statistics with Gaussian noise, and the naive Bayes model sampled from them.

A record contributes four blocks to the slot of its label: the label count, one-hot categories, standardised numbers and
their squares. Each block is measured in units of its norm bound, and its noise is proportional to that bound. Sums are released
instead of the averages of Equation 2: n is public, so the two differ by a constant factor, which also multiplies the noise.

Neighbours are add/remove: a record is replaced with a null record that contributes zero (Section 3.1).
Source: REPS paper, Section 5.3 (Instantiation A) and Appendix B.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import special

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.domain import CLASSES, Domain, MixedRecords, offsets, one_hot
from formalsynth.reps.influence import ACCOUNTINGS, Noise
from formalsynth.reps.stages import LEARNERS, Budget, GaussianCost, Learned, check_weights

VARIANCE_FLOOR, LABEL_FLOOR = 0.01, 0.01
"""Smallest variance of a standardised number within a class, and smallest share of a class in the model (chosen)."""
TINY = 1e-300
"""Probability of a category without any count."""


@dataclass(frozen=True)
class Contributions:
    """Contributions of the records, before weighting."""

    rows: Array = field(repr=False)
    """(n, width) concatenated blocks, each clipped to its bound."""
    label: Integers = field(repr=False)
    """(n,) label of each record, which determines its slot."""
    bounds: Array = field(repr=False)
    """(width,) norm bound of the block that a column belongs to."""
    starts: tuple[int, ...]
    """First column of each block."""
    levels: tuple[int, ...]
    clip: float

    @property
    def sensitivity(self) -> float:
        """L2 sensitivity of the weighted sums in units of the bounds, for weights in [0, 1] (Lemma 1)."""
        return float(np.sqrt(len(self.starts)))

    @cached_property
    def norms(self) -> Array:
        """(n, blocks) norms of each record's own contribution (Definition 4 with weight 1)."""
        return self.block_norms(self.rows)

    @cached_property
    def influence(self) -> Array:
        """(n,) norm of each record's own contribution over all blocks."""
        return np.asarray(np.linalg.norm(self.norms, axis=1))

    def block_norms(self, rows: Array) -> Array:
        """Norms of the blocks of each row (rows, blocks), in units of the bounds."""
        return np.asarray(np.sqrt(np.add.reduceat(np.square(rows / self.bounds), self.starts, axis=1)))


def contributions(
    z: Array, categories: Integers, label: Integers, levels: Sequence[int], *, clip: float, norm_share: float = 1.0
) -> Contributions:
    """Encode records for release.

    Args:
        z: (n, p) standardised numbers, clipped here.
        categories: (n, q) category positions.
        label: (n,) 0 or 1.
        levels: (q,) number of values of each categorical feature.
        clip: limit; numbers are clipped to ``[-clip, clip]``.
        norm_share: bound on the norms of numbers and of squares, relative to their largest possible norms.
    """
    n, features = z.shape
    z = np.clip(np.nan_to_num(z), -clip, clip)  # a value that is not a number must not reach other records
    blocks = [
        (np.ones((n, 1)), 1.0),
        (one_hot(categories, levels), float(np.sqrt(len(levels)))),
        (z, norm_share * clip * float(np.sqrt(features))),
        (z**2, norm_share * clip**2 * float(np.sqrt(features))),
    ]
    blocks = [(rows, bound) for rows, bound in blocks if rows.shape[1]]
    widths = [rows.shape[1] for rows, _ in blocks]
    bounds = np.repeat([bound for _, bound in blocks], widths)
    starts = tuple(offsets(widths).tolist())
    return Contributions(np.hstack([_shorten(*block) for block in blocks]), label, bounds, starts, tuple(levels), clip)


def _shorten(rows: Array, bound: float) -> Array:
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1.0, np.divide(bound, norm, out=np.ones_like(norm), where=norm > 0)))


def weighted_sums(records: Contributions, weights: Array) -> Array:
    """Weighted sums of the contributions by label (2, width), without noise."""
    return np.stack([np.where(records.label == y, weights, 0.0) @ records.rows for y in range(CLASSES)])


def release_sums(records: Contributions, weights: Array, sigma: float, generator: np.random.Generator) -> Array:
    """Weighted sums by label (2, width), with Gaussian noise of ``sigma`` in units of the bounds; 0 for no noise.

    Raises:
        ValueError: a weight is outside [0, 1], for which the sensitivity is not valid.
    """
    check_weights(weights)
    sums = weighted_sums(records, weights)
    return sums + sigma * records.bounds * generator.standard_normal(sums.shape)


@dataclass(frozen=True)
class NaiveBayes:
    """Class-conditional model of standardised numbers and categories."""

    prior: float
    """Probability of label 1."""
    probabilities: tuple[Array, ...] = field(repr=False)
    """(2, levels) for each categorical feature."""
    mean: Array = field(repr=False)
    """(2, p)."""
    sd: Array = field(repr=False)
    """(2, p)."""
    clip: float

    def sample(self, generator: np.random.Generator, n: int) -> MixedRecords:
        """Draw n records, with numbers within the clip.

        The random numbers do not depend on the parameters, so methods are compared with equal draws.
        """
        label = (generator.random(n) < self.prior).astype(np.int64)
        z = self.mean[label] + self.sd[label] * generator.standard_normal((n, self.mean.shape[1]))
        uniform = generator.random((n, len(self.probabilities)))
        columns = [_inverse(table, label, uniform[:, j]) for j, table in enumerate(self.probabilities)]
        categories = np.column_stack(columns) if columns else np.empty((n, 0), dtype=np.int64)
        return MixedRecords(np.clip(z, -self.clip, self.clip), categories, label)

    def log_density(self, records: MixedRecords) -> Array:
        """Log density (n,), with the log probability of a clipped number at each end of the clip."""
        label, z = records.label, records.z
        scaled = (np.clip(z, -self.clip, self.clip) - self.mean[label]) / self.sd[label]
        inside = -(scaled**2) / 2 - np.log(self.sd[label] * np.sqrt(2 * np.pi))
        numbers = np.where(np.abs(z) < self.clip, inside, special.log_ndtr(-np.sign(z) * scaled))
        density = np.log(np.where(label == 1, self.prior, 1 - self.prior)) + numbers.sum(axis=1)
        for j, table in enumerate(self.probabilities):
            density += np.log(np.maximum(table[label, records.categories[:, j]], TINY))
        return np.asarray(density)


def _inverse(table: Array, label: Integers, uniform: Array) -> Integers:
    """Categories by inverse transform of the rows of a probability table (2, levels)."""
    values = np.empty(len(label), dtype=np.int64)
    for y in range(CLASSES):
        chosen = label == y
        ends = np.cumsum(table[y])[:-1]
        values[chosen] = np.searchsorted(ends, uniform[chosen], side="right")
    return values


def fit_naive_bayes(sums: Array, levels: Sequence[int], *, clip: float) -> NaiveBayes:
    """Estimate the model parameters from released sums, by post-processing.

    Noise can make counts negative and variances invalid. Counts are floored at 0 (a feature without counts gets a uniform
    distribution over its declared values) and class shares at :data:`LABEL_FLOOR`; means and variances are limited by the clip.

    Args:
        sums: (2, width) result of :func:`release_sums`.
        levels: number of values of each categorical feature.
        clip: clip of the standardised numbers.
    """
    width = sum(levels)
    features = (sums.shape[1] - 1 - width) // 2
    counts, cells, first, second = np.split(sums, [1, 1 + width, 1 + width + features], axis=1)
    total = max(float(counts.sum()), 1.0)
    share = float(np.clip(counts[1, 0] / total, LABEL_FLOOR, 1 - LABEL_FLOOR))
    counts = total * np.array([[1 - share], [share]])
    mean = np.clip(first / counts, -clip, clip)
    variance = np.clip(second / counts - mean**2, VARIANCE_FLOOR, clip**2)
    tables = np.split(cells, offsets(levels)[1:], axis=1) if width else []
    return NaiveBayes(share, tuple(_frequencies(table) for table in tables), mean, np.sqrt(variance), clip)


def _frequencies(table: Array) -> Array:
    table = np.maximum(table, 0.0)
    total = table.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(table, total, out=np.full_like(table, 1 / table.shape[1]), where=total > 0))


@LEARNERS.register("naive_bayes")
@dataclass(frozen=True)
class NaiveBayesLearner:
    """Instantiation A: naive Bayes from weighted clipped statistics with Gaussian noise."""

    noise: Noise = "joint"
    norm_share: float = 1.0

    def influence(self, domain: Domain, records: MixedRecords) -> Array:
        """Influence (n,) of each record on all blocks in the accounting of the noise, relative to its sensitivity."""
        norms = self._contributions(domain, records).norms
        accounting = ACCOUNTINGS[self.noise]
        return accounting.influence(norms) / accounting.influence(np.ones(norms.shape[1]))

    def fit(
        self, domain: Domain, records: MixedRecords, weights: Array, budget: Budget, generator: np.random.Generator
    ) -> Learned:
        """Fit the model; arguments as in :meth:`formalsynth.reps.stages.Learner.fit`."""
        rows = self._contributions(domain, records)
        sigma = 0.0
        if np.isfinite(budget.epsilon):
            sigma = ACCOUNTINGS[self.noise].sigma(len(rows.starts), budget.epsilon, budget.delta)
        model = fit_naive_bayes(release_sums(rows, weights, sigma, generator), domain.levels, clip=domain.clip)
        return Learned(model, GaussianCost.of(rows.sensitivity, sigma))

    def _contributions(self, domain: Domain, records: MixedRecords) -> Contributions:
        return contributions(
            records.z, records.categories, records.label, domain.levels, clip=domain.clip, norm_share=self.norm_share
        )
