"""Normal and lognormal regression against their exact posterior, scipy's densities and numerical integration."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import PRIORS, log_likelihood, posterior, z_band, z_of_mean
from scipy import integrate, stats

from formalsynth.core.arrays import Records, take
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.weights import lipschitz_weights
from formalsynth.stan.sample import sample

FAMILIES.find()
FILES.find()  # the fatigue data are one of them
LOGNORMAL, NORMAL = FAMILIES["lognormal_regression"], FAMILIES["normal"]
N_DRAWS = 20_000
CASES = ("unweighted", "lw", "tiny", "fatigue", "fatigue_lw")
# The effective sample size is itself an estimate; at 20,000 draws it is good to a few per cent.
ESS_ERROR = 1.1


def skewed(generator, n):
    """Lognormal records around a normal predictor."""
    z = generator.normal(2, 1, n)
    return Records(np.exp(z + 1 + generator.standard_normal(n)), np.column_stack([np.ones(n), z]))


def lw_weights(records, generator):
    """LW weights from the exact unweighted posterior."""
    ones = np.ones(len(records.x))
    draws = posterior(records.design, np.log(records.x), ones).draws(generator, 500)
    return lipschitz_weights(record_bounds(LOGNORMAL, records, draws, [Sensitive(ones)])[0].by_record)


def case(name, generator, request):
    """Records and weights of a named case."""
    if name.startswith("fatigue"):
        records = request.getfixturevalue("fatigue")
        return records, lw_weights(records, generator) if name.endswith("lw") else np.ones(19)
    records = skewed(generator, 400)
    weights = {"unweighted": np.ones(400), "tiny": generator.uniform(0, 0.05, 400)}
    return records, weights[name] if name in weights else lw_weights(records, generator)


@pytest.fixture(scope="module", params=CASES)
def sampled(request, program):
    """Compare a pseudo posterior from Stan with the exact one."""
    generator = np.random.default_rng(11)
    records, weights = case(request.param, generator, request)
    data = LOGNORMAL.stan_data(records, weights, PRIORS)
    settings = SamplerSettings(draws=N_DRAWS, attempts=1, divergences_max=N_DRAWS)
    fit = sample(program, data, LOGNORMAL.inits(data), LOGNORMAL.parameters, 7, settings)
    assert fit.status == "ok", fit.reason
    return fit.draws, posterior(records.design, np.log(records.x), weights)


@pytest.mark.stan
def test_stan_draws_from_the_exact_posterior(sampled):
    """Distribution functions: mean and spread of the uniforms; no moments, so heavy tails do no harm."""
    draws, exact = sampled
    uniforms = exact.uniforms(draws).T
    z = [z_of_mean(u, 1 / 2, np.sqrt(1 / 12)) for u in uniforms]
    z += [z_of_mean((u - 1 / 2) ** 2, 1 / 12, np.sqrt(1 / 180)) for u in uniforms]
    assert np.abs(z).max() < ESS_ERROR * z_band(len(z) * len(CASES)), np.round(z, 1)


@pytest.mark.stan
def test_stan_has_the_exact_means_and_standard_deviations(sampled):
    draws, exact = sampled
    z = []
    for j, beta in enumerate(draws["beta"].T):
        marginal = exact.beta(j)
        kurtosis = float(marginal.stats("k")) + 3
        z.append(z_of_mean(beta, marginal.mean(), marginal.std()))
        z.append(z_of_mean((beta - marginal.mean()) ** 2, marginal.var(), marginal.var() * np.sqrt(kurtosis - 1)))
    m1, m2, m3, m4 = (exact.sigma_moment(k) for k in (1, 2, 3, 4))
    variance = m2 - m1**2
    fourth = m4 - 4 * m1 * m3 + 6 * m1**2 * m2 - 3 * m1**4
    z.append(z_of_mean(draws["sigma"], m1, np.sqrt(variance)))
    z.append(z_of_mean((draws["sigma"] - m1) ** 2, variance, np.sqrt(fourth - variance**2)))
    assert np.abs(z).max() < ESS_ERROR * z_band(len(z) * len(CASES)), np.round(z, 1)


def test_the_exact_posterior_is_the_one_that_quadrature_finds():
    """The oracle itself: intercept-only, with both parameters integrated on a grid of u = beta / sigma and log sigma."""
    y, weights = np.array([0.3, 1.1, -0.4, 2.0, 0.8]), np.array([1.0, 0.5, 0.2, 0.9, 0.7])
    exact = posterior(np.ones((5, 1)), y, weights, {"sd": 2.0, "shape": 1.5, "scale": 0.7})
    u, log_sigma = np.meshgrid(np.linspace(-30, 30, 601), np.linspace(-3, 10, 651))
    sigma = np.exp(log_sigma)
    log_density = stats.invgamma.logpdf(sigma**2, 1.5, scale=0.7) + np.log(2 * sigma**2) + stats.norm.logpdf(u, 0, 2)
    for value, weight in zip(y, weights, strict=True):
        log_density += weight * stats.norm.logpdf(value, sigma * u, sigma)
    mass = np.exp(log_density) / np.exp(log_density).sum()
    marginal = exact.beta(0)
    mean = (mass * sigma * u).sum()
    assert mean == pytest.approx(marginal.mean(), rel=1e-6)
    assert (mass * (sigma * u - mean) ** 2).sum() == pytest.approx(marginal.var(), rel=1e-6)
    for k in (1, 2):
        assert (mass * sigma**k).sum() == pytest.approx(exact.sigma_moment(k), rel=1e-6)


def test_an_integer_weight_is_a_repeated_record(generator):
    records = skewed(generator, 30)
    counts = generator.integers(0, 4, 30)
    repeated = records.take(np.repeat(np.arange(30), counts))
    weighted = LOGNORMAL.stan_data(records, counts.astype(float), PRIORS)
    other = LOGNORMAL.stan_data(repeated, np.ones(counts.sum()), PRIORS)
    for data in (weighted, other):
        factor = data.pop("inverse_factor")
        # the signs of a QR factorisation are free; what Stan makes of them is not
        data["estimate"], data["spread"] = factor @ data.pop("theta_hat"), factor @ factor.T
    for key, value in weighted.items():
        assert value == pytest.approx(other[key], rel=1e-10), key


def designs(name, generator, request):
    """Records with a design that is harmless, collinear, or that of the fatigue data."""
    if name == "fatigue":
        return request.getfixturevalue("fatigue")
    records = skewed(generator, 50)
    if name == "collinear":
        z = 100 + 0.1 * records.design[:, 1]
        return Records(records.x, np.column_stack([np.ones(50), z, z**2]))  # condition number 7e9
    return records


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("name", ["plain", "collinear", "fatigue"])
def test_factors_give_the_log_density_of_every_record(name, log, generator, request):
    family = LOGNORMAL if log else NORMAL
    records = designs(name, generator, request)
    y = np.log(records.x) if log else records.x
    draws = posterior(records.design, y, np.ones(len(y)), PRIORS | {"sd": 1e6}).draws(generator, 200)
    left, right = family.factors(records, draws)
    p = records.design.shape[1]
    assert left.shape == (200, 3 + p + p * (p + 1) // 2)
    assert right.shape == (len(y), left.shape[1])
    naive = log_likelihood(records.design, y, draws, y if log else 0.0)
    np.testing.assert_allclose(left @ right.T, naive, rtol=0, atol=1e-9 * np.abs(naive).max())


def test_factors_agree_with_scipys_lognormal(generator):
    records = skewed(generator, 40)
    draws = posterior(records.design, np.log(records.x), np.ones(40)).draws(generator, 30)
    scale = np.exp(draws["beta"] @ records.design.T)
    naive = stats.lognorm.logpdf(records.x, draws["sigma"][:, None], scale=scale)
    left, right = LOGNORMAL.factors(records, draws)
    np.testing.assert_allclose(left @ right.T, naive, rtol=1e-9, atol=1e-10)


def one_record(mean, sigma):
    """A record and a draw of which only the mean and the standard deviation matter."""
    return Records(np.array([1.0]), np.ones((1, 1))), {"beta": np.array([[mean]]), "sigma": np.array([sigma])}


def log_mass(low, high):
    """log P(low < Z < high) by quadrature of the density relative to its largest value, in any tail."""
    peak = min(max(low, 0.0), high)
    steep = max(abs(peak), 1.0)

    def relative(t):
        return np.exp(-0.5 * (t - peak) * (t + peak))

    near = np.clip([peak - 40 / steep, peak - 1 / steep, peak, peak + 1 / steep, peak + 40 / steep], low, high)
    pieces = [integrate.quad(relative, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(near) if b > a]
    return np.log(sum(pieces)) - peak**2 / 2 - np.log(2 * np.pi) / 2


@given(low=st.floats(-1e4, 1e4), width=st.floats(0.01, 100))
def test_interval_probability_in_log_space(low, width):
    high = low + width
    records, draws = one_record(0.0, 1.0)
    result = NORMAL.log_interval_probability(records, draws, np.array([low]), np.array([high]))
    assert result.shape == (1, 1)
    # a difference of distribution functions loses the digits of 1 / width; a log near 0 has only absolute accuracy
    assert result[0, 0] == pytest.approx(log_mass(low, high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("centre", [-300.0, -38.5, -37.0, -8.0, -0.3, 0.0, 0.3, 8.0, 37.0, 38.5, 300.0])
def test_interval_probability_agrees_with_scipys_distribution_functions(centre):
    low, high = centre - 0.4, centre + 0.5
    records, draws = one_record(0.0, 1.0)
    result = NORMAL.log_interval_probability(records, draws, np.array([low]), np.array([high]))[0, 0]
    larger, smaller = (
        (stats.norm.logsf(low), stats.norm.logsf(high)) if low > 0 else (stats.norm.logcdf(high), stats.norm.logcdf(low))
    )
    assert result == pytest.approx(larger + np.log1p(-np.exp(smaller - larger)), rel=1e-11)


def test_interval_probability_of_a_lognormal(generator):
    records = skewed(generator, 25)
    draws = posterior(records.design, np.log(records.x), np.ones(25)).draws(generator, 20)
    lower, upper = 0.4 * records.x, 1.8 * records.x
    law = stats.lognorm(draws["sigma"][:, None], scale=np.exp(draws["beta"] @ records.design.T))
    result = LOGNORMAL.log_interval_probability(records, draws, lower, upper)
    np.testing.assert_allclose(np.exp(result), law.cdf(upper) - law.cdf(lower), rtol=1e-8)


def test_the_whole_half_line_has_probability_one(generator):
    records = skewed(generator, 25)
    draws = posterior(records.design, np.log(records.x), np.ones(25)).draws(generator, 20)
    result = LOGNORMAL.log_interval_probability(records, draws, np.zeros(25), np.full(25, np.inf))
    assert (result == 0).all()
    below = LOGNORMAL.log_interval_probability(records, draws, np.full(25, -np.inf), np.full(25, np.inf))
    assert below.tolist() == result.tolist()


@pytest.mark.parametrize("log", [True, False])
def test_predictions_have_the_models_distribution(log, generator):
    """Standardised predictions of one draw: Kolmogorov-Smirnov, refused at 1e-5."""
    family, records = (LOGNORMAL, NORMAL)[not log], skewed(generator, 5000)
    draws = {"beta": np.array([[1.0, 2.0], [0.0, -1.0]]), "sigma": np.array([0.5, 3.0])}
    values = family.predict(generator, records, draws)
    assert values.shape == (2, 5000)
    noise = ((np.log(values) if log else values) - draws["beta"] @ records.design.T) / draws["sigma"][:, None]
    for row in noise:
        assert stats.kstest(row, "norm").pvalue > 1e-5
    assert abs(np.corrcoef(noise)[0, 1]) < 5 / np.sqrt(5000)


def test_take_selects_draws(generator):
    draws = {"beta": generator.normal(size=(10, 2)), "sigma": generator.uniform(size=10)}
    taken = take(draws, [3, 1])
    assert (taken["beta"] == draws["beta"][[3, 1]]).all()
    assert (taken["sigma"] == draws["sigma"][[3, 1]]).all()
