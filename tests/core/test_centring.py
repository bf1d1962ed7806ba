"""Log-likelihoods as differences from those at a reference parameter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from formalsynth.core import arrays as core_arrays
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.centring import Centred, Reference, centred, finite, log_likelihood_at
from formalsynth.core.family import FAMILIES, log_likelihood

FAMILIES.find()
BETA, REGRESSION, LOGNORMAL = (FAMILIES[name] for name in ("beta", "beta_regression", "lognormal_regression"))
SHARES = Reference((("phi", 0.25), ("lambda", 4.0)))


def test_a_reference_is_a_draw_of_numbers_and_coefficients():
    draws = {"coefficient": np.array([[0.5, -1.0]]), "lambda": np.array([3.0])}
    reference = Reference.of(draws)
    assert reference == Reference((("coefficient", (0.5, -1.0)), ("lambda", 3.0)))
    assert hash(reference) == hash(Reference.of(reference.draws))
    for name, values in draws.items():
        np.testing.assert_array_equal(reference.draws[name], values)
    assert centred(BETA, None) is BETA


@pytest.mark.parametrize(
    ("name", "x", "reference", "draws", "expected"),
    [
        (
            "beta", [0.1, 0.9], {"phi": 0.25, "lambda": 4.0}, {"phi": 0.5, "lambda": 8.0},
            stats.beta(4, 4).logpdf([0.1, 0.9]) - stats.beta(1, 3).logpdf([0.1, 0.9]),
        ),
        (
            "poisson", [3, 30, 3], {"mu": 20.0}, {"mu": 10.0},
            stats.poisson(10).logpmf([3, 30, 3]) - stats.poisson(20).logpmf([3, 30, 3]),
        ),
    ],
)  # fmt: skip
def test_factors_are_those_of_the_ratio_of_the_densities(name, x, reference, draws, expected):
    family = Centred(FAMILIES[name], Reference(tuple(reference.items())))
    values = log_likelihood(family, intercept_only(np.array(x)), {key: np.array([value]) for key, value in draws.items()})
    np.testing.assert_allclose(values[0], expected, atol=1e-12)
    same = log_likelihood(family, intercept_only(np.array(x)), family.reference.draws)
    np.testing.assert_array_equal(same, np.zeros((1, len(x))))


@given(st.floats(1e-6, 1e6), st.integers(0, 2**32 - 1))
def test_no_unit_of_the_outcome_matters(unit, seed):
    """Amounts in another unit, with the intercepts of theta and of the reference moved alike."""
    generator = np.random.default_rng(seed)
    z = generator.normal(1, 1, 20)
    design, x = np.column_stack([np.ones(20), z]), np.exp(1 + z + generator.normal(size=20))
    values = [
        log_likelihood(
            Centred(LOGNORMAL, Reference((("beta", (1 + shift, 0.8)), ("sigma", 1.2)))),
            Records(x * scale, design),
            {"beta": np.array([[0.5 + shift, 1.1]]), "sigma": np.array([0.9])},
        )
        for scale, shift in ((1.0, 0.0), (unit, np.log(unit)))
    ]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6)


@pytest.mark.parametrize("dense", [0, 5_000_000])
def test_a_record_without_a_density_changes_the_value_of_no_other(monkeypatch, dense):
    """A matrix product of the factors has the coefficients of all records next to each other, unless there are many."""
    monkeypatch.setattr(core_arrays, "LARGEST_DENSE", dense)
    design = np.array([[1.0, np.inf], [1.0, 2.0], [1.0, 1e300], [np.nan, 1.0], [1.0, 2.0]])
    x = np.array([0.2, 0.7, 0.4, 0.4, np.nan])
    draws = {"coefficient": np.array([[0.1, 0.0]]), "lambda": np.array([5.0])}
    values = log_likelihood_at(REGRESSION, Records(x, design), draws)
    mean = 1 / (1 + np.exp(-0.1))
    expected = stats.beta(5 * mean, 5 * (1 - mean)).logpdf([0.7, 0.4])
    np.testing.assert_allclose(values[[1, 2]], expected)
    assert np.isnan(values[[0, 3, 4]]).all()
    np.testing.assert_allclose(log_likelihood_at(REGRESSION, Records(x[1:3], design[1:3]), draws), expected)


@pytest.mark.parametrize("dense", [0, 5_000_000])
def test_a_count_that_is_impossible_at_the_reference_changes_the_value_of_no_other(monkeypatch, dense):
    monkeypatch.setattr(core_arrays, "LARGEST_DENSE", dense)
    values = log_likelihood_at(FAMILIES["poisson"], intercept_only(np.array([0.0, 3.0, 0.0])), {"mu": np.array([0.0])})
    assert np.isnan(values).tolist() == [False, True, False]
    np.testing.assert_array_equal(values[[0, 2]], 0.0)
    np.testing.assert_array_equal(finite(np.array([-np.inf, np.nan, 2.0])), [0, 0, 2])


@pytest.mark.parametrize("name", ["poisson", "negative_binomial"])
@pytest.mark.parametrize("undefined", [np.nan, np.inf])
def test_a_count_that_is_not_finite_changes_the_value_of_no_other(name, undefined):
    draws = {"mu": np.array([2.0])} | ({} if name == "poisson" else {"phi": np.array([1e9])})
    values = log_likelihood_at(FAMILIES[name], intercept_only(np.array([1.0, undefined, 30.0])), draws)
    assert np.isnan(values).tolist() == [False, True, False]
    np.testing.assert_allclose(values[[0, 2]], stats.poisson(2).logpmf([1, 30]), rtol=1e-6)


def test_bounds_are_those_of_clipped_differences():
    records = intercept_only(np.array([0.05, 0.3, 0.9]))
    draws = {"phi": np.array([0.25, 0.3]), "lambda": np.array([4.0, 5.0])}
    difference = stats.beta(1.5, 3.5).logpdf(records.x) - stats.beta(1, 3).logpdf(records.x)
    form = Sensitive(np.full(3, 0.5), threshold=0.105, reference=SHARES)
    bounds = record_bounds(BETA, records, draws, [form])[0]
    np.testing.assert_allclose(bounds.by_record, np.minimum(0.5 * np.abs(difference), 0.105))
    assert bounds.beyond == (0.5 * np.abs(difference) > 0.105).sum() == 2


def test_forms_with_different_references_have_no_common_bounds():
    forms = [Sensitive(np.ones(1), threshold=1.0, reference=reference) for reference in (SHARES, None)]
    assert not forms[0].clips_like(forms[1])
    with pytest.raises(ValueError, match="cannot share a fit"):
        record_bounds(BETA, intercept_only(np.array([0.5])), SHARES.draws, forms)


def test_a_reference_without_a_threshold_is_refused():
    family = Centred(LOGNORMAL, Reference((("beta", (0.0,)), ("sigma", 1.0))))
    records = intercept_only(np.array([1.0, 2.0, 4.0]))
    with pytest.raises(ValueError, match="clipped around a reference"):
        family.stan_data(records, np.ones(3), LOGNORMAL.priors)
