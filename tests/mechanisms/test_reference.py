"""Weights from a declared reference parameter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()
AREAS = Records(np.array([0.2, 0.5, 3.0]), np.eye(7)[[0, 6, 2]])
SEEDS = st.integers(0, 2**32 - 1)
REFERENCE = {"theta1": 1.0, "theta2": 0.5, "theta3": 1.2}


def context(name, records):
    return Context(FAMILIES[name], records, Address(1, 1, 1, len(records), 0))


def sample(seed, n=30):
    generator = np.random.default_rng(seed)
    z = generator.normal(1, 1, n)
    return Records(1 + z + generator.standard_t(3, n), np.column_stack([np.ones(n), z]))


@given(SEEDS, st.floats(0.5, 50))
def test_weights_are_a_smooth_cap_on_the_risk_at_the_reference(seed, scale):
    records = sample(seed)
    form = MECHANISMS["reference"].function(context("normal", records), scale=scale, **REFERENCE)
    risk = np.abs(stats.norm.logpdf(records.x, records.design @ [1.0, 0.5], 1.2))
    np.testing.assert_allclose(form.weights, 1 / np.hypot(1, risk / scale), rtol=1e-9)
    assert (form.weights * risk < scale).all()
    assert (form.sensitive.weights == form.weights).all()
    assert form.affected == (form.weights < 0.5).sum()


def test_exchangeable_coefficients_have_one_reference():
    theta = {"theta1": -1.0, "theta2": 0.5, "theta3": -1.0, "theta4": 0.4}
    form = MECHANISMS["reference"].function(context("lognormal_areas", AREAS), scale=2.0, **theta)
    np.testing.assert_allclose(form.weights, 1 / np.hypot(1, stats.lognorm.logpdf(AREAS.x, 0.5, scale=np.exp(-1)) / 2))


@pytest.mark.parametrize(
    ("name", "x", "theta", "expected"),
    [
        ("beta", [0.1, 0.9], {"theta1": 0.25, "theta2": 4.0}, stats.beta(1, 3).logpdf([0.1, 0.9])),
        ("negative_binomial", [3, 60], {"theta1": 20.0, "theta2": 5.0}, stats.nbinom(5, 0.2).logpmf([3, 60])),
        ("poisson", [3, 30], {"theta1": 20.0}, stats.poisson(20).logpmf([3, 30])),
    ],
)
def test_parameters_are_in_the_order_of_the_family(name, x, theta, expected):
    form = MECHANISMS["reference"].function(context(name, intercept_only(np.array(x))), scale=2.0, **theta)
    np.testing.assert_allclose(form.weights, 1 / np.hypot(1, expected / 2))


def test_the_censored_form_clips_at_half_of_epsilon():
    records = intercept_only(np.array([0.1, 0.9]))
    form = MECHANISMS["reference_censored"].function(context("beta", records), epsilon=3.0, scale=2.0, theta1=0.3, theta2=4.0)
    plain = MECHANISMS["reference"].function(context("beta", records), scale=2.0, theta1=0.3, theta2=4.0)
    assert form.sensitive.threshold == 1.5
    np.testing.assert_array_equal(form.weights, plain.weights)
    assert MECHANISMS["reference_censored"].guarantee == "DP (add/remove)"


def test_coefficients_of_a_beta_regression_are_a_parameter_for_each_column():
    records = Records(np.array([0.2, 0.7]), np.array([[1.0, -1.0], [1.0, 2.0]]))
    form = MECHANISMS["reference"].function(context("beta_regression", records), scale=2.0, theta1=0.1, theta2=0.4, theta3=5.0)
    mean = 1 / (1 + np.exp(-(0.1 + 0.4 * np.array([-1.0, 2.0]))))
    risk = np.abs(stats.beta(5 * mean, 5 * (1 - mean)).logpdf(records.x))
    np.testing.assert_allclose(form.weights, 1 / np.hypot(1, risk / 2))


@pytest.mark.parametrize("far", [-1e9, 1e300, -np.inf])
def test_an_extreme_record_changes_no_other_weight_and_stops_nothing(far):
    """Its shapes are beyond floating point, and a matrix product of the log-likelihood has it next to the others."""
    records = Records(np.array([0.2, 0.7]), np.array([[1.0, far], [1.0, 2.0]]))
    declared = {"epsilon": 1.0, "scale": 2.0, "theta1": 0.1, "theta2": 0.4, "theta3": 5.0}
    both, alone = (
        MECHANISMS["reference_censored"].function(context("beta_regression", rows), **declared)
        for rows in (records, records.take(np.array([1])))
    )
    assert 0 <= both.weights[0] < 0.01
    assert both.weights[1] == pytest.approx(alone.weights[0])
    assert alone.weights[0] > 0.5


CENTRED = {"epsilon": 1.0, "theta1": 0.1, "theta2": 0.0, "theta3": 5.0}


def centred(records, name="beta_regression", **given):
    return MECHANISMS["censored_centred"].function(context(name, records), **(given or CENTRED))


def test_centred_clipping_declares_its_reference_to_the_fit_and_to_the_bound():
    form = centred(Records(np.array([0.2, 0.7]), np.array([[1.0, -1.0], [1.0, 2.0]])), **CENTRED, factor=0.5)
    assert form.sensitive.threshold == 0.5
    assert form.sensitive.reference.values == (("coefficient", (0.1, 0.0)), ("lambda", 5.0))
    assert form.weights.tolist() == form.sensitive.weights.tolist() == [0.5, 0.5]
    assert form.affected == 0


@pytest.mark.parametrize("far", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", ["censored_centred", "reference_censored"])
def test_a_record_that_is_undefined_at_the_reference_has_weight_0_and_changes_no_other(name, far):
    """With a slope of 0 the infinite predictor has no mean at all, and a matrix product has it next to the others."""
    records = Records(np.array([0.2, 0.7]), np.array([[1.0, far], [1.0, 2.0]]))
    declared = CENTRED | ({"scale": 2.0} if name == "reference_censored" else {})
    both, alone = (
        MECHANISMS[name].function(context("beta_regression", rows), **declared) for rows in (records, records.take(np.array([1])))
    )
    assert both.weights.tolist() == [0, pytest.approx(alone.weights[0])]
    assert alone.weights[0] > 0.5


def test_an_infinite_log_likelihood_at_theta_costs_half_of_epsilon():
    """A count that is impossible under a draw: its difference is clipped below, and others keep theirs."""
    form = centred(intercept_only(np.array([3.0])), "poisson", epsilon=1.0, theta1=2.0)
    values = form.sensitive.clipped(np.array([-np.inf, np.inf]))
    assert values.tolist() == [-0.5, 0.5]


@pytest.mark.parametrize("columns", [1, 2, 4, 5])
def test_a_design_has_as_many_columns_as_the_parameter_has_values(columns):
    generator = np.random.default_rng(1)
    records = Records(generator.normal(size=30), np.column_stack([np.ones(30), generator.normal(size=(30, columns - 1))]))
    reference = {f"theta{k + 1}": 0.5 for k in range(columns + 1)}
    weights = MECHANISMS["reference"].function(context("normal", records), scale=5.0, **reference).weights
    risk = np.abs(stats.norm.logpdf(records.x, records.design.sum(axis=1) / 2, 0.5))
    np.testing.assert_allclose(weights, 1 / np.hypot(1, risk / 5), rtol=1e-7)
