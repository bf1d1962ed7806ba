"""Monte Carlo errors of statistics against theory."""

import numpy as np
import pytest
from formalsynth.core.statistics import jackknife, median_mcse


def test_the_error_of_a_median_agrees_with_theory(generator):
    """Normal samples of 1000: the standard error is sqrt(pi / 2000); the mean of 400 estimates is within 5 of its errors."""
    estimates = np.array([median_mcse(generator.standard_normal(1000)) for _ in range(400)])
    # the normal density is all but flat this near to the median, so the bias is far below the allowance of 1 %
    allowed = 5 * estimates.std() / np.sqrt(400) + 0.01 * np.sqrt(np.pi / 2000)
    assert abs(estimates.mean() - np.sqrt(np.pi / 2000)) < allowed
    assert np.isnan(median_mcse(np.arange(9.0)))


def test_the_jackknife_error_of_a_mean_is_the_usual_one(generator):
    values = generator.standard_exponential(50)
    assert jackknife(values, np.mean) == pytest.approx(values.std(ddof=1) / np.sqrt(50))
    assert np.isnan(jackknife(values[:9], np.mean))
