"""Instantiation A with a mean embedding: a noisy mean of random features, and a generator fitted to it (REPS paper, Section 5.3).

Features of a record have the norm 1, so their mean costs the same however many there are. The generator is that of DP-SGD. It is
fitted to the noisy mean alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.core.constraints import PositiveNumber
from formalsynth.reps.domain import Domain, MixedRecords, one_hot
from formalsynth.reps.learners.dp_sgd import MaskedSoftmax, layout_of, weighted_gradient
from formalsynth.reps.stages import LEARNERS, Budget, GaussianCost, Learned, check_weights, sigma_of


@LEARNERS.register("mean_embedding")
@dataclass(frozen=True)
class MeanEmbedding:
    """Random Fourier features of the cells, whose kernel decreases with the number of columns in which records differ."""

    frequencies: int = 300
    """Number of random frequencies; each has a cosine and a sine."""
    steps: int = 200
    batch: int = 400
    """Number of records that a step draws from the generator."""
    step_size: PositiveNumber = 0.5
    """First size of a step, which decreases to 0."""

    def influence(self, domain: Domain, records: MixedRecords) -> Array:
        """Influence (n,): all features have the norm 1."""
        return np.ones(len(records))

    def fit(
        self, domain: Domain, records: MixedRecords, weights: Array, budget: Budget, generator: np.random.Generator
    ) -> Learned:
        """Fit the generator; arguments as in :meth:`formalsynth.reps.stages.Learner.fit`.

        Raises:
            ValueError: a weight is outside [0, 1].
        """
        check_weights(weights)
        layout, sigma = layout_of(domain), sigma_of(1, budget)
        scale = 1 / math.sqrt(len(layout.sizes))
        frequencies = scale * generator.standard_normal((sum(layout.sizes), self.frequencies))

        def features(codes: Integers) -> Array:
            angles = one_hot(codes, layout.sizes) @ frequencies
            return np.hstack([np.cos(angles), np.sin(angles)]) / math.sqrt(self.frequencies)

        target = weights @ features(domain.codes(records)) + sigma * generator.standard_normal(2 * self.frequencies)
        target /= np.linalg.norm(target)
        theta = np.zeros_like(layout.mask)
        for step in range(self.steps):
            codes = domain.codes(MaskedSoftmax(domain, theta).sample(generator, self.batch))
            drawn = features(codes)
            mean = drawn.mean(axis=0)
            # Only the direction of the noisy mean is fitted, because weights below 1 shorten it.
            excess = drawn @ (mean - target * (mean @ mean) / max(mean @ target, 1e-3))
            gradient = weighted_gradient(layout, theta, codes, excess.mean() - excess, math.inf)
            size = self.step_size * (1 - step / self.steps)
            theta = theta - size * gradient / max(float(np.linalg.norm(gradient)), 1e-12)
        return Learned(MaskedSoftmax(domain, theta), GaussianCost.of(1.0, sigma))
