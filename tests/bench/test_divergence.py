"""The beta-divergence posterior: its integrals, its bounds as literal numbers, and the exact ratio over small data sets."""

import itertools
from importlib import import_module

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import betaln, log_expit

from formalsynth.core.arrays import Records, intercept_only

divergence = import_module("bench.competitors.divergence")
TASKS = import_module("bench.competitors.tasks").tasks()
VALUES = {
    "beta": [0.0, 1e-300, 0.02, 0.5, 1.0],
    "counts": [0.0, 3.0, 100.0, 1e5, 1e300],
    "incomes": [-np.inf, np.log(1.0), 9.9, 50.0, np.nan],
}


@pytest.mark.parametrize("name", VALUES)
def test_no_small_data_set_has_a_neighbour_with_a_larger_ratio_than_claimed(name):
    """Probabilities of all candidates, for all data sets of up to 2 records with all additional and replaced records."""
    candidates = divergence.candidates_of(TASKS[name])
    known = {}
    for size in range(4):  # 56 data sets
        for rows in itertools.combinations_with_replacement(range(5), size):
            values = np.array([VALUES[name][k] for k in rows])
            log_mass = divergence.log_probabilities(candidates, values, 0.7)
            known[rows] = log_mass - np.logaddexp.reduce(log_mass)
    largest = {"add_remove": 0.0, "replace": 0.0}
    for rows in [rows for rows in known if len(rows) < 3]:
        for new in range(5):
            added = tuple(sorted((*rows, new)))
            largest["add_remove"] = max(largest["add_remove"], np.abs(known[added] - known[rows]).max())
            if rows:
                other = tuple(sorted((*rows[1:], new)))
                largest["replace"] = max(largest["replace"], np.abs(known[other] - known[rows]).max())
    assert 0.2 < largest["add_remove"] <= 0.7 + 1e-12
    assert 0.2 < largest["replace"] <= 1.4 + 1e-12


@pytest.mark.parametrize("name", VALUES)
def test_losses_are_within_their_bounds_and_reach_them(name):
    """The clip changes nothing for these families: each candidate has its peak and its integral."""
    candidates = divergence.candidates_of(TASKS[name])
    lower, upper = candidates.bounds
    finite = [value for value in VALUES[name] if np.isfinite(value)]
    losses = np.array([divergence.Candidates.losses(candidates, np.array([value]), np.ones(1)) for value in finite])
    assert lower <= losses.min()
    assert losses.max() <= upper
    assert losses.max() > upper - 0.1 * (upper - lower)


def test_the_integral_of_a_beta_density_on_the_scale_of_its_logit():
    candidates = divergence.candidates_of(TASKS["beta"])
    for k in (1000, 1850, 3500):
        a, b = candidates.first[k], candidates.second[k]
        z = np.linspace(-200, 200, 200_001)
        density = np.exp(a * log_expit(z) + b * log_expit(-z) - betaln(a, b))
        assert integrate.simpson(density, x=z) == pytest.approx(1, rel=1e-4)
        assert candidates.integral[k] == pytest.approx(integrate.simpson(density**1.5 / 1.5, x=z), rel=1e-4)
        assert np.exp(candidates.log_peak[k]) == pytest.approx(density.max(), rel=1e-4)


def test_the_integral_of_a_normal_density():
    for sd in (0.25, 3.0):
        value = integrate.quad(lambda x, s=sd: stats.norm.pdf(x, 0, s) ** 1.5 / 1.5, -60, 60, points=[-1, 0, 1])[0]
        assert divergence._normal_integral(sd) == pytest.approx(value, rel=1e-6)


def test_the_bounds_of_a_regression_are_the_declared_ones():
    """Least standard deviation 0.25: the largest density is 1.5958, its root 1.26324, so the width is 2.52648."""
    lower, upper = divergence.regression_bounds(0.25)
    assert upper == pytest.approx(0.68762, abs=1e-5)
    assert upper - lower == pytest.approx(2.52648, abs=1e-5)


def test_the_loss_of_a_record_in_a_regression_is_within_its_bounds():
    rng = np.random.default_rng(1)
    lower, upper = divergence.regression_bounds(0.25)
    for _ in range(500):
        theta = np.append(rng.normal(0, 3, 2), np.log(0.25 * rng.uniform(1, 20)))
        design, y = np.array([[1.0, rng.uniform(-1, 1)]]), np.array([rng.choice([rng.normal(), 1e12, -np.inf])])
        assert lower <= divergence.regression_loss(theta, design, y, 0.25) <= upper
    assert divergence.regression_loss(np.array([0.0, np.log(0.24)]), np.ones((1, 1)), np.zeros(1), 0.25) == np.inf


def test_draws_are_near_the_parameters_with_a_large_budget():
    rng = np.random.default_rng(2)
    beta = divergence.beta_divergence(TASKS["beta"], intercept_only(rng.beta(0.5, 3, 4000)), 50.0, rng)
    np.testing.assert_allclose([beta["phi"][0], beta["lambda"][0]], [1 / 7, 3.5], rtol=0.25)
    counts = divergence.beta_divergence(TASKS["counts"], intercept_only(rng.negative_binomial(10, 1 / 11, 4000)), 50.0, rng)
    np.testing.assert_allclose([counts["mu"][0], counts["phi"][0]], [100, 10], rtol=0.25)
    z = rng.normal(2, 1, 500)
    line = Records(np.exp(1 + z + rng.standard_normal(500)), np.column_stack([np.ones(500), z]))
    draws = divergence.beta_divergence(TASKS["lognormal"], line, 50.0, rng)
    # standard errors are near 0.1, 0.05 and 0.05 at this rate
    np.testing.assert_allclose(draws["beta"], [[1, 1]], atol=0.5)
    np.testing.assert_allclose(draws["sigma"], [1], atol=0.25)
