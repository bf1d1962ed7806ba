"""Test of fit to noisy tables: its level, its power, and the fourth cumulant of the noise."""

import math

import numpy as np
import pytest

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.streams import Address
from formalsynth.inference.goodness_of_fit import _fourth_cumulant, p_value

for register in (FAMILIES, MECHANISMS):
    register.find()

LINE = {"low": -2, "high": 4, "bins": 8, "x_low": -3, "x_high": 3, "x_bins": 6}
SHARES = {"low": 0, "high": 1, "bins": 7}


def fit_p(family, records, parameters, number=0, epsilon=1.0):
    """p value of one release."""
    context = Context(FAMILIES[family], records, Address(1, 1, 1, 1, number))
    made = MECHANISMS["noisy_tables"].apply(context, parameters | {"epsilon": epsilon})
    return p_value(made.model, made.public, made.model.stan_data(made.public, FAMILIES[family].priors), {})


def regression(generator, x):
    """Outcomes with the slope 0.8."""
    return Records(1 + 0.8 * x + 0.6 * generator.standard_normal(len(x)), np.column_stack([np.ones(len(x)), x]))


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_the_fourth_cumulant_is_that_of_the_noise(scale):
    values = np.arange(-400, 401.0)
    mass = np.exp(-np.abs(values) / scale)
    mass /= mass.sum()
    second, fourth = mass @ values**2, mass @ values**4
    assert _fourth_cumulant(scale) == pytest.approx(fourth - 3 * second**2, rel=1e-9)


def test_small_p_values_are_rare_if_the_family_is_true():
    """At most 14 of 80 below 0.05: the binomial probability of more is below 1e-5."""
    values = [fit_p("beta", Records(np.random.default_rng(k).beta(2, 4, 2000), np.ones((2000, 1))), SHARES, k) for k in range(80)]
    assert np.sum(np.array(values) < 0.05) <= 14
    assert 0.2 < np.median(values) < 0.8


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_what_the_model_does_not_allow_has_a_small_p_value(epsilon):
    generator, n = np.random.default_rng(5), 2000
    two_values, skewed = (generator.random(n) < 0.5) * 1.0, generator.exponential(size=n)
    mixture = np.where(generator.random(n) < 0.5, generator.beta(5, 30, n), generator.beta(20, 20, n))
    assert fit_p("normal", regression(generator, two_values), LINE | {"x_low": -1, "x_high": 2}, epsilon=epsilon) < 1e-6
    assert fit_p("normal", regression(generator, skewed), LINE | {"x_low": 0, "x_high": 4}, epsilon=epsilon) < 1e-6
    assert fit_p("beta", Records(mixture, np.ones((n, 1))), SHARES, epsilon=epsilon) < 1e-6


def test_a_family_with_a_prior_of_its_own_parameters_has_a_test_too():
    generator, n = np.random.default_rng(6), 1500
    x = generator.standard_normal(n)
    mean = np.exp(1 + 0.3 * x)
    records = Records(generator.negative_binomial(4, 4 / (4 + mean)).astype(float), np.column_stack([np.ones(n), x]))
    p = fit_p("negative_binomial_regression", records, {"low": 0, "high": 12, "bins": 6, "x_low": -3, "x_high": 3, "x_bins": 6})
    assert 1e-5 < p <= 1
    assert math.isfinite(p)
