import numpy as np
import pytest

from formalsynth.reps.domain import histogram_cells, one_hot
from formalsynth.reps.scorers.one_way import histogram_sensitivity, release_marginals

SIZES = (4, 4, 3, 2)


@pytest.fixture
def cells(generator) -> np.ndarray:
    return np.column_stack([generator.integers(size, size=60) for size in SIZES])


def test_bins_divide_the_clipped_range_evenly():
    z = np.array([[-9.0], [-4.0], [-2.01], [-2.0], [-1e-9], [0.0], [1.99], [4.0], [9.0]])
    result = histogram_cells(z, np.empty((9, 0), dtype=np.int64), clip=4.0, bins=4)
    assert result[:, 0].tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_sensitivity_by_removing_every_record(cells):
    """Neighbours are add/remove: without record i, all histograms together move by exactly sqrt(features)."""
    counts = one_hot(cells, SIZES).sum(axis=0)
    for i in range(len(cells)):
        moved = counts - one_hot(np.delete(cells, i, axis=0), SIZES).sum(axis=0)
        assert np.linalg.norm(moved) == pytest.approx(histogram_sensitivity(len(SIZES)))


def test_without_noise_scores_are_log_frequencies(cells, generator):
    direct = np.array([[-np.log(np.mean(cells[:, j] == cell)) for j, cell in enumerate(row)] for row in cells])
    assert np.allclose(release_marginals(cells, SIZES, 0.0, generator).scores(cells), direct.mean(axis=1))


def test_noise_has_the_standard_deviation_asked_for(generator):
    """Counts so large that neither the floor nor the normalisation hides the noise."""
    cells = np.repeat([[0], [1]], 1000, axis=0)
    sigma, draws = 1.0, 4000
    result = [np.exp(release_marginals(cells, (2,), sigma, generator).log_frequency[0]) for _ in range(draws)]
    # (a + s e1) / (2a + s e1 + s e2) has standard deviation s / (2a sqrt(2)) to first order; 5 errors of a variance estimate.
    expected = sigma / (2000 * np.sqrt(2))
    assert abs(np.std(result) / expected - 1) < 5 / np.sqrt(2 * draws) + 1e-3


def test_frequencies_are_proper_under_any_noise(cells, generator):
    marginals = release_marginals(cells, SIZES, 1000.0, generator)
    shares = np.split(np.exp(marginals.log_frequency), np.cumsum(SIZES)[:-1])
    assert all(p.sum() == pytest.approx(1) and (p > 0).all() for p in shares)
    assert (marginals.scores(cells) >= 0).all()
