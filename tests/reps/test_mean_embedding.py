"""The mean embedding: its sensitivity, and what its generator learns from the noisy mean."""

import math

import numpy as np
import pytest

from formalsynth.reps.domain import Domain, MixedRecords
from formalsynth.reps.learners.mean_embedding import MeanEmbedding
from formalsynth.reps.stages import Budget


def test_the_generator_has_the_shares_and_pairs_of_the_records(generator):
    domain, second = Domain(1000, 0, (3, 3), 1.0), generator.integers(3, size=1000)
    first = np.where(generator.random(1000) < 0.8, second, 0)
    records = MixedRecords(np.empty((1000, 0)), np.column_stack([first, second]), (second == 2).astype(int))
    learned = MeanEmbedding().fit(domain, records, np.ones(1000), Budget(math.inf, 0.0), generator)
    drawn = learned.model.sample(generator, 5000)
    shares = [np.bincount(part.categories @ [3, 1], minlength=9) / len(part) for part in (records, drawn)]
    assert np.abs(shares[0] - shares[1]).sum() / 2 < 0.1  # uniform cells: 0.5
    assert (drawn.label == (drawn.categories[:, 1] == 2)).mean() > 0.85


def test_weights_of_zero_leave_noise_and_the_cost_is_that_of_one_unit_vector(generator):
    domain = Domain(50, 0, (3,), 1.0)
    records = MixedRecords(np.empty((50, 0)), np.zeros((50, 1), dtype=int), np.zeros(50, dtype=int))
    other = MixedRecords(records.z, records.categories + 2, records.label + 1)
    ignored = [
        MeanEmbedding(steps=3).fit(domain, part, np.zeros(50), Budget(1.0, 1e-3), np.random.default_rng(1))
        for part in (records, other)
    ]
    assert np.array_equal(*(learned.model.theta for learned in ignored))
    assert ignored[0].cost.epsilon(1e-3) == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(ValueError, match=r"weights: allowed: numbers in \[0, 1\]"):
        MeanEmbedding().fit(domain, records, np.full(50, 1.1), Budget(1.0, 1e-3), generator)
