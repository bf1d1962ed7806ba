"""Beta families against grid posteriors, finite differences and each other."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln
from stan_forms import check_gradient, check_moments, check_same_path

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.centring import Centred, Reference
from formalsynth.core.family import FAMILIES
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.weights import lipschitz_weights
from formalsynth.data.populations.beta import beta
from formalsynth.data.sdr import salary_records
from formalsynth.families.beta import LARGEST, SMALLEST, beta_coefficients, beta_terms
from formalsynth.stan.sample import sample

FAMILIES.find()
BETA = FAMILIES["beta"]
LONG = SamplerSettings(draws=4000, ess_min=1000)


def records_of(n=300, seed=1):
    return beta(np.random.default_rng(seed), n, shape1=0.5, shape2=3.0)


def grid_posterior(records, weights, threshold, reference=None):
    """Moments of phi, lambda and of the number of censored records, by two-dimensional quadrature."""
    centre = sample_free_centre(records, weights)
    # Two steps or more in each standard deviation: the sums are then integrals to the last digits.
    phi = np.linspace(*centre["phi"], 161)
    lam = np.exp(np.linspace(*np.log(centre["lambda"]), 161))
    terms = weights[:, None] * beta_terms(records.x)
    log_density = np.empty((len(phi), len(lam)))
    beyond = np.empty_like(log_density)
    for k, value in enumerate(phi):
        parts = terms @ beta_coefficients(lam * value, lam * (1 - value)).T
        if reference is not None:
            parts -= (terms @ beta_coefficients(*reference))[:, None]
        beyond[k] = 0 if threshold is None else (np.abs(parts) > threshold).sum(axis=0)
        log_density[k] = (parts if threshold is None else np.clip(parts, -threshold, threshold)).sum(axis=0)
    prior = BETA.priors
    # d lambda = lambda d log lambda on the grid
    log_density += -(prior["lambda_shape"] + 1) * np.log(lam) + np.log(lam)
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    edges = max(mass[0].sum(), mass[-1].sum(), mass[:, 0].sum(), mass[:, -1].sum())
    assert edges < 1e-8, "the grid does not hold the posterior"

    def moments(values):
        mean = (mass * values).sum()
        return mean, np.sqrt((mass * (values - mean) ** 2).sum())

    return {"phi": moments(phi[:, None]), "lambda": moments(lam[None, :]), "beyond": moments(beyond)}


def sample_free_centre(records, weights):
    """A rectangle that is wide enough for every posterior of these tests."""
    return {"phi": (0.02, 0.5), "lambda": (0.15, 60.0)}


@pytest.mark.stan
@pytest.mark.parametrize("case", ["unweighted", "weighted", "censored", "censored weighted", "censored centred"])
def test_posterior_agrees_with_the_grid(compiled, case):
    records = records_of()
    ones = np.ones(300)
    weights = ones
    if "weighted" in case and case != "unweighted":
        left, right = BETA.factors(records, {"phi": np.array([1 / 7]), "lambda": np.array([3.5])})
        weights = lipschitz_weights(np.abs(left @ right.T)[0])
    threshold = 2.0 if "censored" in case else None
    family, shapes = BETA, None
    if "centred" in case:
        family, shapes, threshold = Centred(BETA, Reference((("phi", 0.25), ("lambda", 4.0)))), (1.0, 3.0), 0.25
    exact = grid_posterior(records, weights, threshold, shapes)
    data = family.stan_data(records, weights, BETA.priors, threshold)
    fit = sample(compiled("beta"), data, BETA.inits(data), BETA.parameters, 7, LONG)
    assert fit.status == "ok", fit.reason
    draws = dict(fit.draws)
    if threshold is not None:
        left, right = family.factors(records, draws)
        draws["beyond"] = (np.abs(left @ (weights[:, None] * right).T) > threshold).sum(axis=1)
    effective = min(fit.ess_bulk_min, fit.ess_tail_min) / 2
    for name, values in draws.items():
        check_moments(values, *exact[name], effective, name)


@pytest.mark.stan
@pytest.mark.parametrize("family", ["beta", pytest.param("beta_regression", marks=pytest.mark.slow)])  # long to compile
def test_native_and_portable_forms_are_the_same_density(compiled, family):
    kind = FAMILIES[family]
    records = salary_sample(150) if family == "beta_regression" else records_of(150)
    check_same_path(compiled, kind, kind.stan_data(records, np.ones(150), kind.priors, 2.5))
    check_same_path(compiled, kind, around(kind).stan_data(records, np.ones(150), kind.priors, 2.5))


@pytest.mark.stan
@pytest.mark.parametrize(("family", "native"), [
    ("beta", True), ("beta", False), ("beta_regression", True), pytest.param("beta_regression", False, marks=pytest.mark.slow),
])  # fmt: skip
def test_gradient_agrees_with_finite_differences(compiled, family, native, tmp_path):
    kind = FAMILIES[family]
    records = salary_sample(80) if family == "beta_regression" else records_of(80)
    data = kind.stan_data(records, np.linspace(0.1, 1, 80), kind.priors, 1.5)
    centred = around(kind).stan_data(records, np.linspace(0.1, 1, 80), kind.priors, 1.5)
    assert not np.array_equal(centred["centre"], data["centre"])
    assert check_gradient(compiled(family, native), centred, tmp_path) == (2 if family == "beta" else data["p"] + 1)
    assert check_gradient(compiled(family, native), data, tmp_path) == (2 if family == "beta" else data["p"] + 1)


def around(kind):
    """The family around a reference; of a regression, one with different values for each coefficient."""
    mean = ("phi", 0.25) if kind is BETA else ("coefficient", tuple(np.linspace(-0.5, 0.5, 11).tolist()))
    return Centred(kind, Reference((mean, ("lambda", 5.0))))


@pytest.mark.parametrize("family", ["beta", "beta_regression"])
@pytest.mark.parametrize("threshold", [0.1, 0.3])
def test_the_input_of_stan_is_the_sum_of_clipped_differences(family, threshold):
    """As the program takes it: terms of each record times its coefficients less the centre, clipped on both sides."""
    kind, records, weights = FAMILIES[family], salary_sample(60), np.linspace(0, 1, 60)
    draws = {"lambda": np.array([9.0])}
    draws |= {"phi": np.array([0.4])} if family == "beta" else {"coefficient": np.linspace(-1, 1, 11)[None]}
    data = around(kind).stan_data(records, weights, kind.priors, threshold)
    here, there = (kind.centre(records, at) for at in (draws, around(kind).reference.draws))
    np.testing.assert_array_equal(data["centre"], there)
    rows = (here - data["centre"]).reshape(-1, 3)[data["group"] - 1 if family == "beta_regression" else np.zeros(59, dtype=int)]
    result = np.clip((data["weight"][:, None] * beta_terms(data["x"]) * rows).sum(axis=1), -threshold, threshold)
    densities = [stats.beta(*kind.shapes(records, at)).logpdf(records.x)[0] for at in (draws, around(kind).reference.draws)]
    expected = np.clip(weights * (densities[0] - densities[1]), -threshold, threshold)
    np.testing.assert_allclose(result, expected[1:], atol=1e-9)
    assert (expected == threshold).any()
    assert (expected == -threshold).any()


def salary_sample(n):
    generator = np.random.default_rng(9)
    age = generator.choice(np.arange(30.0, 75.0, 5.0), n)
    salary, male = 509_000 * generator.beta(2, 6, n), generator.random(n) < 0.6
    return salary_records(salary, male, age, generator.choice([36.0, 52.0], n)).in_unit(509_000)


@pytest.mark.parametrize("family", ["beta", "beta_regression"])
def test_factors_are_the_log_density(family):
    kind, generator = FAMILIES[family], np.random.default_rng(2)
    records = salary_sample(60) if family == "beta_regression" else records_of(60)
    draws = {"lambda": generator.uniform(0.2, 30, 20)}
    draws |= {"phi": generator.random(20)} if family == "beta" else {"coefficient": generator.normal(0, 0.5, (20, 11))}
    left, right = kind.factors(records, draws)
    shape1, shape2 = kind.shapes(records, draws)
    expected = stats.beta(shape1, shape2).logpdf(records.x)
    np.testing.assert_allclose(left @ right.T, expected, rtol=1e-9, atol=1e-8)


def test_records_at_the_edge_of_the_unit_interval_stay_finite():
    x = np.array([0.0, 1e-320, SMALLEST, 1e-12, 0.5, LARGEST, 1.0])
    terms = beta_terms(x)
    assert np.isfinite(terms).all()
    np.testing.assert_allclose(terms[3], [np.log(1e-12), np.log1p(-1e-12), 1])
    draws = {"phi": np.array([0.2, 0.9]), "lambda": np.array([0.3, 20.0])}
    bounds = record_bounds(BETA, Records(x, np.ones((7, 1))), draws, [Sensitive(np.ones(7))])[0]
    assert np.isfinite(bounds.by_record).all()


def test_heavy_draws_near_zero_are_exact():
    """Beta(0.5, 3) draws go down to 1e-9 and below: their density is that of scipy to the last digits."""
    x = np.array([1e-9, 1e-14, 1e-30, 1e-200])
    draws = {"phi": np.array([1 / 7]), "lambda": np.array([3.5])}
    left, right = BETA.factors(Records(x, np.ones((4, 1))), draws)
    expected = -0.5 * np.log(x) + 2 * np.log1p(-x) - betaln(0.5, 3)
    np.testing.assert_allclose((left @ right.T)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("family", ["beta", "beta_regression"])
def test_uncensored_terms_add_up_to_the_weighted_log_likelihood(family):
    """The input of Stan reproduces the weighted log-likelihood at any parameter."""
    kind = FAMILIES[family]
    records = salary_sample(60) if family == "beta_regression" else records_of(60)
    weights = np.linspace(0, 1, 60)
    data = kind.stan_data(records, weights, kind.priors)
    draws = {"lambda": np.array([4.0])}
    draws |= {"phi": np.array([0.2])} if family == "beta" else {"coefficient": np.linspace(-1, 1, 11)[None]}
    left, right = kind.factors(records, draws)
    expected = (weights * (left @ right.T)[0]).sum()
    if family == "beta":
        result = data["term_sums"] @ left[0]
    else:
        coefficients = beta_coefficients(*kind._shapes_at(data["design"] @ np.linalg.inv(data["inverse_factor"]), draws))[0]
        result = (data["term_sums"] * coefficients).sum()
    assert result == pytest.approx(expected, rel=1e-10)


def test_intervals_match_the_distribution_function():
    draws = {"phi": np.array([0.2, 0.6]), "lambda": np.array([3.0, 40.0])}
    records = Records(np.array([0.1, 0.5, 0.95]), np.ones((3, 1)))
    lower, upper = np.array([0.05, 0.3, 0.9]), np.array([0.2, 0.9, 1.7])
    result = BETA.log_interval_probability(records, draws, lower, upper)
    distribution = stats.beta(*BETA.shapes(records, draws))
    np.testing.assert_allclose(np.exp(result), distribution.cdf(upper) - distribution.cdf(lower), rtol=1e-9)


def test_prior_draws_have_the_prior_quantiles():
    draws = BETA.prior_draws(np.random.default_rng(4), BETA.priors, 20_000)
    assert stats.kstest(draws["phi"], stats.uniform().cdf).pvalue > 1e-5
    assert stats.kstest(draws["lambda"], stats.pareto(1.5, scale=0.1).cdf).pvalue > 1e-5
