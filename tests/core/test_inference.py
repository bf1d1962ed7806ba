"""Combining rules for synthetic data sets of one private posterior."""

import math

import numpy as np
import pytest
from formalsynth.core.inference import interval_with_draws, without_draws
from hypothesis import given
from hypothesis import strategies as st


def test_one_data_set_has_twice_the_posterior_variance_and_that_of_its_analysis():
    interval = interval_with_draws(np.array([3.0]), np.array([0.5]), 2.0)
    assert interval.estimate == 3
    assert interval.error == pytest.approx(math.sqrt(4.5))
    assert (interval.low, interval.high) == pytest.approx((3 - 1.959964 * math.sqrt(4.5), 3 + 1.959964 * math.sqrt(4.5)))


def test_many_data_sets_approach_the_posterior_variance():
    interval = interval_with_draws(np.full(10_000, 1.0), np.full(10_000, 0.5), 2.0)
    assert interval.error == pytest.approx(math.sqrt(2), rel=1e-3)


@pytest.mark.parametrize("estimates", [[1.0], [1.0, 1.1, 0.9]])
def test_without_draws_there_is_no_interval_if_the_estimates_differ_less_than_by_sampling(estimates):
    assert without_draws(np.array(estimates), np.full(len(estimates), 1.0)) is None


def test_without_draws_the_variance_between_less_that_of_sampling_is_the_posterior_variance():
    estimates = np.array([0.0, 2.0, 4.0])  # variance 4
    interval = without_draws(estimates, np.full(3, 1.0))
    assert interval is not None
    assert interval.error == pytest.approx(math.sqrt(3 * (1 + 1 / 3) + 1 / 3))


@given(st.integers(1, 20), st.floats(0.1, 10), st.floats(0.1, 10))
def test_intervals_cover_in_the_normal_case(m, posterior_sd, sampling_sd):
    """Truth and draws are both from the posterior: 95 % within four standard errors of 2,000 simulations."""
    rng = np.random.default_rng(m)
    truth = rng.normal(0, posterior_sd, 2000)
    estimates = rng.normal(0, posterior_sd, (2000, m)) + rng.normal(0, sampling_sd, (2000, m))
    intervals = [interval_with_draws(row, np.full(m, sampling_sd**2), posterior_sd**2) for row in estimates]
    covered = np.mean([interval.low <= value <= interval.high for interval, value in zip(intervals, truth, strict=True)])
    assert abs(covered - 0.95) < 0.025
