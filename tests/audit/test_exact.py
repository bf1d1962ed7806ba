"""Tests of exact pseudo posteriors against draws, scipy's distributions and another grid."""

import numpy as np
import pytest
from densities import delta_of
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import BetaPosterior, posterior
from scipy import integrate, special, stats

from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.sampled import SampledPosteriors
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES

FAMILIES.find()
SEEDS = st.integers(0, 2**32 - 1)


def universe(name, seed, n=60):
    """A family's records with an outlier at the end, weights without the outlier, and weights of all records."""
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
    uniform = theirs.uniforms(posteriors.draws(ours, uniforms))
    assert all(stats.kstest(column, "uniform").pvalue > 1e-5 for column in uniform.T)


@settings(max_examples=4)
@given(st.sampled_from(LINEAR), SEEDS)
def test_linear_losses_are_those_of_plain_draws(name, seed):
    """Reference: the loss at draws of the posterior, from scipy's densities."""
    records, family, posteriors, without, weights = exact(name, seed)
    losses = posteriors.losses([posteriors.posterior(without)], [posteriors.posterior(weights)], 3)
    base, other = (posterior(records.design, family.outcome(records), w, family.priors) for w in (without, weights))
    draws = base.draws(np.random.default_rng(seed), 40_000)
    plain = log_density(base, draws) - log_density(other, draws)
    for epsilon in np.quantile(plain, [0.3, 0.8, 0.97]).clip(0):
        contribution = np.maximum(-np.expm1(epsilon - plain), 0)
        band = 5 * contribution.std() / 200 + 1e-4
        assert delta_of(losses.forward, epsilon) == pytest.approx(contribution.mean(), abs=band + 0.03 * contribution.mean())


def log_density(posterior, draws):
    """Log density of beta and sigma^2 from scipy."""
    variance = draws["sigma"] ** 2
    offset = draws["beta"] - posterior.mean
    quadratic = np.einsum("si,ij,sj->s", offset, posterior.precision, offset) / variance
    coefficients = 0.5 * np.linalg.slogdet(posterior.precision)[1] - 0.5 * len(posterior.mean) * np.log(variance) - quadratic / 2
    return coefficients + stats.invgamma.logpdf(variance, posterior.shape, scale=posterior.rate)


def test_poisson_losses_are_those_of_two_gamma_distributions():
    records, family, posteriors, without, weights = exact("poisson")
    prior = family.priors
    base, other = (stats.gamma(prior["shape"] + w @ records.x, scale=1 / (prior["rate"] + w.sum())) for w in (without, weights))
    losses = posteriors.losses([posteriors.posterior(without)], [posteriors.posterior(weights)], 0)
    grid = np.linspace(base.ppf(1e-14), other.isf(1e-14), 400_001)
    p, q = base.pdf(grid), other.pdf(grid)
    for epsilon in (0.1, 1.0, 3.0):
        for direction, excess in ((losses.forward, p - np.exp(epsilon) * q), (losses.backward, q - np.exp(epsilon) * p)):
            exact_delta = integrate.trapezoid(np.maximum(excess, 0), grid)
            assert delta_of(direction, epsilon) == pytest.approx(exact_delta, rel=2e-3, abs=1e-12)
    draws = posteriors.draws(posteriors.posterior(weights), np.random.default_rng(1).random((4000, 1)))
    assert stats.kstest(draws["mu"], other.cdf).pvalue > 1e-5


def mean_loss(base, other):
    """Kullback-Leibler divergence of two gamma distributions, from shapes and rates, in closed form."""
    (a, b), (c, d) = base, other
    return (a - c) * special.digamma(a) - special.gammaln(a) + special.gammaln(c) + c * np.log(b / d) + a * (d - b) / b


def gamma_of(family, records, weights):
    """Shape and rate of the Poisson posterior."""
    return family.priors["shape"] + weights @ records.x, family.priors["rate"] + weights.sum()


