"""Noisy moments and AdaSSP: noise as literal numbers, sensitivities over small data sets, and parameters from known moments."""

import itertools
from importlib import import_module

import numpy as np
import pytest

from formalsynth.core.arrays import Records

moments = import_module("bench.competitors.moments")
TASKS = import_module("bench.competitors.tasks").tasks()

OUTCOMES = {"lognormal": [0.0, 1e-9, 1.0, 20.0, 1e12], "beta": [0.0, 0.5, 1.0], "independent": [-1e9, 2.0, 8.0, np.nan]}
PREDICTORS = {"lognormal": [-1e9, 2.0, 6.0], "beta": [], "independent": [-3.0, 1.5, 1e9]}


def grid(name):
    """Records of every outcome with every predictor, or with all predictors equal or opposite."""
    rows = []
    for x, z in itertools.product(OUTCOMES[name], PREDICTORS[name] or [0.0]):
        signs = {"beta": [()], "lognormal": [(1,)], "independent": [(1, 1, 1), (1, -1, 1)]}[name]
        rows += [(x, [1.0, *(sign * z for sign in row)]) for row in signs]
    return Records(np.array([x for x, _ in rows]), np.array([row for _, row in rows]))


@pytest.mark.parametrize(("name", "scale"), [("beta", 5000.0), ("lognormal", 10_000.0), ("independent", 26_000.0)])
def test_the_noise_has_its_declared_scale(name, scale):
    """For epsilon 0.5, in steps of 1 / 1000: sensitivities are 2.5, 5 and 13."""
    assert moments.moment_sums(TASKS[name], grid(name), 0.5).scale == pytest.approx(scale, rel=1e-12)


@pytest.mark.parametrize("name", ["beta", "lognormal", "independent"])
def test_no_small_data_set_has_a_neighbour_with_a_larger_ratio_than_claimed(name):
    """Discrete Laplace noise on whole numbers: the log ratio is the L1 distance over the scale. Both claims are reached."""
    task, records = TASKS[name], grid(name)
    largest = {"add_remove": 0.0, "replace": 0.0}
    places = range(len(records))
    for size in (0, 1, 2) if len(records) < 10 else (0, 1):
        for rows in itertools.combinations_with_replacement(places, size):
            base = moments.moment_sums(task, records.take(list(rows)), 0.7)
            assert (base.counts == np.round(base.counts)).all()
            for new in places:
                for relation, others in (("add_remove", (*rows, new)), ("replace", (*rows[1:], new))):
                    if rows or relation == "add_remove":
                        other = moments.moment_sums(task, records.take(list(others)), 0.7)
                        ratio = np.abs(base.counts - other.counts).sum() / base.scale
                        largest[relation] = max(largest[relation], ratio)
    assert largest["add_remove"] == pytest.approx(0.7, rel=1e-12)
    # opposite corners share the count and the squares
    assert 0.5 < largest["replace"] <= 1.4


@pytest.mark.parametrize("name", ["beta", "lognormal", "independent", "counts"])
def test_moments_without_noise_give_the_parameters(name):
    task = TASKS[name]
    records = task.draw(np.random.default_rng(1))
    sums = moments.moment_sums(task, records, 1.0)
    q = records.design.shape[1]
    draws = moments.parameters(task, moments.from_sums(sums.counts / moments.UNIT, q, 0.0))
    truth = {
        "beta": {"phi": [1 / 7], "lambda": [3.5]},
        "lognormal": {"beta": [[1, 1]], "sigma": [1]},
        "independent": {"beta": [[2, 1, -0.5, 0.3]], "sigma": [0.8]},
        "counts": {"mu": [100], "phi": [10]},
    }[name]
    assert set(draws) == set(truth)
    for parameter, value in truth.items():
        # standard errors are at most 7 %, of phi
        np.testing.assert_allclose(draws[parameter], value, rtol=0.3, atol=0.1)


def test_gaussian_noise_is_calibrated_as_by_another_library():
    accounting = pytest.importorskip("dp_accounting")
    for epsilon, delta in ((1.0, 1e-5), (0.5, 1e-6), (3.0, 1e-3)):
        scale = moments.gaussian_scale(epsilon, delta)
        loss = accounting.pld.privacy_loss_distribution.from_gaussian_mechanism(scale, value_discretization_interval=1e-4)
        assert loss.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=0.02)


def test_the_noise_of_adassp_is_the_declared_one():
    """The standard deviation for (1, 1e-5) and sensitivity 1 is 3.7306; four queries together have sensitivity 2."""
    assert moments.gaussian_scale(1.0, 1e-5) == pytest.approx(3.7306, abs=2e-4)
    scales = moments.adassp_scales(4, 1.0)
    assert scales["squares"] == pytest.approx(7.4613, abs=4e-4)
    assert scales["products"] == pytest.approx(14.9225, abs=8e-4)
    assert scales["eigenvalue"] == scales["design"] == pytest.approx(29.845, abs=2e-3)


def test_no_record_changes_a_query_of_adassp_by_more_than_the_noise_covers():
    rng = np.random.default_rng(2)
    unit = moments.adassp_scales(1, 1.0)["squares"]
    for q in (2, 4):
        scales = {name: scale / unit for name, scale in moments.adassp_scales(q, 1.0).items()}
        for _ in range(200):
            values = np.sign(rng.standard_normal(q)) * rng.choice([1.0, rng.random()])
            row, y = np.append(1.0, values[:-1]), values[-1]
            before = rng.uniform(-1, 1, (rng.integers(1, 6), q))
            before = before.T @ before
            changes = {
                "eigenvalue": np.linalg.eigvalsh(before + np.outer(row, row))[0] - np.linalg.eigvalsh(before)[0],
                "design": np.linalg.norm(np.outer(row, row)[np.triu_indices(q)]),
                "products": np.linalg.norm(row * y),
                "squares": y**2,
            }
            assert all(abs(change) <= scales[name] * (1 + 1e-12) for name, change in changes.items())


def test_adassp_finds_the_regression_with_a_large_budget():
    task = TASKS["independent"]
    draws = moments.adassp(task, task.draw(np.random.default_rng(3)), 1000.0, np.random.default_rng(4))
    np.testing.assert_allclose(draws["beta"], [[2, 1, -0.5, 0.3]], atol=0.1)
    np.testing.assert_allclose(draws["sigma"], [0.8], atol=0.1)
