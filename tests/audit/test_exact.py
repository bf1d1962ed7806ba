"""Exact pseudo posteriors against other ways to the same numbers: draws, scipy's distributions, another grid."""

import numpy as np
import pytest
from formalsynth.audit.exact import exact_posteriors
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import BetaPosterior, posterior
from scipy import integrate, stats

FAMILIES.find()
SEEDS = st.integers(0, 2**32 - 1)


def universe(name, seed, n=60):
    """A family's records with a far one at the end, weights for all but that one, and for all."""
    generator = np.random.default_rng(seed)
    z = generator.normal(1, 1, n + 1)
    x = {
        "normal": 2 + z + generator.standard_normal(n + 1),
        "lognormal_regression": np.exp(1 + z + generator.standard_normal(n + 1)),
        "poisson": generator.poisson(20, n + 1).astype(float),
        "beta": generator.beta(0.5, 3, n + 1),
        "negative_binomial": generator.negative_binomial(5, 5 / 25, n + 1).astype(float),
    }[name]
    x[-1] = {"beta": 0.999}.get(name, 4 * x.max())
    records = Records(x, np.column_stack([np.ones(n + 1), z])) if name in LINEAR else intercept_only(x)
    weights = generator.uniform(0.2, 1, n + 1)
    return records, np.append(weights[:-1], 0), weights


LINEAR = ("normal", "lognormal_regression")
FAMILIES_WITH_EXACT = (*LINEAR, "poisson", "beta", "negative_binomial")


def exact(name, seed=1):
    records, without, full = universe(name, seed)
    family = FAMILIES[name]
    return records, family, exact_posteriors(family, records, family.priors), without, full


@pytest.mark.parametrize("name", LINEAR)
def test_linear_posterior_is_the_conjugate_one(name):
    records, family, posteriors, _, weights = exact(name)
    ours = posteriors.posterior(weights)
    theirs = posterior(records.design, family.outcome(records), weights, family.priors)
    np.testing.assert_allclose(ours.precision, theirs.precision, rtol=1e-10)
    assert ours.a == pytest.approx(theirs.shape)
    assert ours.rate == pytest.approx(theirs.rate)
    uniforms = np.random.default_rng(2).random((4000, 3))
    found = theirs.uniforms(posteriors.draws(ours, uniforms))
    assert all(stats.kstest(column, "uniform").pvalue > 1e-5 for column in found.T)


@settings(max_examples=4)
@given(st.sampled_from(LINEAR), SEEDS)
def test_linear_losses_are_those_of_plain_draws(name, seed):
    """The loss at draws of the posterior itself, from the densities of scipy."""
    records, family, posteriors, without, weights = exact(name, seed)
    losses = posteriors.losses([posteriors.posterior(without)], [posteriors.posterior(weights)], 3)
    one, other = (posterior(records.design, family.outcome(records), each, family.priors) for each in (without, weights))
    draws = one.draws(np.random.default_rng(seed), 40_000)
    plain = log_density(one, draws) - log_density(other, draws)
    for epsilon in np.quantile(plain, [0.3, 0.8, 0.97]).clip(0):
        contribution = np.maximum(-np.expm1(epsilon - plain), 0)
        band = 5 * contribution.std() / 200 + 1e-4
        assert losses.forward.delta(epsilon) == pytest.approx(contribution.mean(), abs=band + 0.03 * contribution.mean())


def log_density(posterior, draws):
    """Log density of beta and sigma^2, by scipy."""
    variance = draws["sigma"] ** 2
    offset = draws["beta"] - posterior.mean
    quadratic = np.einsum("si,ij,sj->s", offset, posterior.precision, offset) / variance
    coefficients = 0.5 * np.linalg.slogdet(posterior.precision)[1] - 0.5 * len(posterior.mean) * np.log(variance) - quadratic / 2
    return coefficients + stats.invgamma.logpdf(variance, posterior.shape, scale=posterior.rate)


def test_poisson_losses_are_those_of_two_gamma_distributions():
    records, family, posteriors, without, weights = exact("poisson")
    prior = family.priors
    one, other = (stats.gamma(prior["shape"] + w @ records.x, scale=1 / (prior["rate"] + w.sum())) for w in (without, weights))
    losses = posteriors.losses([posteriors.posterior(without)], [posteriors.posterior(weights)], 0)
    grid = np.linspace(one.ppf(1e-14), other.isf(1e-14), 400_001)
    p, q = one.pdf(grid), other.pdf(grid)
    for epsilon in (0.1, 1.0, 3.0):
        for found, excess in ((losses.forward, p - np.exp(epsilon) * q), (losses.backward, q - np.exp(epsilon) * p)):
            exact_delta = integrate.trapezoid(np.maximum(excess, 0), grid)
            assert found.delta(epsilon) == pytest.approx(exact_delta, rel=2e-3, abs=1e-12)
    draws = posteriors.draws(posteriors.posterior(weights), np.random.default_rng(1).random((4000, 1)))
    assert stats.kstest(draws["mu"], other.cdf).pvalue > 1e-5


@pytest.mark.parametrize("threshold", [None, 0.8])
def test_beta_losses_are_those_of_another_grid(threshold):
    records, family, posteriors, without, weights = exact("beta")
    losses = posteriors.losses(*([posteriors.posterior(each, threshold)] for each in (without, weights)), 0)
    oracle = BetaPosterior.equally_spaced(family.priors, points=251)
    one, other = (oracle.log_mass(records.x, each, threshold) for each in (without, weights))
    for epsilon in (0.05, 0.3):
        excess = np.maximum(np.exp(one) - np.exp(epsilon + other), 0).sum()
        assert losses.forward.delta(epsilon) == pytest.approx(excess, rel=0.03, abs=1e-5)