def test_neighbours_are_ranked_by_the_larger_mean_loss():
    """The exact posterior and one from 200,000 draws that are weighted again, against the closed form."""
    records, family, posteriors, without, _ = exact("poisson")
    weights = without.copy()
    weights[:10] = 0
    laws = [gamma_of(family, records, of) for of in (without, weights)]
    losses = mean_loss(*laws), mean_loss(*laws[::-1])
    assert min(losses) < 0.9 * max(losses)
    for base, other in ((without, weights), (weights, without)):
        ranked = posteriors.divergence(posteriors.posterior(base), posteriors.posterior(other))
        assert ranked == pytest.approx(max(losses), rel=0.02)
        shape, rate = gamma_of(family, records, base)
        draws = {"mu": np.random.default_rng(1).gamma(shape, 1 / rate, 200_000)}
        sampled = SampledPosteriors(family, records, family.priors, lambda *_, draws=draws: (draws, 200_000.0), 1)
        near = sampled.posterior(base)
        close = sampled.close_to(near, other, None)
        assert sampled.divergence(near, close) == pytest.approx(max(losses), rel=0.05)
        shape, rate = gamma_of(family, records, other)
        chosen = sampled.draws(close, np.array([0.5]))["mu"]
        assert stats.kstest(chosen, stats.gamma(shape, scale=1 / rate).cdf).statistic < 0.02


@pytest.mark.parametrize("threshold", [None, 0.8])
def test_beta_losses_are_those_of_another_grid(threshold):
    records, family, posteriors, without, weights = exact("beta")
    losses = posteriors.losses(*([posteriors.posterior(w, threshold)] for w in (without, weights)), 0)
    oracle = BetaPosterior.equally_spaced(family.priors, points=251)
    base, other = (oracle.log_mass(records.x, w, threshold) for w in (without, weights))
    for epsilon in (0.05, 0.3):
        excess = np.maximum(np.exp(base) - np.exp(epsilon + other), 0).sum()
        assert delta_of(losses.forward, epsilon) == pytest.approx(excess, rel=0.03, abs=1e-5)


def test_negative_binomial_losses_are_those_of_another_grid():
    records, family, posteriors, without, weights = exact("negative_binomial")
    losses = posteriors.losses(*([posteriors.posterior(w)] for w in (without, weights)), 0)
    mu, phi = (axis.ravel() for axis in np.meshgrid(np.linspace(8, 60, 400), np.exp(np.linspace(-1.5, 5, 300))))
    log_prior = stats.gamma.logpdf(mu, family.priors["shape"], scale=1 / family.priors["rate"])
    log_prior += stats.halfcauchy.logpdf(1 / phi, scale=family.priors["dispersion"]) - np.log(phi)
    values, inverse = np.unique(records.x, return_inverse=True)
    table = stats.nbinom.logpmf(values, phi[:, None], (phi / (phi + mu))[:, None])
    log_mass = (log_prior + table @ np.bincount(inverse, w) for w in (without, weights))
    base, other = (np.exp(mass - mass.max()) for mass in log_mass)
    base, other = base / base.sum(), other / other.sum()
    for epsilon in (0.2, 1.0):
        excess = np.maximum(base - np.exp(epsilon) * other, 0).sum()
        assert delta_of(losses.forward, epsilon) == pytest.approx(excess, rel=0.02, abs=1e-6)


@pytest.mark.parametrize("name", ["beta", "negative_binomial"])
def test_draws_from_a_lattice_have_the_moments_of_its_masses(name):
    _, _, posteriors, _, weights = exact(name)
    posterior = posteriors.posterior(weights)
    draws = posteriors.draws(posterior, np.random.default_rng(4).random((20_000, 2)))
    points = (
        posterior.lattice.centre
        + np.stack([axis.ravel() for axis in np.meshgrid(*posterior.lattice.axes, indexing="ij")], 1) @ posterior.lattice.root.T
    )
    exact_draws = posteriors._coordinates.draws(points)
    for key, values in draws.items():
        mean = posterior.shares.ravel() @ exact_draws[key]
        sd = np.sqrt(posterior.shares.ravel() @ (exact_draws[key] - mean) ** 2)
        assert values.mean() == pytest.approx(mean, abs=5 * sd / 140)
        assert values.std() == pytest.approx(sd, rel=0.08)


