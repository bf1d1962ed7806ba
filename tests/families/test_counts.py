"""Count families against conjugate and grid posteriors, exact probabilities and naive sums."""

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp
from stan_forms import BAND, check_gradient, check_moments, check_same_path

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.weights import lipschitz_weights
from formalsynth.data.populations.counts import negative_binomial_mixture, poisson
from formalsynth.families._counts import grouped
from formalsynth.families._negative_binomial import log_rising
from formalsynth.stan.diagnostics import diagnose
from formalsynth.stan.sample import Lengths, run_chain, sample

FAMILIES.find()
COUNTS = ("poisson", "negative_binomial", "negative_binomial_regression")
MIXTURE = {"share": 0.2, "mu1": 100, "phi1": 5, "mu2": 100, "phi2": 20}
LONG = SamplerSettings(draws=4000, ess_min=600)


def mixture_of(n=300, seed=1):
    return negative_binomial_mixture(np.random.default_rng(seed), n, **MIXTURE)


def regression_records(n=40, seed=3):
    generator = np.random.default_rng(seed)
    z = generator.integers(-1, 3, n).astype(float)
    mean = np.exp(1 + 0.4 * z)
    return Records(generator.negative_binomial(2, 2 / (2 + mean)).astype(float), np.column_stack([np.ones(n), z]))


def records_for(family, n=60):
    return regression_records(n) if family.endswith("regression") else mixture_of(n)


def draws_for(family, size=25):
    generator = np.random.default_rng(4)
    phi = np.exp(generator.uniform(-2, 8, size))
    if family.endswith("regression"):
        return {"beta": generator.normal(0.5, 0.5, (size, 2)), "phi": phi}
    mu = generator.uniform(50, 150, size)
    return {"mu": mu} if family == "poisson" else {"mu": mu, "phi": phi}


def naive_log_likelihood(family, records, draws):
    """(S, n), record by record from the textbook formula."""
    x, size = records.x, len(next(iter(draws.values())))
    mean = np.exp(draws["beta"] @ records.design.T) if "beta" in draws else np.tile(draws["mu"][:, None], len(x))
    if family == "poisson":
        return x * np.log(mean) - mean - gammaln(x + 1)
    phi = draws["phi"].reshape(size, 1)
    choose = gammaln(x + phi) - gammaln(phi) - gammaln(x + 1)
    return choose + phi * np.log(phi / (phi + mean)) + x * np.log(mean / (phi + mean))


def fitted(compiled, family, records, weights, priors=None, inits=None):
    kind = FAMILIES[family]
    data = kind.stan_data(records, weights, kind.priors | (priors or {}))
    fit = sample(compiled(kind.program), data, kind.inits(data) | (inits or {}), kind.parameters, 7, LONG)
    assert fit.status == "ok", fit.reason
    return fit


@pytest.mark.stan
@pytest.mark.parametrize("weighted", [False, True])
def test_poisson_posterior_is_the_conjugate_gamma(compiled, weighted):
    records = poisson(np.random.default_rng(5), 50, mu=3)
    weights = np.linspace(0, 1, 50) if weighted else np.ones(50)
    # a prior that is strong enough to be seen
    fit = fitted(compiled, "poisson", records, weights, {"shape": 4.0, "rate": 7.0})
    exact = stats.gamma(4 + weights @ records.x, scale=1 / (7 + weights.sum()))
    effective = min(fit.ess_bulk_min, fit.ess_tail_min) / 2
    check_moments(fit.draws["mu"], exact.mean(), exact.std(), effective, "mu")
    for level in (0.05, 0.5, 0.95):
        share = (fit.draws["mu"] <= exact.ppf(level)).mean()
        assert abs(share - level) < BAND * np.sqrt(level * (1 - level) / effective)