def test_negative_binomial_losses_are_those_of_another_grid():
    records, family, posteriors, without, weights = exact("negative_binomial")
    losses = posteriors.losses(*([posteriors.posterior(each)] for each in (without, weights)), 0)
    mu, phi = (each.ravel() for each in np.meshgrid(np.linspace(8, 60, 400), np.exp(np.linspace(-1.5, 5, 300))))
    log_prior = stats.gamma.logpdf(mu, family.priors["shape"], scale=1 / family.priors["rate"])
    log_prior += stats.halfcauchy.logpdf(1 / phi, scale=family.priors["dispersion"]) - np.log(phi)
    values, inverse = np.unique(records.x, return_inverse=True)
    table = stats.nbinom.logpmf(values, phi[:, None], (phi / (phi + mu))[:, None])
    one, other = (np.exp(each - each.max()) for each in (log_prior + table @ np.bincount(inverse, w) for w in (without, weights)))
    one, other = one / one.sum(), other / other.sum()
    for epsilon in (0.2, 1.0):
        excess = np.maximum(one - np.exp(epsilon) * other, 0).sum()
        assert losses.forward.delta(epsilon) == pytest.approx(excess, rel=0.02, abs=1e-6)


@pytest.mark.parametrize("name", ["beta", "negative_binomial"])
def test_draws_from_a_lattice_have_the_moments_of_its_masses(name):
    _, _, posteriors, _, weights = exact(name)
    one = posteriors.posterior(weights)
    draws = posteriors.draws(one, np.random.default_rng(4).random((20_000, 2)))
    points = (
        one.lattice.centre
        + np.stack([axis.ravel() for axis in np.meshgrid(*one.lattice.axes, indexing="ij")], 1) @ one.lattice.root.T
    )
    exact_draws = posteriors._coordinates.draws(points)
    for key, values in draws.items():
        mean = one.shares.ravel() @ exact_draws[key]
        sd = np.sqrt(one.shares.ravel() @ (exact_draws[key] - mean) ** 2)
        assert values.mean() == pytest.approx(mean, abs=5 * sd / 140)
        assert values.std() == pytest.approx(sd, rel=0.08)


@pytest.mark.parametrize("name", FAMILIES_WITH_EXACT)
def test_the_same_data_cost_nothing_and_a_bounded_loss_there_is_none(name):
    _, _, posteriors, without, weights = exact(name)
    one, other = posteriors.posterior(without), posteriors.posterior(weights)
    for delta in (0, 1e-5, 1e-3):
        assert posteriors.losses([one], [one], 0).epsilon(delta) == pytest.approx(0, abs=1e-6)
    assert np.isinf(posteriors.losses([one], [other], 0).epsilon(0))


@pytest.mark.parametrize("name", FAMILIES_WITH_EXACT)
def test_a_mixture_of_one_is_that_one_and_mixing_never_raises_the_loss(name):
    _, _, posteriors, without, weights = exact(name)
    one, other, third = (posteriors.posterior(each) for each in (without, weights, 0.9 * weights))
    alone = posteriors.losses([one], [other], 0)
    doubled = posteriors.losses([one, one], [other, other], 0)
    assert doubled.epsilon(1e-3) == pytest.approx(alone.epsilon(1e-3), abs=0.05 + 5 * alone.error(1e-3) + 5 * doubled.error(1e-3))
    mixed = posteriors.losses([one, third], [other, third], 0)
    assert mixed.delta(1.0) <= alone.delta(1.0) + 0.01


@settings(max_examples=6)
@given(SEEDS, st.floats(0.5, 4), st.floats(-9, 9))
def test_censoring_costs_epsilon_for_one_record_more_and_twice_that_for_one_changed(seed, epsilon, far):
    """The control: with weights that do not look at the data, strictly (censor paper; erratum E5)."""
    generator = np.random.default_rng(seed)
    x = np.append(generator.beta(0.5, 3, 30), [1 / (1 + np.exp(-far)), 1e-6])
    family = FAMILIES["beta"]
    posteriors = exact_posteriors(family, intercept_only(x), family.priors)
    absent, first, second = (posteriors.posterior(np.append(np.ones(30), last), epsilon / 2) for last in ([0, 0], [1, 0], [0, 1]))
    assert posteriors.losses([absent], [first]).epsilon(0) <= epsilon + 1e-9
    assert posteriors.losses([absent], [second]).epsilon(0) <= epsilon + 1e-9
    assert posteriors.losses([first], [second]).epsilon(0) <= 2 * epsilon + 1e-9


def test_censoring_is_as_bad_as_it_says():
    """The worst pair at epsilon 1.6 comes within a few hundredths of it: what is claimed cannot be lowered."""
    x = np.append(np.random.default_rng(1).beta(0.5, 2, 2000), [0.03, 1 - 1e-9])
    family = FAMILIES["beta"]
    posteriors = exact_posteriors(family, intercept_only(x), family.priors)
    absent, low, high = (posteriors.posterior(np.append(np.ones(2000), last), 0.8) for last in ([0, 0], [1, 0], [0, 1]))
    assert posteriors.losses([absent], [high]).epsilon(0) == pytest.approx(1.6, abs=0.05)
    assert posteriors.losses([low], [high]).epsilon(0) == pytest.approx(3.2, abs=0.1)


def test_a_family_without_an_exact_posterior_says_what_to_do():
    family = FAMILIES["gamma_regression"]
    with pytest.raises(KeyError, match="audit its draws instead"):
        exact_posteriors(family, intercept_only(np.ones(3)), family.priors)
    linear = FAMILIES["normal"]
    with pytest.raises(ValueError, match="censored"):
        exact_posteriors(linear, intercept_only(np.arange(4.0)), linear.priors).posterior(np.ones(4), 1.0)
