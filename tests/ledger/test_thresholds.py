"""Tests of the limits for agreement: allowed errors for one and for several numbers, and intervals of shares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from formalsynth_workflow.ledger.tests.base import share_interval
from formalsynth_workflow.ledger.thresholds import Thresholds


@pytest.mark.parametrize("numbers", [1, 2, 5, 12])
def test_the_allowance_for_several_numbers_rejects_true_ones_as_rarely_as_for_one(numbers):
    thresholds, runs = Thresholds(), 200_000
    errors = np.random.default_rng(numbers).standard_normal((runs, numbers))
    alone = (np.abs(errors[:, 0]) > thresholds.errors).mean()
    together = (np.abs(errors) > thresholds.errors_of(numbers, 100_000)).any(axis=1).mean()
    # a share of 0.0455 of 200,000 has a standard error of 0.0005
    assert together == pytest.approx(alone, abs=0.004)


@pytest.mark.parametrize(("units", "factor"), [(5, 2.87), (10, 2.32), (100, 2.03), (2000, 2.0)])
def test_an_error_from_few_units_has_the_quantile_of_student(units, factor):
    """With Student's quantile the limits hold in 95.45 % of samples of five values; with two errors they hold in 88 %."""
    assert Thresholds().errors_of(1, units) == pytest.approx(factor, abs=0.005)
    if units == 5:
        samples = np.random.default_rng(5).standard_normal((200_000, units))
        t = np.abs(samples.mean(axis=1)) / (samples.std(axis=1, ddof=1) / units**0.5)
        # a share of 200,000 has a standard error of 0.0005 to 0.0007
        assert (t <= Thresholds().errors_of(1, units)).mean() == pytest.approx(0.9545, abs=0.003)
        assert (t <= 2).mean() == pytest.approx(0.884, abs=0.004)


def test_zero_allowed_errors_stay_zero():
    assert Thresholds(errors=0).errors_of(3, 5) == 0


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_interval_of_a_share_is_wilsons(counts, confidence):
    successes, units = counts
    expected = binomtest(successes, units).proportion_ci(confidence, method="wilson")
    assert share_interval(successes / units, units, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_interval_is_exact_for_all_units_and_for_none():
    for units in range(1, 60):
        assert share_interval(1.0, units, 0.99)[1] == 1
        assert share_interval(0.0, units, 0.99)[0] == 0
