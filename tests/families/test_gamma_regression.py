"""Gamma regression against a grid posterior, scipy's densities and numerical integration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from scipy.special import gammaln
from stan_forms import BAND, check_moments

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.sample import sample

FAMILIES.find()
GAMMA = FAMILIES["gamma_regression"]


def records_of(n=40, seed=3, continuous=False, shape=2.0):
    generator = np.random.default_rng(seed)
    z = generator.normal(0, 1, n) if continuous else generator.integers(-1, 3, n).astype(float)
    return Records(generator.gamma(shape, np.exp(1 + 0.4 * z) / shape), np.column_stack([np.ones(n), z]))


def draws_of(size=25, seed=4):
    generator = np.random.default_rng(seed)
    return {"beta": generator.normal(0.5, 0.5, (size, 2)), "shape": np.exp(generator.uniform(-2, 6, size))}


def law_of(design, draws):
    """The model's distribution at each draw and record, (S, n), by scipy."""
    shape = draws["shape"][:, None]
    return stats.gamma(shape, scale=np.exp(draws["beta"] @ design.T) / shape)


def grid_moments(records, weights, priors):
    """Means and standard deviations of both coefficients and the log shape, by quadrature over scipy's densities."""
    b0, b1, log_shape = np.linspace(-3, 5, 49), np.linspace(-2.5, 3.5, 49), np.linspace(-4, 6, 61)
    shape = np.exp(log_shape)[:, None]
    log_prior = stats.norm(0, priors["coefficient_sd"]).logpdf
    density = log_prior(b0)[:, None, None] + log_prior(b1)[:, None]
    # d shape = shape d log shape
    density = density + stats.gamma(priors["shape_shape"], scale=1 / priors["shape_rate"]).logpdf(shape[:, 0]) + log_shape
    beta = np.stack(np.meshgrid(b0, b1, indexing="ij"), axis=-1)
    for x, row, weight in zip(records.x, records.design, weights, strict=True):
        scale = np.exp(beta @ row)[..., None] / shape[:, 0]
        density = density + weight * stats.gamma.logpdf(x, shape[:, 0], scale=scale)
    mass = np.exp(density - density.max())
    mass /= mass.sum()
    marginals = [mass.sum(axis=tuple({0, 1, 2} - {axis})) for axis in range(3)]
    assert max(max(marginal[0], marginal[-1]) for marginal in marginals) < 1e-5, "the grid does not hold the posterior"
    moments = {}
    for name, values, p in zip(("b0", "b1", "log_shape"), (b0, b1, log_shape), marginals, strict=True):
        moments[name] = (values @ p, np.sqrt((values - values @ p) ** 2 @ p))
    return moments


STRONG = {"coefficient_sd": 0.5, "shape_shape": 5.0, "shape_rate": 4.0}


@pytest.mark.stan
@pytest.mark.parametrize(
    ("weights", "given"), [("ones", {}), ("rising", {}), ("rising", STRONG)], ids=["unweighted", "weighted", "strong prior"]
)
def test_posterior_agrees_with_the_grid(compiled, weights, given):
    """Few records, so that every prior is seen; some of them share their predictors."""
    records = records_of(14)
    weights = np.ones(14) if weights == "ones" else np.linspace(0, 1, 14)
    priors = GAMMA.priors | given
    data = GAMMA.stan_data(records, weights, priors)
    assert data["groups"] < 14
    settings = SamplerSettings(draws=4000, ess_min=600)
    fit = sample(compiled(GAMMA.program), data, GAMMA.inits(data), GAMMA.parameters, 7, settings)
    assert fit.status == "ok", fit.reason
    effective = min(fit.ess_bulk_min, fit.ess_tail_min) / 2
    draws = {"b0": fit.draws["beta"][:, 0], "b1": fit.draws["beta"][:, 1], "log_shape": np.log(fit.draws["shape"])}
    for name, (mean, sd) in grid_moments(records, weights, priors).items():
        check_moments(draws[name], mean, sd, effective, name)


@pytest.mark.stan
def test_nearly_collinear_predictors_of_a_large_sample_are_sampled(compiled):
    """The coefficients are correlated at 0.99999; the mean in the middle of the data and the shape are known well."""
    generator = np.random.default_rng(5)
    z = 100 + 0.3 * generator.standard_normal(500)
    design = np.column_stack([np.ones(500), z])
    records = Records(generator.gamma(4.0, np.exp(11 + 0.5 * (z - 100)) / 4), design)
    data = GAMMA.stan_data(records, np.ones(500), GAMMA.priors | {"coefficient_sd": 1e3})
    fit = sample(compiled(GAMMA.program), data, GAMMA.inits(data), GAMMA.parameters, 7, SamplerSettings(attempts=1))
    assert fit.status == "ok", fit.reason
    # The log mean at the middle of the data has the standard error 1 / sqrt(shape n), the log shape about sqrt(2 / n).
    middle, error = fit.draws["beta"] @ np.array([1, z.mean()]), 1 / np.sqrt(4 * 500)
    assert abs(middle.mean() - (11 + 0.5 * (z.mean() - 100))) < BAND * error
    assert middle.std() == pytest.approx(error, rel=0.25)
    assert abs(np.log(fit.draws["shape"]).mean() - np.log(4)) < BAND * np.sqrt(2 / 500)


