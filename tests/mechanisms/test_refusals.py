"""Inputs and parameters that mechanisms refuse, each with the sentence about it."""

import numpy as np
import pytest

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context
from formalsynth.core.streams import Address
from formalsynth.core.weights import scaled_weights
from formalsynth.mechanisms.capped import capped_weights
from formalsynth.mechanisms.isolation import isolation_risk

for register in (FAMILIES, MECHANISMS):
    register.find()
LIMIT, SCALE, ISOLATION = "positive limit", "positive scale", "isolation needs finite values and nonnegative radii"
COUNT = r"the family requires beta \(2\), sigma \(1\)"
NO_DENSITY = r"reference parameter \[20.0, -1.0\] gives no density"
BOX = {"epsilon": 1.0, "low": -2.0, "high": 2.0, "spread_low": 0.5, "spread_high": 2.0, "points": 3, "thresholds": 4, "x_bins": 3}
TABLES = {"epsilon": 0.7, "low": 0.0, "high": 3.0, "bins": 3, "x_low": -1.0, "x_high": 1.0, "x_bins": 2}
STAGED = {"epsilon": 1.0, "low": 0.0, "high": 1.0, "bins": 5}


@pytest.mark.parametrize(
    ("function", "values", "number", "words"),
    [
        (capped_weights, [1.0, -1.0], 2.0, LIMIT), (capped_weights, [1.0, np.nan], 2.0, LIMIT),
        (capped_weights, [1.0], 0.0, LIMIT), (capped_weights, [1.0], np.nan, LIMIT),
        (scaled_weights, [1.0, -1.0], 2.0, SCALE), (scaled_weights, [1.0, np.nan], 2.0, SCALE),
        (scaled_weights, [1.0], 0.0, SCALE),
        (isolation_risk, [1.0, np.nan], 1.0, ISOLATION), (isolation_risk, [1.0, np.inf], 1.0, ISOLATION),
        (isolation_risk, [1.0, 2.0], -1.0, ISOLATION), (isolation_risk, [1.0, 2.0], np.nan, ISOLATION),
    ],
)  # fmt: skip
def test_values_without_weights_are_refused(function, values, number, words):
    with pytest.raises(ValueError, match=words):
        function(np.array(values), number)


@pytest.mark.parametrize(
    ("name", "family", "columns", "parameters", "words"),
    [
        ("reference", "normal", 2, {"scale": 2.0}, COUNT),
        ("reference", "normal", 2, {"scale": 2.0, "theta1": 1.0}, COUNT),
        ("reference", "normal", 2, {"scale": 2.0, "theta1": 1.0, "theta2": 1.0}, COUNT),
        ("reference", "normal", 2, {"scale": 2.0, "theta1": 1.0, "theta3": 1.0, "theta4": 1.0}, COUNT),
        ("reference", "poisson", 1, {"scale": 2.0, "theta1": -1.0}, "gives no density"),
        ("reference", "negative_binomial", 1, {"scale": 2.0, "theta1": 20.0, "theta2": -1.0}, NO_DENSITY),
        ("minimum_distance", "poisson", 2, BOX, "no predictors, but the design has 1"),
        ("minimum_distance", "normal", 1, BOX | {"spread_low": 3.0}, "spread_low not above spread_high"),
        ("minimum_distance", "normal", 4, BOX | {"points": 13}, "candidates; allowed"),
        ("noisy_tables", "beta_regression", 3, TABLES | {"high": 1.0}, "at most 1 predictors, but the design has 2"),
        ("noisy_tables", "poisson", 2, TABLES, "at most 0 predictors"),
        ("noisy_tables", "beta", 1, TABLES, "bins from 0 to 1"),
        ("noisy_tables", "poisson", 1, TABLES | {"low": -9.0, "high": 1.0}, "starts above 0"),
        ("noisy_tables", "poisson", 1, TABLES | {"high": 1e6}, "at 2000 or below"),
        ("noisy_tables", "lognormal", 1, TABLES, "logarithmic scale"),
        ("censored_two_stage", "no tables", 1, STAGED, "cannot be fitted to noisy tables"),
    ],
)
@pytest.mark.parametrize("n", [0, 1, 30])
def test_families_and_parameters_that_do_not_suit_are_refused_whatever_the_records(name, family, columns, parameters, words, n):
    records = Records(np.ones(n), np.ones((n, columns)))
    context = Context(FAMILIES.get(family, object()), records, Address(1, 1, 1, n, 0))
    with pytest.raises(ValueError, match=words), np.errstate(invalid="ignore"):
        MECHANISMS[name].apply(context, parameters)


@pytest.mark.parametrize(
    ("name", "wrong", "parameters"),
    [
        *(("capped", "M", {"M": limit}) for limit in (0, -1.0, np.nan, np.inf, "2", True, None)),
        ("capped", "M", {}),
        *(("censored_centred", "factor", {"epsilon": 1.0, "factor": factor}) for factor in (0.0, 1.5, -1.0)),
        *(("range_truncated", "[ab]", {"a": a, "b": 2}) for a in (np.nan, "0.5", True)),
        ("range_truncated", "[ab]", {"a": 2, "b": 1}),
        ("range_truncated", "[ab]", {"a": 1}),
    ],
)
def test_parameters_that_no_config_may_have_are_refused_by_name(name, wrong, parameters):
    with pytest.raises(ValueError, match=rf"{name}_parameters\n{wrong}\n"):
        MECHANISMS[name].parameters(**parameters)