def negative_binomial_grid(records, weights, priors):
    """Grid values and masses of the two-parameter posterior, on log mu and log 1 / phi."""
    log_mu, log_reciprocal = np.meshgrid(np.linspace(-4, 6, 801), np.linspace(-14, 6, 801), indexing="ij")
    mu, phi = np.exp(log_mu), np.exp(-log_reciprocal)
    # d mu = mu d log mu and d (1 / phi) = (1 / phi) d log (1 / phi) on the grid
    density = stats.gamma(priors["shape"], scale=1 / priors["rate"]).logpdf(mu) + log_mu
    density += stats.halfcauchy(scale=priors["dispersion"]).logpdf(1 / phi) + log_reciprocal
    x, first_phi = records.x[:, None], phi[:1]
    density += weights @ (gammaln(x + first_phi) - gammaln(first_phi) - gammaln(x + 1))
    density += weights.sum() * phi * np.log(phi / (phi + mu)) + weights @ records.x * np.log(mu / (phi + mu))
    mass = np.exp(density - density.max())
    mass /= mass.sum()
    assert max(mass[0].sum(), mass[-1].sum(), mass[:, 0].sum(), mass[:, -1].sum()) < 1e-6, "the grid does not hold the posterior"
    return {"mu": mu, "reciprocal": 1 / phi, "log_phi": -log_reciprocal}, mass


@pytest.mark.stan
@pytest.mark.parametrize("case", ["unweighted", "weighted", "strong prior", "from the far end"])
def test_negative_binomial_posterior_agrees_with_the_grid(compiled, case):
    records, weights, priors = mixture_of(100), np.ones(100), {}
    if case == "strong prior":
        records, weights = Records(np.array([0.0, 0, 1, 1, 2, 7, 9]), np.ones((7, 1))), np.linspace(0.4, 1, 7)
        priors = {"shape": 4.0, "rate": 2.0, "dispersion": 0.5}
    if case == "weighted":
        draw = {"mu": np.array([100.0]), "phi": np.array([10.0])}
        weights = lipschitz_weights(-naive_log_likelihood("negative_binomial", records, draw)[0])
    inits = {"mu": 100.0, "reciprocal_phi": 1e-30} if case == "from the far end" else {}
    fit = fitted(compiled, "negative_binomial", records, weights, priors, inits)
    values, mass = negative_binomial_grid(records, weights, FAMILIES["negative_binomial"].priors | priors)
    mu, phi = fit.draws["mu"], fit.draws["phi"]
    effective = min(fit.ess_bulk_min, fit.ess_tail_min) / 2
    for name, draws in {"mu": mu, "reciprocal": 1 / phi, "log_phi": np.log(phi)}.items():
        mean = (mass * values[name]).sum()
        check_moments(draws, mean, np.sqrt((mass * (values[name] - mean) ** 2).sum()), effective, name)


@pytest.mark.stan
@pytest.mark.parametrize(
    "family", ["negative_binomial", pytest.param("negative_binomial_regression", marks=pytest.mark.slow)]
)  # the portable form of the regression takes half a minute to compile
def test_native_and_portable_forms_are_the_same_density(compiled, family):
    kind, records = FAMILIES[family], records_for(family)
    # counts below, at and above the place where Stirling's series begins
    records = Records(np.where(np.arange(60) < 25, np.arange(60), records.x), records.design)
    check_same_path(compiled, kind, kind.stan_data(records, np.linspace(0.1, 1, 60), kind.priors))


@pytest.mark.stan
def test_native_and_portable_forms_are_the_same_density_for_few_large_counts(compiled):
    """There the portable form, too, takes Stirling's series."""
    kind, x = FAMILIES["negative_binomial"], np.array([0.0, 3, 15, 16, 17, 300, 900, 5000])
    check_same_path(compiled, kind, kind.stan_data(Records(x, np.ones((8, 1))), np.linspace(0.1, 1, 8), kind.priors))


@pytest.mark.stan
@pytest.mark.parametrize(("family", "native"), [
    ("negative_binomial", True), ("negative_binomial", False), ("negative_binomial_regression", True),
    pytest.param("negative_binomial_regression", False, marks=pytest.mark.slow),
])  # fmt: skip
@pytest.mark.parametrize("reciprocal_phi", [3.0, 0.004, 1e-7, 1e-12, 1e-40])
def test_gradient_agrees_with_finite_differences(compiled, family, native, reciprocal_phi, tmp_path):
    """However near to the Poisson distribution, where differences of lgamma and digamma have no digits left."""
    kind, records = FAMILIES[family], records_for(family)
    data = kind.stan_data(Records(records.x % 40, records.design), np.linspace(0.01, 0.1, 60), kind.priors)
    inits = {"mu": 15.0} if family == "negative_binomial" else {"sd": np.array([0.5, 2.0]), "standardised": np.array([0.3, -1])}
    init = kind.inits(data) | inits | {"reciprocal_phi": reciprocal_phi}
    assert check_gradient(compiled(kind.program, native), data, tmp_path, init) == (2 if family == "negative_binomial" else 6)