@pytest.mark.parametrize("continuous", [False, True])
def test_factors_are_the_log_density_of_scipy(continuous):
    records, draws = records_of(continuous=continuous), draws_of()
    left, right = GAMMA.factors(records, draws)
    distinct = len(np.unique(records.design, axis=0))
    assert left.shape == (25, 4 + distinct)
    assert right.shape == (40, 4 + distinct)
    np.testing.assert_allclose(left @ right.T, law_of(records.design, draws).logpdf(records.x), rtol=1e-9, atol=1e-9)


def test_factors_of_one_constant_column_have_rank_4():
    records = Records(records_of().x, np.ones((40, 1)))
    draws = {"beta": np.array([[0.5], [1.5]]), "shape": np.array([0.7, 30.0])}
    left, right = GAMMA.factors(records, draws)
    assert left.shape == (2, 4)
    np.testing.assert_allclose(left @ right.T, law_of(records.design, draws).logpdf(records.x), rtol=1e-10)


def test_a_mean_too_small_for_a_number_leaves_the_other_records_alone():
    records = Records(np.array([2.0, 3.0]), np.array([[1.0, 0.0], [1.0, -900.0]]))
    left, right = GAMMA.factors(records, {"beta": np.array([[0.5, 1.0]]), "shape": np.array([2.0])})
    result = left @ right.T
    assert result[0, 0] == pytest.approx(stats.gamma(2, scale=np.exp(0.5) / 2).logpdf(2.0))
    assert result[0, 1] < -1e200


def test_what_stan_is_given_adds_up_to_the_weighted_log_likelihood():
    """Up to terms without parameters: differences between two parameter values are compared."""
    records, weights, draws = records_of(), np.linspace(0, 1, 40), draws_of(2)
    data = GAMMA.stan_data(records, weights, GAMMA.priors)
    assert data["groups"] == 4
    eta = data["basis"] @ np.linalg.solve(data["inverse_factor"], draws["beta"].T)
    shape = draws["shape"]
    result = data["weight"].sum() * (shape * np.log(shape) - gammaln(shape))
    result += shape * (data["weighted_log_sum"] - data["weight"] @ eta - data["weighted_sum"] @ np.exp(-eta))
    naive = law_of(records.design, draws).logpdf(records.x) @ weights
    assert result[1] - result[0] == pytest.approx(naive[1] - naive[0], rel=1e-10)


def test_a_record_of_weight_0_is_not_there():
    records, weights = records_of(), np.where(np.arange(40) < 5, 0.0, 0.7)
    data = GAMMA.stan_data(records, weights, GAMMA.priors)
    other = GAMMA.stan_data(records.take(slice(5, None)), weights[5:], GAMMA.priors)
    assert set(data) == set(other)
    for key, value in data.items():
        np.testing.assert_allclose(value, other[key], rtol=1e-12, err_msg=key)


def test_start_is_the_maximum_of_the_likelihood():
    records = records_of(20_000, continuous=True, shape=3.0)
    data = GAMMA.stan_data(records, np.ones(20_000), GAMMA.priors)
    inits = GAMMA.inits(data)
    assert data["inverse_factor"] @ inits["theta"] == pytest.approx([1.0, 0.4], abs=0.03)
    assert inits["shape"] == pytest.approx(3.0, rel=0.05)
    mean = np.exp(data["basis"] @ inits["theta"])
    np.testing.assert_allclose(data["basis"].T @ (data["weighted_sum"] / mean - data["weight"]), 0, atol=1e-6)


@pytest.mark.parametrize("x", [np.full(4, 7.0), np.array([1e-300, 1, 1, 1e300]), np.array([1.0, 2, 3, 1e12])])
def test_start_is_finite_for_awkward_data(x):
    design = np.column_stack([np.ones(4), [0.0, 0, 1, 3]])
    inits = GAMMA.inits(GAMMA.stan_data(Records(x, design), np.full(4, 0.1), GAMMA.priors))
    assert np.isfinite(inits["theta"]).all()
    assert np.isfinite(inits["shape"])
    assert inits["shape"] > 0


def test_which_outcomes_it_takes():
    assert GAMMA.outcomes.holds(np.array([1e-300, 2.5]))
    assert not GAMMA.outcomes.holds(np.array([0.0, 2.5]))


