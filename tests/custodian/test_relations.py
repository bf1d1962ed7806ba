"""Latent correlations of pairs."""

import numpy as np
import pytest
from formalsynth.custodian.relations import completed, shrunk
from hypothesis import given
from hypothesis import strategies as st

CORRELATIONS = st.lists(st.floats(-0.97, 0.97), min_size=1, max_size=20)


def test_a_strong_relation_among_weak_ones_stays_strong():
    values = np.array([0.9, 0.05, 0.02, -0.03, 0.04, 0.01, 0.06, -0.05, 0.02, 0.01])
    result = shrunk(values, np.full(10, 0.15))
    assert result[0] > 0.8
    assert np.abs(result[1:]).max() < 0.03


def test_many_strong_relations_are_hardly_shrunk():
    generator = np.random.default_rng(1)
    truth = generator.normal(scale=0.6, size=2000)
    result = shrunk(truth + generator.normal(scale=0.3, size=2000), np.full(2000, 0.3))
    # the best linear factor is 0.36 / (0.36 + 0.09) = 0.8, with the error sqrt(0.36 * 0.2) = 0.268
    assert np.sqrt(((result - truth) ** 2).mean()) == pytest.approx(0.268, rel=0.1)


@given(CORRELATIONS, st.data())
def test_estimates_are_shrunk_towards_0_and_never_beyond(values, data):
    errors = data.draw(st.lists(st.floats(0, 1e6), min_size=len(values), max_size=len(values)))
    result = shrunk(np.array(values), np.array(errors))
    assert (np.abs(result) <= np.abs(values) * (1 + 1e-12)).all()
    assert (result * np.array(values) >= 0).all()


def test_without_noise_estimates_stay():
    assert shrunk(np.array([0.5, -0.01, 0.0]), np.zeros(3)) == pytest.approx([0.5, -0.01, 0.0])


def test_two_strong_relations_of_a_variable_are_both_kept():
    """The correlation between the other two is not measured; 0 in its place would leave no positive definite matrix."""
    matrix = np.array([[1.0, 0.95, 0.8], [0.95, 1.0, 0.0], [0.8, 0.0, 1.0]])
    fitted = completed(matrix, [np.array([0, 1]), np.array([0, 2])])
    assert fitted[0, 1] == pytest.approx(0.95, abs=1e-3)
    assert fitted[0, 2] == pytest.approx(0.8, abs=1e-3)
    assert fitted[1, 2] == pytest.approx(0.95 * 0.8, abs=5e-3)  # independent given the first


def test_correlations_that_contradict_each_other_give_a_matrix():
    matrix = np.array([[1.0, 0.9, 0.9], [0.9, 1.0, -0.9], [0.9, -0.9, 1.0]])
    fitted = completed(matrix, [np.array(pair) for pair in ([0, 1], [0, 2], [1, 2])])
    assert np.linalg.eigvalsh(fitted).min() > 0
    assert np.diag(fitted) == pytest.approx(1)
