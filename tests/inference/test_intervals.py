"""Combining rules for synthetic data sets of one private posterior."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.inference.intervals import contradicted, interval_with_draws, without_draws


def test_one_data_set_has_twice_the_posterior_variance_and_that_of_its_analysis():
    interval = interval_with_draws(np.array([3.0]), np.array([0.5]), 2.0)
    assert interval.estimate == 3
    assert interval.error == pytest.approx(math.sqrt(4.5))
    assert (interval.low, interval.high) == pytest.approx((3 - 1.959964 * math.sqrt(4.5), 3 + 1.959964 * math.sqrt(4.5)))


def test_many_data_sets_approach_the_posterior_variance():
    interval = interval_with_draws(np.full(10_000, 1.0), np.full(10_000, 0.5), 2.0)
    assert interval.error == pytest.approx(math.sqrt(2), rel=1e-3)


def test_without_draws_there_is_no_interval_from_one_data_set():
    assert without_draws(np.array([1.0]), np.array([1.0])) is None


def test_without_draws_the_variance_between_less_that_of_sampling_is_the_posterior_variance():
    estimates = np.array([0.0, 2.0, 4.0])  # variance 4
    interval = without_draws(estimates, np.full(3, 1.0))
    assert interval is not None
    assert interval.error == pytest.approx(math.sqrt(3 * (1 + 1 / 3) + 1 / 3))
    assert interval.high - 2 == pytest.approx(4.302653 * interval.error)  # Student's t with 2 degrees of freedom


def test_without_draws_the_posterior_variance_is_at_least_that_of_sampling():
    interval = without_draws(np.array([1.0, 1.1, 0.9]), np.full(3, 1.0))
    assert interval is not None
    assert interval.error == pytest.approx(math.sqrt(1 + 1 / 3 + 1 / 3))


@pytest.mark.parametrize("ratio", [1.0, 1.2, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("m", [2, 3, 5, 20])
def test_without_draws_intervals_cover_whatever_the_posterior_variance(m, ratio):
    """95 % within five standard errors of 4,000 simulations, where V is at least W."""
    rng = np.random.default_rng(m)
    truth = rng.normal(0, math.sqrt(ratio), 4000)
    estimates = rng.normal(0, math.sqrt(ratio), (4000, m)) + rng.normal(0, 1, (4000, m))
    intervals = [without_draws(row, np.ones(m)) for row in estimates]
    covered = [interval.low <= value <= interval.high for interval, value in zip(intervals, truth, strict=True)]
    assert np.mean(covered) > 0.93


@given(st.integers(1, 20), st.floats(0.1, 10), st.floats(0.1, 10))
def test_intervals_cover_in_the_normal_case(m, posterior_sd, sampling_sd):
    """Truth and draws are both from the posterior: 95 % within four standard errors of 2,000 simulations."""
    rng = np.random.default_rng(m)
    truth = rng.normal(0, posterior_sd, 2000)
    estimates = rng.normal(0, posterior_sd, (2000, m)) + rng.normal(0, sampling_sd, (2000, m))
    intervals = [interval_with_draws(row, np.full(m, sampling_sd**2), posterior_sd**2) for row in estimates]
    covered = np.mean([interval.low <= value <= interval.high for interval, value in zip(intervals, truth, strict=True)])
    assert abs(covered - 0.95) < 0.025


@pytest.mark.parametrize(("p", "expected"), [(None, False), (0.0, True), (0.000999, True), (0.001, False), (0.4, False)])
def test_a_p_value_below_0_001_contradicts_the_family(p, expected):
    assert contradicted(p) is expected
