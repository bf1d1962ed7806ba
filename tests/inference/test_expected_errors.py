"""Errors that are expected of noisy tables, from declarations and a guess alone."""

import math

import numpy as np
import pytest

from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins
from formalsynth.core.tables import tabled
from formalsynth.inference.density import Guess
from formalsynth.inference.expected_errors import error_factor, expected_errors
from formalsynth.inference.tables_model import TablesModel

FAMILIES.find()
LINE = Guess((1.0, 1.0), 1.0, 2.0, 1.0)
BINS = Bins(math.exp(-1), math.exp(7), 8, True), Bins(0, 4, 8)


def model(family):
    """Model of a family, with its priors."""
    return TablesModel(tabled(FAMILIES[family])), FAMILIES[family].priors


@pytest.mark.parametrize("n", [500, 20_000])
def test_without_privacy_the_errors_are_those_of_least_squares(n):
    wide = Bins(math.exp(-4), math.exp(10), 8, True), Bins(-2, 6, 8)
    errors = expected_errors(*model("lognormal_regression"), wide, LINE, n, None)
    assert errors[1] == pytest.approx(1 / math.sqrt(n), rel=0.03)
    assert errors[0] == pytest.approx(1 / math.sqrt(n), rel=0.03)


def test_without_privacy_the_error_of_a_negative_binomial_mean_is_that_of_the_mean():
    """The mean and the dispersion are orthogonal: the standard error of log mu is sqrt((1 / mu + 1 / phi) / n)."""
    errors = expected_errors(*model("negative_binomial"), (Bins(0, 160, 20),), Guess((math.log(40),), 0.2), 1000, None)
    assert errors[0] == pytest.approx(math.sqrt((1 / 40 + 0.2) / 1000), rel=0.02)


@pytest.mark.parametrize(("epsilon", "measured"), [(1, 1.20), (0.5, 1.38)])
def test_the_factor_is_that_of_simulations(epsilon, measured):
    """Root mean square errors of the slope over 200 data sets, n = 2000, against least squares on the same data."""
    assert error_factor(*model("lognormal_regression"), BINS, LINE, 2000, epsilon) == pytest.approx(measured, rel=0.06)


def test_the_factor_falls_with_epsilon_and_with_n():
    factors = [error_factor(*model("lognormal_regression"), BINS, LINE, 1000, epsilon) for epsilon in (0.1, 0.5, 1, 5)]
    factors.append(error_factor(*model("lognormal_regression"), BINS, LINE, 100_000, 5))
    assert (np.diff(factors) < 0).all()
    assert 1 < factors[-1] < 1.2


def test_several_predictors_are_refused():
    with pytest.raises(ValueError, match="3 bins"):
        expected_errors(*model("normal"), (*BINS, BINS[1]), LINE, 100, 1.0)