def test_intervals_are_the_integral_of_the_density():
    records, draws = records_of(8), draws_of(6)
    lower, upper = 0.6 * records.x, 1.4 * records.x
    result = GAMMA.log_interval_probability(records, draws, lower, upper)
    assert result.shape == (6, 8)
    for s in range(6):
        shape = draws["shape"][s]
        for i in range(8):
            law = stats.gamma(shape, scale=np.exp(draws["beta"][s] @ records.design[i]) / shape)
            assert np.exp(result[s, i]) == pytest.approx(integrate.quad(law.pdf, lower[i], upper[i])[0], rel=1e-7, abs=1e-12)


def test_intervals_with_special_ends():
    records = Records(np.ones(5), np.ones((5, 1)))
    lower, upper = np.array([0, -1, -2, 3, 1]), np.array([np.inf, 2, -1, 3, np.inf])
    result = GAMMA.log_interval_probability(records, {"beta": np.array([[0.0]]), "shape": np.array([1.0])}, lower, upper)[0]
    # with shape 1 and mean 1 it is the exponential distribution
    np.testing.assert_allclose(result, [0, np.log(-np.expm1(-2)), -np.inf, -np.inf, -1], atol=1e-12)


def interval_of(shape, low, high):
    """The family's log probability of an interval at rate 1."""
    records = Records(np.ones(1), np.ones((1, 1)))
    draws = {"beta": np.array([[np.log(shape)]]), "shape": np.array([shape])}
    return GAMMA.log_interval_probability(records, draws, np.array([low]), np.array([high])).item()


def deep(depth, low, high):
    """The value, in means, at which the exponent of the density is so much below its largest, for a shape of 1."""
    return np.exp(optimize.brentq(lambda t: np.exp(t) - 1 - t - depth, np.log(low), np.log(high)))


def log_mass(shape, low, high):
    """``log P(low < Z < high)`` for ``Z ~ gamma(shape, 1)`` away from the mode, by quadrature relative to the largest density."""
    peak = min(max(low, shape - 1), high)
    slope = abs((shape - 1) / peak - 1)  # of the log density

    def relative(t):
        return np.exp((shape - 1) * np.log(t / peak) - (t - peak))

    far = max(low, peak - 60 / slope), min(high, peak + 60 / slope)
    mass = integrate.quad(relative, *far, epsabs=0, epsrel=1e-11, points=[peak], limit=200)[0]
    return np.log(mass) + stats.gamma.logpdf(peak, shape)


@given(shape=st.floats(0.5, 1e4), depth=st.floats(650, 5000), width=st.floats(0.01, 10))
def test_intervals_deep_in_the_upper_tail_do_not_underflow(shape, depth, width):
    low = shape * deep(depth / shape, 1, 1e6)
    result = interval_of(shape, low, low + width)
    assert result < -600
    assert result == pytest.approx(log_mass(shape, low, low + width), rel=1e-7)


@given(shape=st.floats(30, 1e4), depth=st.floats(650, 5000), share=st.floats(0.01, 1))
def test_intervals_deep_in_the_lower_tail_do_not_underflow(shape, depth, share):
    high = shape * deep(depth / shape, 1e-300, 1)
    result = interval_of(shape, high * (1 - share), high)
    assert result < -600
    assert result == pytest.approx(log_mass(shape, high * (1 - share), high), rel=1e-7)


def test_intervals_deep_in_a_tail_that_have_no_end():
    # with shape 1 it is the exponential distribution; near 0 the density is x^39 times a constant
    assert interval_of(1.0, 2000.0, np.inf) == pytest.approx(-2000, rel=1e-12)
    assert interval_of(40.0, 0.0, 1e-9) == pytest.approx(stats.gamma(40).logpdf(1e-9) + np.log(1e-9 / 40), rel=1e-9)


def test_predictive_values_have_the_models_distribution():
    """Through their distribution functions: Kolmogorov-Smirnov, refused at 1e-5; and moments."""
    records, generator = records_of(5000, continuous=True), np.random.default_rng(6)
    draws = {"beta": np.array([[1.0, 2.0], [0.0, -1.0]]), "shape": np.array([0.6, 40.0])}
    values = GAMMA.predict(generator, records, draws)
    assert values.shape == (2, 5000)
    law = law_of(records.design, draws)
    uniform = law.cdf(values)
    for row in uniform:
        assert stats.kstest(row, "uniform").pvalue > 1e-5
    assert abs(np.corrcoef(uniform)[0, 1]) < 5 / np.sqrt(5000)
    for row, shape in zip(values / law.mean(), draws["shape"], strict=True):
        check_moments(row, 1, 1 / np.sqrt(shape), 5000, shape)


def test_predictive_values_are_in_the_support():
    records = Records(np.ones(1000), np.ones((1000, 1)))
    values = GAMMA.predict(np.random.default_rng(1), records, {"beta": np.array([[0.0]]), "shape": np.array([1e-3])})
    assert GAMMA.outcomes.holds(values)
