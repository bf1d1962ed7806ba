"""Weights of rows that give pairs of columns with categories their noisy sums."""

import numpy as np
import pytest
from formalsynth.custodian.relations import Variable, products
from formalsynth.custodian.tilting import chosen, tilt_of

JOINT = np.array([[0.40, 0.05, 0.0, 0.01], [0.02, 0.02, 0.25, 0.05], [0.01, 0.10, 0.02, 0.07]])
"""Shares of two related columns."""
STATUS, ROLE = (Variable(name, JOINT.sum(axis=axis), 1.0, False) for name, axis in (("status", 1), ("role", 0)))
AGE = Variable("age", np.full(10, 0.1), 1.0, True)


def independent(number=30_000):
    """Places of rows without relations."""
    generator = np.random.default_rng(1)
    variables = {variable.name: variable for variable in (STATUS, ROLE, AGE)}
    places = {name: generator.choice(len(v.shares), number, p=v.shares) for name, v in variables.items()}
    return variables, places


def table(places, weight):
    shares = np.zeros(JOINT.shape)
    np.add.at(shares, (places["status"], places["role"]), weight)
    return shares


def test_without_noise_the_weighted_rows_have_the_table_and_the_other_columns_stay():
    variables, places = independent()
    weight = tilt_of(variables, {("status", "role"): 1e5 * JOINT}, {("status", "role"): 1e-9}, 1e5, places).weights(places)
    assert weight.sum() == pytest.approx(1)
    assert np.abs(table(places, weight) - JOINT).max() < 0.01
    assert np.abs(np.bincount(places["age"], weights=weight) - 0.1).max() < 0.02


def test_sums_of_an_order_with_categories_are_given_back():
    variables, places = independent()
    wanted = np.array([[-4000.0], [1000.0], [3000.0]])
    weight = tilt_of(variables, {("status", "age"): wanted}, {("status", "age"): 1e-9}, 1000, places).weights(places)
    scores, indicators = AGE.indicators(places["age"]), STATUS.indicators(places["status"])
    assert np.allclose((indicators * weight[:, None]).T @ scores, wanted / 1000, atol=0.15)
    assert np.abs(np.bincount(places["status"], weights=weight) - STATUS.shares).max() < 0.01


def test_noise_larger_than_any_count_leaves_rows_as_they_are():
    variables, places = independent()
    noisy = 1e3 * JOINT + np.random.default_rng(2).normal(0, 1e4, JOINT.shape)
    weight = tilt_of(variables, {("status", "role"): noisy}, {("status", "role"): 1e8}, 1e3, places).weights(places)
    assert 1 / (weight**2).sum() > 0.95 * len(weight)


def test_counts_that_no_row_of_the_model_can_have_do_no_harm():
    variables, places = independent(2000)
    places["role"] = np.where(places["status"] == 0, 0, places["role"])
    sums = products(STATUS.indicators(places["status"]), ROLE.indicators(places["role"])) + 300 * JOINT
    weight = tilt_of(variables, {("status", "role"): sums}, {("status", "role"): 1e-9}, 2300, places).weights(places)
    assert np.isfinite(weight).all()
    assert 1 / (weight**2).sum() > 200


def test_rows_are_chosen_by_weight_and_repeats_are_known():
    weight = np.array([0.5, 0.0, 0.3, 0.2])
    index, again = chosen(weight, 10, np.random.default_rng(1))
    assert np.array_equal(np.bincount(index, minlength=4), [5, 0, 3, 2])
    assert again.sum() == 7
    assert len(set(index[~again])) == 3