@pytest.mark.stan
@pytest.mark.parametrize("start", [0.05, 1e-30])
def test_the_log_density_is_that_of_its_definition(compiled, start):
    """Up to a constant, along a chain; from the far end it climbs through all that may round."""
    kind, records, weights = FAMILIES["negative_binomial"], mixture_of(100), np.linspace(0.2, 1, 100)
    data = kind.stan_data(records, weights, kind.priors)
    init, names = {"mu": 100.0, "reciprocal_phi": start}, ("lp__", "mu", "reciprocal_phi")
    log_density, mu, r = run_chain(compiled(kind.program), data, init, names, 1, Lengths(20, 60, 1, 0.8)).draws.values()
    assert (r.min() < 1e-20) == (start < 1e-20)
    rising = np.array([[np.log1p(np.arange(x) * rate).sum() for x in records.x] for rate in r]) @ weights
    total, summed = weights.sum(), weights @ records.x
    exact = rising + summed * np.log(mu) - (summed + total / r) * np.log1p(mu * r)
    # both priors, and the Jacobians of both logarithms
    exact += -kind.priors["rate"] * mu + np.log(mu) - np.log1p((r / kind.priors["dispersion"]) ** 2) + np.log(r)
    assert np.ptp(log_density - exact) < 1e-8


def coefficient_prior(beta, priors, nodes=16):
    """Hyperparameters integrated out of the prior of two coefficients.

    Returns the log density (k,), and for the first prior scale, on the log scale, and the correlation: their values at the
    nodes and the weights (k, nodes) of the nodes given the coefficients.
    """
    node, weight = np.polynomial.legendre.leggauss(nodes)
    # quantiles of the half-t: integration over its own distribution function
    sd = stats.t(priors["df"], scale=priors["scale"]).ppf(0.5 + (node + 1) / 4)
    sd1, sd2, rho = (values.ravel() for values in np.meshgrid(sd, sd, node, indexing="ij"))
    mass = (weight[:, None, None] * weight[:, None] * weight).ravel() * (1 - rho**2) ** (priors["correlation"] - 1)
    total, of_sd, of_correlation = [], [], []
    for some in np.array_split(beta, 32):  # all at once would take a gigabyte
        a, b = some[:, :1] / sd1, some[:, 1:] / sd2
        log_density = -(a**2 - 2 * rho * a * b + b**2) / (2 * (1 - rho**2)) - np.log(sd1 * sd2 * np.sqrt(1 - rho**2))
        total.append(logsumexp(log_density, b=mass, axis=1))
        given = (mass * np.exp(log_density - total[-1][:, None])).reshape(-1, nodes, nodes, nodes)
        of_sd.append(given.sum(axis=(2, 3)))
        of_correlation.append(given.sum(axis=(1, 2)))
    given = {"log_sd": (np.log(sd), np.concatenate(of_sd)), "correlation": (node, np.concatenate(of_correlation))}
    return np.concatenate(total), given


def regression_grid(records, weights, priors):
    """Means and standard deviations of coefficients, phi and hyperparameters, by quadrature."""
    # 0 is between two points of the grid: there a prior scale may be as small as it likes, and the density is infinite.
    b0, b1, log_reciprocal = np.linspace(-2.05, 3.45, 56), np.linspace(-1.505, 2.205, 54), np.linspace(-12, 4.5, 91)
    beta = np.stack(np.meshgrid(b0, b1, indexing="ij"), axis=-1).reshape(-1, 2)
    phi, density = np.exp(-log_reciprocal), np.zeros((len(beta), len(log_reciprocal)))
    for x, mean, weight in zip(records.x, np.exp(records.design @ beta.T)[:, :, None], weights, strict=True):
        choose = gammaln(x + phi) - gammaln(phi) - gammaln(x + 1)
        density += weight * (choose - phi * np.log1p(mean / phi) - x * np.log1p(phi / mean))
    density += stats.halfcauchy(scale=priors["dispersion"]).logpdf(np.exp(log_reciprocal)) + log_reciprocal
    prior, given = coefficient_prior(beta, priors)
    density += prior[:, None]
    mass = np.exp(density - density.max())
    mass /= mass.sum()
    of_beta, of_phi = mass.sum(axis=1), mass.sum(axis=0)
    square = of_beta.reshape(56, 54)
    edges = [square[[0, -1]].sum(), square[:, [0, -1]].sum(), of_phi[[0, -1]].sum()]
    assert max(edges) < 2e-4, "the grid does not hold the posterior"
    marginals = {"b0": (beta[:, 0], of_beta), "b1": (beta[:, 1], of_beta), "log_phi": (-log_reciprocal, of_phi)}
    marginals |= {name: (values, of_beta @ shares) for name, (values, shares) in given.items()}
    means = {name: values @ p for name, (values, p) in marginals.items()}
    return {name: (means[name], np.sqrt((values - means[name]) ** 2 @ p)) for name, (values, p) in marginals.items()}


