"""Scores of each scorer without noise, against direct computations on small data."""

import itertools

import numpy as np
import pytest

from formalsynth.reps.domain import Domain
from formalsynth.reps.scorers.clusters import unit_vectors
from formalsynth.reps.scorers.grid_distance import grid_distances
from formalsynth.reps.stages import SCORERS, Budget, score

from .small_records import DOMAIN, small_records

SCORERS.find()
NO_NOISE = Budget(np.inf, 0.0)


def test_pairwise_scores_are_mean_log_frequencies_of_pairs(generator):
    records = small_records(generator, 200)
    cells = DOMAIN.cells(records)
    tables = score(SCORERS["pairwise"](), DOMAIN, records, NO_NOISE, generator).tables
    together = [(cells[:, [j, k]][:, None] == cells[:, [j, k]]).all(axis=2) for j, k in itertools.combinations(range(4), 2)]
    expected = np.mean([-np.log(same.mean(axis=1)) for same in together], axis=0)
    # Empty cells count as one record, so frequencies are slightly lower.
    assert tables.score(records) == pytest.approx(expected, abs=0.12)


def test_vectors_of_clusters_have_norm_at_most_one(generator):
    assert np.linalg.norm(unit_vectors(DOMAIN, small_records(generator)), axis=1).max() <= 1


def test_clusters_separate_a_small_group(generator):
    records = small_records(generator, 400)
    records.z[:], records.categories[:] = 1 + 0.1 * records.z, 0
    records.z[:12], records.categories[:12] = -3, 1
    scores = score(SCORERS["clusters"](), DOMAIN, records, NO_NOISE, generator).tables.score(records)
    assert scores[:12].min() > np.quantile(scores[12:], 0.9)


def test_grid_distances_by_search(generator):
    shares = generator.dirichlet(np.full(36, 0.3)).reshape(6, 6)
    result = grid_distances(shares, 0.2)
    for i, j in np.ndindex(6, 6):
        masses = [shares[max(i - r, 0) : i + r + 1, max(j - r, 0) : j + r + 1].sum() for r in range(6)]
        first = next(r for r, mass in enumerate(masses) if mass >= 0.2)
        assert max(first - 1, 0) <= result[i, j] <= first


def test_grids_need_two_numbers():
    with pytest.raises(ValueError, match="at least 2 numbers, given 1"):
        SCORERS["grid_distance"]().parts(Domain(n=5, numbers=1, levels=(2,), clip=1.0))


def test_public_scores_cost_nothing_and_ignore_the_confidential_records(generator):
    public, records, others = (small_records(generator) for _ in range(3))
    scorer = SCORERS["public"](records=public)
    first, second = (score(scorer, DOMAIN, part, Budget(1.0, 1e-3), generator) for part in (records, others))
    assert first.cost.mu == 0 and np.array_equal(first.tables.score(records), second.tables.score(records))