@pytest.mark.parametrize("name", FAMILIES_WITH_EXACT)
def test_equal_data_have_loss_zero_and_the_loss_of_neighbours_is_unbounded(name):
    _, _, posteriors, without, weights = exact(name)
    base, other = posteriors.posterior(without), posteriors.posterior(weights)
    for delta in (0, 1e-5, 1e-3):
        assert posteriors.losses([base], [base], 0).epsilon(delta) == pytest.approx(0, abs=1e-6)
    assert np.isinf(posteriors.losses([base], [other], 0).epsilon(0))


@pytest.mark.parametrize("name", FAMILIES_WITH_EXACT)
def test_a_mixture_of_equal_components_changes_nothing_and_mixing_never_raises_the_loss(name):
    _, _, posteriors, without, weights = exact(name)
    base, other, third = (posteriors.posterior(w) for w in (without, weights, 0.9 * weights))
    alone = posteriors.losses([base], [other], 0)
    doubled = posteriors.losses([base, base], [other, other], 0)
    assert doubled.epsilon(1e-3) == pytest.approx(alone.epsilon(1e-3), abs=0.05 + 5 * alone.error(1e-3) + 5 * doubled.error(1e-3))
    uneven = posteriors.losses([base], [other, other], 0)
    assert uneven.epsilon(1e-3) == pytest.approx(alone.epsilon(1e-3), abs=0.05 + 5 * alone.error(1e-3) + 5 * uneven.error(1e-3))
    mixed = posteriors.losses([base, third], [other, third], 0)
    assert delta_of(mixed.forward, 1.0) <= delta_of(alone.forward, 1.0) + 0.01
    assert delta_of(mixed.backward, 1.0) <= delta_of(alone.backward, 1.0) + 0.01


@settings(max_examples=6)
@given(SEEDS, st.floats(0.5, 4), st.floats(-9, 9))
def test_censoring_costs_epsilon_for_an_added_record_and_twice_that_for_a_replaced_one(seed, epsilon, far):
    """Control: with weights that do not depend on the data, the bounds are strict (censor paper; erratum E5)."""
    generator = np.random.default_rng(seed)
    x = np.append(generator.beta(0.5, 3, 30), [1 / (1 + np.exp(-far)), 1e-6])
    family = FAMILIES["beta"]
    posteriors = exact_posteriors(family, intercept_only(x), family.priors)
    absent, first, second = (posteriors.posterior(np.append(np.ones(30), last), epsilon / 2) for last in ([0, 0], [1, 0], [0, 1]))
    assert posteriors.losses([absent], [first]).epsilon(0) <= epsilon + 1e-9
    assert posteriors.losses([absent], [second]).epsilon(0) <= epsilon + 1e-9
    assert posteriors.losses([first], [second]).epsilon(0) <= 2 * epsilon + 1e-9


def test_the_loss_is_unbounded_unless_both_sides_are_censored():
    _, _, posteriors, without, weights = exact("beta")
    censored, other = posteriors.posterior(without, 0.8), posteriors.posterior(weights)
    assert posteriors.losses([censored], [other], 0).epsilons(0) == (np.inf, np.inf)
    assert posteriors.losses([other], [censored], 0).epsilons(0) == (np.inf, np.inf)


def test_the_claim_of_censoring_is_tight():
    """The worst pair at epsilon 1.6 is within a few hundredths of the claim."""
    x = np.append(np.random.default_rng(1).beta(0.5, 2, 2000), [0.03, 1 - 1e-9])
    family = FAMILIES["beta"]
    posteriors = exact_posteriors(family, intercept_only(x), family.priors)
    absent, low, high = (posteriors.posterior(np.append(np.ones(2000), last), 0.8) for last in ([0, 0], [1, 0], [0, 1]))
    assert posteriors.losses([absent], [high]).epsilon(0) == pytest.approx(1.6, abs=0.05)
    assert posteriors.losses([low], [high]).epsilon(0) == pytest.approx(3.2, abs=0.1)


def test_the_error_for_a_family_without_an_exact_posterior_names_the_alternative():
    family = FAMILIES["gamma_regression"]
    with pytest.raises(KeyError, match="audit its draws instead"):
        exact_posteriors(family, intercept_only(np.ones(3)), family.priors)
    linear = FAMILIES["normal"]
    with pytest.raises(ValueError, match="censored"):
        exact_posteriors(linear, intercept_only(np.arange(4.0)), linear.priors).posterior(np.ones(4), 1.0)