@pytest.mark.stan
@pytest.mark.parametrize("given", [{}, {"dispersion": 0.3, "correlation": 2.0, "df": 6.0, "scale": 0.3}])
def test_regression_posterior_agrees_with_the_grid(compiled, given):
    """Few records, so that every prior is seen."""
    kind, records, weights = FAMILIES["negative_binomial_regression"], regression_records(14), np.linspace(0.3, 1, 14)
    data = kind.stan_data(records, weights, kind.priors | given)
    names = ("beta", "phi", "sd", "correlation_factor")
    sampled = run_chain(compiled(kind.program), data, kind.inits(data), names, 11, Lengths(1000, 4000, 1, 0.8)).draws
    draws = {"b0": sampled["beta"][:, 0], "b1": sampled["beta"][:, 1], "log_phi": np.log(sampled["phi"])}
    draws |= {"log_sd": np.log(sampled["sd"][:, 0]), "correlation": sampled["correlation_factor"][:, 1, 0]}
    _, bulk, tail = diagnose(np.column_stack(list(draws.values())))
    assert min(bulk, tail) > 1000
    for name, (mean, sd) in regression_grid(records, weights, kind.priors | given).items():
        check_moments(draws[name], mean, sd, min(bulk, tail) / 2, name)


@pytest.mark.parametrize("family", COUNTS)
def test_factors_are_the_log_likelihood(family):
    records, draws = records_for(family), draws_for(family)
    left, right = FAMILIES[family].factors(records, draws)
    np.testing.assert_allclose(left @ right.T, naive_log_likelihood(family, records, draws), rtol=1e-9, atol=1e-9)


def test_factors_agree_with_scipy():
    records, draws = mixture_of(), draws_for("negative_binomial")
    left, right = FAMILIES["negative_binomial"].factors(records, draws)
    mu, phi = draws["mu"][:, None], draws["phi"][:, None]
    np.testing.assert_allclose(left @ right.T, stats.nbinom(phi, phi / (phi + mu)).logpmf(records.x), rtol=1e-9)
    left, right = FAMILIES["poisson"].factors(records, draws)
    np.testing.assert_allclose(left @ right.T, stats.poisson(mu).logpmf(records.x), rtol=1e-9)


@pytest.mark.parametrize("counts", [[0.0, 1, 90, 400], np.arange(400.0)])
def test_negative_binomial_keeps_its_digits_in_the_poisson_limit(counts):
    """Few counts and many: their sums are computed in different ways."""
    records = Records(np.asarray(counts), np.ones((len(counts), 1)))
    draws = {"mu": np.full(3, 100.0), "phi": np.array([1e18, 1e30, 1e60])}
    left, right = FAMILIES["negative_binomial"].factors(records, draws)
    expected = np.tile(stats.poisson(100).logpmf(records.x), (3, 1))
    np.testing.assert_allclose(left @ right.T, expected, rtol=1e-12, atol=1e-12)
    # the first term of an expansion in 1 / phi, whose next is below 1e-9
    draws["phi"] = np.array([1e8, 1e9, 1e12])
    left, right = FAMILIES["negative_binomial"].factors(records, draws)
    expected = expected + (records.x * (records.x - 1) / 2 + 100**2 / 2 - 100 * records.x) / draws["phi"][:, None]
    np.testing.assert_allclose(left @ right.T, expected, rtol=1e-12, atol=1e-8)


@given(
    counts=st.lists(st.integers(0, 60) | st.integers(0, 20_000), min_size=1, max_size=8),
    log_r=st.floats(-60, 8),
    dense=st.booleans(),
)
def test_rising_sums_are_those_of_their_definition(counts, log_r, dense):
    r, x = np.exp([log_r, log_r + 1]), np.array(counts, dtype=float)
    expected = np.array([[math.fsum(np.log1p(np.arange(count) * rate)) for count in counts] for rate in r])
    result = log_rising(np.tile(x, 1300), r[:, None])[:, : len(x)] if dense else log_rising(np.tile(x, (2, 1)), r[:, None])
    # A table holds rounded sums of as many logarithms.
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-15 * x.max(initial=1))


