"""Stage 2: risk-weighted DP-SGD of a masked softmax generator (REPS paper, Section 5.3, Instantiation B, and Section 6.6).

The generator draws the declared cells of a record column by column, each from a softmax that is linear in the cells before. The
gradient of a record is the outer product of its cells and a residual, so its norm has a closed form, and a step is a few matrix
products.

What a record pays is proved for this order of operations: clip each gradient to the norm C, then multiply it by the weight; add
noise of standard deviation ``sigma C`` to the sum over a Poisson sample; divide by a declared constant. Nothing else is computed
from the records. Proof: ``docs/proofs/weighted_dpsgd.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.constraints import PositiveNumber
from formalsynth.reps.accounting import SubsampledCost, sigma_for
from formalsynth.reps.domain import CLASSES, Domain, MixedRecords, offsets, one_hot
from formalsynth.reps.stages import LEARNERS, Budget, Learned, check_weights

MOMENTA = (0.9, 0.999)
"""Decay of the first and the second moment of the steps (Adam)."""


@dataclass(frozen=True)
class Layout:
    """Cells of the columns, in the order in which they are drawn."""

    sizes: tuple[int, ...]
    """Number of cells of each column."""

    @cached_property
    def starts(self) -> Integers:
        """First cell of each column."""
        return offsets(self.sizes)

    @cached_property
    def mask(self) -> Array:
        """(cells + 1, cells): 1 where a cell, or the constant in the last row, enters the softmax of a later column."""
        column = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.vstack([column[:, None] < column, np.ones(len(column), dtype=bool)]).astype(np.float64)

    def inputs(self, codes: Integers) -> Array:
        """One-hot cells and the constant (n, cells + 1) of codes (n, columns)."""
        return np.column_stack([one_hot(codes, self.sizes), np.ones(len(codes))])

    def probabilities(self, theta: Array, inputs: Array) -> Array:
        """Probabilities (n, cells) of each column's cells given the columns before it."""
        logits = inputs @ theta
        logits -= np.repeat(np.maximum.reduceat(logits, self.starts, axis=1), self.sizes, axis=1)
        shares = np.exp(logits)
        return np.asarray(shares / np.repeat(np.add.reduceat(shares, self.starts, axis=1), self.sizes, axis=1))


def weighted_gradient(layout: Layout, theta: Array, codes: Integers, weights: Array, clip: float) -> Array:
    """Sum over records of the gradient of the negative log density, clipped to a norm and then weighted: like ``theta``.

    Args:
        layout: the columns.
        theta: (cells + 1, cells) parameters, 0 outside the mask.
        codes: (b, columns) cells of the records of a batch.
        weights: (b,) in [0, 1].
        clip: C, largest norm of a record's gradient.
    """
    inputs = layout.inputs(codes)
    residual = layout.probabilities(theta, inputs) - inputs[:, :-1]
    # The softmax of a column has as many inputs that are 1 as there are columns before it, and the constant.
    ones = np.arange(1, len(layout.sizes) + 1)
    norm = np.sqrt(np.add.reduceat(residual**2, layout.starts, axis=1) @ ones)
    factor = weights * np.minimum(1.0, np.divide(clip, norm, out=np.ones_like(norm), where=norm > 0))
    return np.asarray((inputs.T @ (residual * factor[:, None])) * layout.mask)


@dataclass(frozen=True)
class MaskedSoftmax:
    """Generator of the declared cells, column by column; numbers are uniform within their bins."""

    domain: Domain
    theta: Array = field(repr=False)
    """(cells + 1, cells), 0 outside the mask."""

    @cached_property
    def layout(self) -> Layout:
        """Cells of all columns; the label is the last one."""
        return layout_of(self.domain)

    def sample(self, generator: np.random.Generator, n: int) -> MixedRecords:
        """Draw n records; see :meth:`formalsynth.reps.stages.Model.sample`."""
        sizes = self.layout.sizes
        codes = np.zeros((n, len(sizes)), dtype=np.int64)
        uniform = generator.random((n, len(sizes)))
        logits = np.tile(self.theta[-1], (n, 1))
        for j, (start, size) in enumerate(zip(self.layout.starts.tolist(), sizes, strict=True)):
            shares = np.exp(logits[:, start : start + size] - logits[:, start : start + size].max(axis=1, keepdims=True))
            ends = np.cumsum(shares, axis=1)
            codes[:, j] = (ends[:, :-1] < uniform[:, j, None] * ends[:, -1:]).sum(axis=1)
            logits += self.theta[start + codes[:, j]]
        return self.domain.spread(codes, generator)

    def log_density(self, records: MixedRecords) -> Array:
        """Log probability (n,) of the records' cells."""
        codes = self.domain.codes(records)
        shares = self.layout.probabilities(self.theta, self.layout.inputs(codes))
        return np.asarray(np.log(np.take_along_axis(shares, codes + self.layout.starts, axis=1)).sum(axis=1))


def layout_of(domain: Domain) -> Layout:
    """Layout of the features and the label."""
    return Layout((*domain.sizes, CLASSES))


@LEARNERS.register("dp_sgd")
@dataclass(frozen=True)
class WeightedDPSGD:
    """Instantiation B: DP-SGD with weights after the clip, from parameters 0, with Adam on the noisy steps."""

    clip: PositiveNumber = 1.0
    """C, largest norm of a record's gradient."""
    rate: float = 0.05
    """Probability that a record is in a batch."""
    steps: int = 400
    step_size: PositiveNumber = 0.05
    """Size of a step of Adam."""

    def influence(self, domain: Domain, records: MixedRecords) -> Array:
        """Return 1 for all records: a gradient may have the norm C at some step."""
        return np.ones(len(records))

    def fit(
        self, domain: Domain, records: MixedRecords, weights: Array, budget: Budget, generator: np.random.Generator
    ) -> Learned:
        """Train the generator; arguments as in :meth:`formalsynth.reps.stages.Learner.fit`.

        Raises:
            ValueError: a weight is outside [0, 1].
        """
        check_weights(weights)
        sigma, layout, codes = sigma_for(budget, self.rate, self.steps), layout_of(domain), domain.codes(records)
        theta = np.zeros_like(layout.mask)
        first, second = np.zeros_like(theta), np.zeros_like(theta)
        for step in range(1, self.steps + 1):
            batch = generator.random(len(codes)) < self.rate
            noise = generator.standard_normal(theta.shape)
            gradient = self.released(layout, theta, codes[batch], weights[batch], sigma, noise, domain.n)
            first = MOMENTA[0] * first + (1 - MOMENTA[0]) * gradient
            second = MOMENTA[1] * second + (1 - MOMENTA[1]) * gradient**2
            scale = np.sqrt(second / (1 - MOMENTA[1] ** step)) + 1e-8
            theta = theta - self.step_size * first / (1 - MOMENTA[0] ** step) / scale
        return Learned(MaskedSoftmax(domain, theta), SubsampledCost(sigma, self.rate, self.steps))

    def released(
        self, layout: Layout, theta: Array, codes: Integers, weights: Array, sigma: float, noise: Array, n: int
    ) -> Array:
        """Noisy mean gradient of a batch: all that a step of the training learns from the records.

        Args:
            layout: the columns.
            theta: parameters before the step.
            codes: (b, columns) cells of the records of the batch.
            weights: (b,) in [0, 1].
            sigma: noise in units of C.
            noise: independent standard normal numbers, like ``theta``.
            n: declared number of records; ``rate n`` is the divisor.
        """
        total = weighted_gradient(layout, theta, codes, weights, self.clip)
        return (total + sigma * self.clip * layout.mask * noise) / (self.rate * n)
