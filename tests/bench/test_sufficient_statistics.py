"""Intervals from noisy sufficient statistics: standard errors without noise, and the part of the noise."""

from importlib import import_module

import numpy as np
import pytest

CASES = {case.family: case for case in import_module("bench.sufficient_statistics").CASES}


@pytest.mark.parametrize("family", ["poisson", "beta"])
def test_the_standard_error_is_that_of_simulated_statistics_with_their_noise(family):
    case, generator, n, variance = CASES[family], np.random.default_rng(1), 4000, 1e-6
    estimates = []
    for _ in range(300):
        statistics = case.statistics(case.draw(generator, n)).mean(axis=0)
        estimates.append(case.wald(statistics + np.sqrt(variance) * generator.standard_normal(len(statistics)), variance, n))
    means, errors = np.transpose(estimates)
    assert means.std() == pytest.approx(np.median(errors), rel=0.15)
    assert abs(means.mean() - case.truth) < 0.3 * means.std()


@pytest.mark.parametrize("family", ["poisson", "beta"])
def test_no_pair_of_values_moves_the_statistics_farther_than_declared(family):
    case = CASES[family]
    with np.errstate(divide="ignore"):
        ends = case.statistics(np.array([1e-300, 1e9] if family == "poisson" else [1e-300, 0.5, 1.0]))
    assert np.linalg.norm(ends[:, None] - ends, axis=2).max() <= case.width