def test_a_mean_beyond_floating_point_gives_the_exact_log_likelihood_and_changes_no_other(generator):
    """Log means of up to 2000, of either sign."""
    z = np.append(generator.normal(size=60), [-2000.0, 2000, 1e3, -1e3, -2000])
    x = np.append(generator.permutation(60).astype(float), [0.0, 0, 7, 7, 50])
    records, eta = Records(x, np.column_stack([np.ones(65), z])), np.array([[0.5], [0.9], [1.1]]) + np.outer([0.7, 1.0, 0.5], z)
    draws = {"beta": np.array([[0.5, 0.7], [0.9, 1.0], [1.1, 0.5]]), "phi": np.array([0.4, 3.0, 80.0])}
    phi = draws["phi"][:, None]
    expected = gammaln(x + phi) - gammaln(phi) - gammaln(x + 1) + x * (eta - np.log(phi))
    expected -= (x + phi) * np.logaddexp(0, eta - np.log(phi))
    family = FAMILIES["negative_binomial_regression"]
    left, right = family.factors(records, draws)
    np.testing.assert_allclose(left @ right.T, expected, rtol=1e-9, atol=1e-300)
    (bounds,) = record_bounds(family, records, draws, [Sensitive(np.ones(65))])
    np.testing.assert_allclose(bounds.by_record, np.abs(expected).max(axis=0), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("phi", [1, 2, 7])
def test_negative_binomial_agrees_with_exact_fractions(phi):
    """For whole phi the probabilities are rational numbers."""
    p = Fraction(phi, phi + 12)
    exact = [comb(x + phi - 1, x) * p**phi * (1 - p) ** x for x in range(40)]
    records = Records(np.arange(40.0), np.ones((40, 1)))
    left, right = FAMILIES["negative_binomial"].factors(records, {"mu": np.array([12.0]), "phi": np.array([float(phi)])})
    np.testing.assert_allclose(np.exp(left @ right.T)[0], [float(value) for value in exact], rtol=1e-12)


@pytest.mark.parametrize("family", COUNTS)
def test_what_stan_is_given_adds_up_to_the_weighted_log_likelihood(family):
    """Up to terms without parameters: differences between two parameter values are compared."""
    kind, records, draws = FAMILIES[family], records_for(family), draws_for(family, 2)
    weights = np.linspace(0, 1, 60)
    data = kind.stan_data(records, weights, kind.priors)
    naive = (weights * naive_log_likelihood(family, records, draws)).sum(axis=1)
    if family == "poisson":
        result = data["weighted_sum"] * np.log(draws["mu"]) - data["weight_total"] * draws["mu"]
    else:
        design = data["basis"] @ np.linalg.inv(data["inverse_factor"]) if "basis" in data else np.ones((data["u"], 1))
        distinct = Records(data["y"].astype(float), design)
        result = naive_log_likelihood(family, distinct, draws) @ data["weight"]
        assert data["u"] < (weights > 0).sum()
        assert len(np.unique(np.column_stack([distinct.x, design.round(9)]), axis=0)) == data["u"]
    assert result[1] - result[0] == pytest.approx(naive[1] - naive[0], rel=1e-10)


def test_grouping_is_complete():
    rows = np.array([[1.0, 0], [2, 0], [1, 0], [1, 1], [2, 0]])
    first, inverse, summed = grouped(rows, np.array([0.5, 0, 0.25, 1, 2]))
    np.testing.assert_array_equal(rows[first][inverse], rows[[0, 2, 3, 4]])
    assert dict(zip(map(tuple, rows[first]), summed, strict=True)) == {(1, 0): 0.75, (1, 1): 1, (2, 0): 2}


@pytest.mark.parametrize("family", COUNTS)
def test_start_is_finite_for_awkward_data(family):
    kind = FAMILIES[family]
    for x in (np.zeros(4), np.full(4, 7.0), np.array([0.0, 0, 0, 1e6])):
        data = kind.stan_data(Records(x, np.ones((4, 1))), np.full(4, 0.1), kind.priors)
        inits = kind.inits(data)
        assert all(np.isfinite(value).all() for value in inits.values())
        assert all(inits[name] > 0 for name in ("mu", "reciprocal_phi") if name in inits)


@pytest.mark.parametrize("family", COUNTS)
def test_intervals_are_closed_and_match_the_sum_of_probabilities(family):
    kind, records, draws = FAMILIES[family], records_for(family), draws_for(family)
    lower, upper = 0.6 * records.x, 1.4 * records.x
    result = kind.log_interval_probability(records, draws, lower, upper)
    for i in range(0, 60, 7):
        inside = np.arange(np.ceil(lower[i]), np.floor(upper[i]) + 1)
        design = np.tile(records.design[i], (len(inside), 1))
        expected = logsumexp(naive_log_likelihood(family, Records(inside, design), draws), axis=1)
        np.testing.assert_allclose(result[:, i], expected, rtol=1e-8, atol=1e-9)


def test_intervals_with_special_ends():
    kind, records = FAMILIES["poisson"], Records(np.zeros(5), np.ones((5, 1)))
    lower, upper = np.array([3.0, 0, 2.2, 0, -4]), np.array([3.0, np.inf, 2.9, 0, 0])
    result = kind.log_interval_probability(records, {"mu": np.array([2.0])}, lower, upper)[0]
    law = stats.poisson(2)
    np.testing.assert_allclose(result, [law.logpmf(3), 0, -np.inf, -2, -2], atol=1e-12)


@pytest.mark.parametrize(("low", "high"), [(3000, 3050), (1600, np.inf), (0, 3), (-5, 0), (1500, 1500)])
@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_intervals_deep_in_a_tail_do_not_underflow(family, low, high):
    mu = 2000.0 if high < 100 else 100.0
    records = Records(np.array([1.0]), np.ones((1, 1)))
    draws = {"mu": np.array([mu])} | ({} if family == "poisson" else {"phi": np.array([1e4])})
    result = FAMILIES[family].log_interval_probability(records, draws, np.array([low]), np.array([high]))
    inside = np.arange(max(low, 0), min(high, 4000) + 1.0)
    terms = naive_log_likelihood(family, Records(inside, np.ones((len(inside), 1))), draws)
    assert result.item() < -600
    assert result.item() == pytest.approx(logsumexp(terms), rel=1e-9)


def test_negative_binomial_counts_are_those_of_a_mixed_poisson_distribution_drawn_at_once():
    mean, phi, size = np.linspace(0.5, 90, 12).reshape(4, 3), np.array([[0.2], [1.0], [7.5], [80.0]]), (4, 3)
    counts = FAMILIES["negative_binomial"].simulate(np.random.default_rng(3), size, mean, phi)
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(counts, generator.poisson(generator.gamma(phi, mean / phi, size)))


@pytest.mark.parametrize("family", COUNTS)
def test_predictive_values_have_the_model_moments(family):
    kind, generator = FAMILIES[family], np.random.default_rng(6)
    design = np.array([[1.0, 0.0], [1.0, 1.5]]) if family.endswith("regression") else np.ones((2, 1))
    draw = {"beta": np.array([2.0, 1.0]), "phi": 4.0} if family.endswith("regression") else {"mu": 30.0, "phi": 4.0}
    size = 40_000
    draws = {name: np.tile(value, (size,) + (1,) * np.ndim(value)) for name, value in draw.items()}
    values = kind.predict(generator, Records(np.zeros(2), design), draws)
    assert values.shape == (size, 2)
    np.testing.assert_array_equal(values, np.floor(values))
    mean = np.exp(design @ draw["beta"]) if "beta" in draw else np.full(2, 30.0)
    variance = mean if family == "poisson" else mean + mean**2 / 4
    for i in range(2):
        check_moments(values[:, i], mean[i], np.sqrt(variance[i]), size, i)


def test_no_parameters_give_a_count_a_larger_probability_than_the_bound_and_a_poisson_mean_reaches_it():
    x, mean, phi = np.ix_(np.array([0.0, 1, 2, 7, 60]), np.geomspace(1e-3, 1e3, 60), np.geomspace(1e-3, 1e6, 40))
    bound = FAMILIES["negative_binomial_regression"].largest_log_likelihood(x[:, 0, 0])
    assert (stats.nbinom.logpmf(x, phi, phi / (phi + mean)).max(axis=(1, 2)) <= bound + 1e-9).all()
    assert stats.poisson.logpmf(x[:, 0, 0], np.maximum(x[:, 0, 0], 1e-300)) == pytest.approx(bound, abs=1e-12)
