"""Density of the posterior given noisy tables: its likelihood, its agreement with Stan, and the information of the tables."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from stan_forms import check_gradient, check_same_path

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.tables import tabled
from formalsynth.inference.density import TablesDensity, importance_draws, information
from formalsynth.inference.tables_model import TablesModel
from formalsynth.stan.command import ChainFailed
from formalsynth.stan.sample import Lengths, run_chain, sample

FAMILIES.find()
X = np.random.default_rng(1).normal(2, 1, 900)
RNG = np.random.default_rng(2)
TWO = np.column_stack([X, X / 2 + RNG.standard_normal(900)])
CASES = {
    "normal": ("normal", RNG.normal(1, 2, 900), None, (-5, 7, 12)),
    "lognormal regression": ("lognormal_regression", np.exp(1 + X + RNG.standard_normal(900)), X, (0.05, 8000, 12)),
    "two correlated predictors": ("normal", TWO @ [1, -1] + RNG.standard_normal(900), TWO, (-4, 5, 10)),
    "beta": ("beta", RNG.beta(0.5, 3, 900), None, (0, 1, 15)),
    "beta regression": ("beta_regression", RNG.beta(1 + X**2 / 2, 3), X, (0, 1, 8)),
    "gamma regression": ("gamma_regression", RNG.gamma(3, np.exp(0.3 * X)), X, (0.5, 30, 10)),
    "poisson": ("poisson", RNG.poisson(6, 900), None, (0, 20, 10)),
    "negative binomial": ("negative_binomial", RNG.negative_binomial(2, 2 / 12, 900), None, (0, 60, 12)),
}
COUNTS = "counts with a predictor"
HIERARCHICAL = {COUNTS: ("negative_binomial_regression", RNG.negative_binomial(2, 2 / (2 + np.exp(1 + 0.3 * X))), X, (0, 60, 12))}
"""Its prior has hyperparameters, which only Stan samples."""


def histogram(counts):
    """One table with one row."""
    return Tables(counts[None, None], np.empty((0, 1, 1)))


def posterior(name, epsilon, records=900):
    """Density given noisy tables of a case, with its model and starting point."""
    family, outcomes, x, declared = (CASES | HIERARCHICAL)[name]
    model = TablesModel(tabled(FAMILIES[family]))
    design = np.column_stack([np.ones(records), *([] if x is None else [x[:records]])])
    outcome, predictors = Bins(*declared, model.tabled.log), (Bins(-1, 5, 8),) * (design.shape[1] - 1)
    exact = Tables.of(Records(outcomes[:records].astype(float), design), outcome, predictors)
    scale = len(exact) / epsilon
    noisy = DiscreteLaplaceCounts(exact.flat, scale).noisy(np.random.default_rng(3), 1)[0]
    public = PublicTables(outcome, predictors, exact.with_counts(noisy), scale, epsilon)
    data = model.stan_data(public, FAMILIES[family].priors)
    density = TablesDensity(data)
    return model, density, model.inits(public, data)


@pytest.mark.parametrize("scale", [0.2, 1.0, 2.0, 8.0])
def test_small_noisy_counts_have_the_likelihood_of_a_poisson_count_plus_noise(scale):
    """The ratio to the convolution, summed over all counts, is the same for every expected count."""
    outcome = Bins(0, 1, 7)
    noisy = np.array([-5.0, -1, 0, 1, 3, 9, 14])
    declared = tabled(FAMILIES["beta"])
    data = TablesModel(declared).stan_data(PublicTables(outcome, (), histogram(noisy), scale, 1), FAMILIES["beta"].priors)
    small = np.asarray(data["small_cell"]) - 1
    assert set(small) >= set(range(6))
    j = np.arange(3000)
    for cell, coefficients in zip(small, data["polynomial"], strict=True):
        means = np.array([1e-3, 0.1, 1, 4, 12, 20])
        mass = stats.poisson.pmf(j, means[:, None]) * stats.dlaplace.pmf(noisy[cell] - j, 1 / scale)
        ours = np.exp(-means) * np.polynomial.polynomial.polyval(means, coefficients)
        ratio = ours / mass.sum(axis=1)
        np.testing.assert_allclose(ratio / ratio[0], 1, rtol=2e-3)


@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_every_cell_is_either_small_or_large(scale):
    noisy = histogram(np.array([-40.0, 3, 500, 12, 80, 13, 16]))
    data = TablesModel(tabled(FAMILIES["beta"])).stan_data(
        PublicTables(Bins(0, 1, 7), (), noisy, scale, 1), FAMILIES["beta"].priors
    )
    assert sorted([*data["small_cell"], *data["large_cell"]]) == [1, 2, 3, 4, 5, 6, 7]
    assert data["small"] == len(data["small_cell"]) == (4 if scale < 1 else 0)


@pytest.mark.parametrize("name", CASES)
def test_draws_agree_with_those_of_stan(name, compiled):
    """Means differ by less than 6 errors of 90 effective draws, standard deviations by less than 30 %."""
    model, density, inits = posterior(name, 10 if "two" in name else 1)
    posterior_draws = importance_draws(density, density.point(inits), np.random.default_rng(4), 2000)
    assert posterior_draws.effective > 150
    settings = SamplerSettings(draws=500, warmup=250, ess_min=50, rhat_max=1.1)
    fit = sample(compiled("noisy_tables"), density.data, inits, model.parameters, 1, settings)
    assert fit.status == "ok", fit.reason
    ours = density.sampled(posterior_draws.points)
    for parameter, theirs in fit.draws.items():
        sd = theirs.std(axis=0)
        assert (np.abs(ours[parameter].mean(axis=0) - theirs.mean(axis=0)) < 6 * sd / np.sqrt(90)).all(), parameter
        np.testing.assert_allclose(ours[parameter].std(axis=0), sd, rtol=0.3)


@pytest.mark.slow  # the portable form takes half a minute to compile
@pytest.mark.stan
@pytest.mark.parametrize("epsilon", [0.3, 2])
@pytest.mark.parametrize("name", [*CASES, COUNTS])
def test_native_and_portable_forms_are_the_same_density(name, epsilon, compiled):
    """Few records, so that cells with the exact likelihood and those with the normal one have a share in it."""
    model, density, inits = posterior(name, epsilon, records=300)
    program = SimpleNamespace(program="noisy_tables", parameters=model.parameters, inits=lambda data: inits)
    check_same_path(compiled, program, density.data, rtol=1e-4)


@pytest.mark.stan
@pytest.mark.parametrize("name", [*CASES, COUNTS])
def test_gradient_agrees_with_finite_differences(name, compiled, tmp_path):
    _, density, inits = posterior(name, 1, records=300)
    hierarchy = 3 if name == COUNTS else 0
    assert check_gradient(compiled("noisy_tables"), density.data, tmp_path, inits) == density.dimension + hierarchy


@pytest.mark.stan
@pytest.mark.parametrize("parameter", ["theta", "log_spread", "log_x_sd"])
def test_parameters_beyond_all_numbers_have_no_density(parameter, compiled):
    """Stan refuses to start there, instead of taking a limit of the probabilities for the value."""
    _, density, inits = posterior("lognormal regression", 1, records=300)
    inits = {**inits, parameter: np.full(np.shape(inits[parameter]), 1e300)}
    with pytest.raises(ChainFailed):
        run_chain(compiled("noisy_tables"), density.data, inits, ("lp__",), 1, Lengths(5, 5, 1, 0.8))


def test_the_search_for_the_mode_survives_empty_tables():
    """No record at all, and counts that are negative by noise."""
    _, density, inits = posterior("beta", 0.1, records=0)
    posterior_draws = importance_draws(density, density.point(inits), np.random.default_rng(5))
    assert np.isfinite(posterior_draws.points).all()


def test_tables_of_many_bins_without_noise_have_the_information_of_the_records():
    """A normal distribution: n / sigma^2 for the mean, 2 n for the logarithm of sigma, n for that of the number of records."""
    outcome, n, sigma = Bins(-12, 12, 1500), 5000, 2.0
    counts = n * np.diff(stats.norm.cdf(outcome.edges, 0.3, sigma))
    model = TablesModel(tabled(FAMILIES["normal"]))
    data = model.stan_data(PublicTables(outcome, (), histogram(counts), 1, 1), FAMILIES["normal"].priors)
    point = np.array([0.3, np.log(sigma), np.log(n)])
    np.testing.assert_allclose(information(TablesDensity(data), point, 1e-12), np.diag([n / 4, 2 * n, n]), rtol=0.01, atol=20)


def test_noise_takes_information_away():
    _, density, inits = posterior("negative binomial", 1)
    point = density.point(inits)
    without, less = (np.linalg.inv(information(density, point, variance)) for variance in (1e-9, 8.0))
    assert (np.diag(less) > np.diag(without)).all()
