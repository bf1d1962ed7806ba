"""Every formula against a computation that does not use it: quadrature of the two output densities, or simulated losses."""

import math

import numpy as np
import pytest
from formalsynth import gaussian
from formalsynth.gaussian import Setting
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

FIGURE_1 = Setting(n=1000, d=4.0)
"""The setting of the paper's Figure 1: n_syn = 15625 costs rho = 0.5."""
ORDERS = (1.5, 2.0, 6.0)
sampled = settings(deadline=None, derandomize=True)
Z = 4.5
"""Band of the simulated checks in standard errors: a correct program leaves it once in 150,000 runs."""


def renyi(p, q, step, order):
    """Renyi divergence of two densities on one grid, (K,) or (K, K)."""
    keep = (p > 1e-280) & (q > 1e-280)
    log = order * np.log(p[keep]) + (1 - order) * np.log(q[keep])
    return (np.logaddexp.reduce(log) + math.log(step)) / (order - 1)


def hockey_stick(p, q, epsilon, low, high):
    """``integral max(0, p - e^epsilon q)`` of two density functions."""
    grid = np.linspace(low, high, 400_001)
    return float(np.maximum(p(grid) - np.exp(epsilon) * q(grid), 0).sum() * (grid[1] - grid[0]))


def worst_pair(setting):
    """Neighbours at the largest distance of their means: one record moves from -d to d among records at 0."""
    one = np.zeros(setting.n)
    one[0] = -setting.d
    other = one.copy()
    other[0] = setting.d
    return one, other


def extreme_pair(n, d, low_share):
    """Neighbours at the ends of the interval: one more record at -d. Mean and variance both move almost their sensitivity."""
    one = np.where(np.arange(n) < round(low_share * n), -d, d)
    other = one.copy()
    other[-1] = -d
    return one, other


# Known variance ------------------------------------------------------------------------------------------------------


def test_printed_anchors():
    assert gaussian.n_syn_plugin(FIGURE_1, 0.5) == pytest.approx(15625, rel=1e-12)
    assert gaussian.rho_plugin(FIGURE_1, 15625) == pytest.approx(0.5, rel=1e-12)
    assert gaussian.rho_bayes_per_record(FIGURE_1, 15625) == pytest.approx(0.4995, abs=5e-5)
    assert gaussian.rho_bayes_joint(FIGURE_1, 15625) == pytest.approx(0.0301, abs=5e-5)
    assert gaussian.rho_postprocessing_printed(FIGURE_1) == pytest.approx(32_000)


@sampled
@given(st.integers(2, 12), st.floats(0.1, 50), st.integers(0, 2**32 - 1))
def test_no_replaced_record_moves_a_statistic_more_than_its_sensitivity(n, d, seed):
    setting, rng = Setting(n, d), np.random.default_rng(seed)
    one = rng.uniform(-d, d, n) if seed % 2 else rng.choice([-d, d], n)
    other = one.copy()
    other[rng.integers(n)] = rng.choice([-d, d, rng.uniform(-d, d)])
    assert abs(one.mean() - other.mean()) <= setting.mean_sensitivity * (1 + 1e-9)
    assert abs(one.var(ddof=1) - other.var(ddof=1)) <= setting.variance_sensitivity * (1 + 1e-9)


def test_the_sensitivities_are_attained():
    setting = Setting(50, 3.0)
    one, other = worst_pair(setting)
    assert other.mean() - one.mean() == pytest.approx(setting.mean_sensitivity)
    one, other = extreme_pair(50, 3.0, 0.0)
    assert other.var(ddof=1) - one.var(ddof=1) == pytest.approx(setting.variance_sensitivity)


@pytest.mark.parametrize("order", ORDERS)
def test_plugin_record_and_two_records_by_quadrature(order):
    setting = Setting(n=5, d=2.0, variance=1.7)
    one, other = worst_pair(setting)
    grid = np.linspace(-14, 14, 1401)
    step = grid[1] - grid[0]
    p, q = (stats.norm.pdf(grid, data.mean(), math.sqrt(1.7)) for data in (one, other))
    assert renyi(p, q, step, order) == pytest.approx(order * gaussian.rho_plugin(setting, 1), rel=1e-8)
    p, q = np.outer(p, p), np.outer(q, q)
    assert renyi(p, q, step**2, order) == pytest.approx(order * gaussian.rho_plugin(setting, 2), rel=1e-8)
    assert gaussian.rho_plugin(setting, 2) == gaussian.rho_plugin(Setting(5, 2.0, 1.7, m=2), 1)


def joint_density_of_two_records(data, variance, grid, share_the_mean):
    """Density (K, K) of two synthetic records, the posterior draws of the mean integrated out on a grid."""
    spread = math.sqrt(variance / len(data))
    draws = data.mean() + spread * np.linspace(-9, 9, 361)
    weights = stats.norm.pdf(draws, data.mean(), spread) * (draws[1] - draws[0])
    record = stats.norm.pdf(grid[:, None], draws, math.sqrt(variance))  # (K, draws)
    if share_the_mean:
        return (record * weights) @ record.T
    marginal = record @ weights
    return np.outer(marginal, marginal)


@pytest.mark.parametrize("order", ORDERS)
def test_bayes_of_two_records_by_quadrature(order):
    """Records that share their mean cost the joint rho, records with a mean of their own the printed one."""
    setting = Setting(n=3, d=1.0, variance=0.8)
    one, other = worst_pair(setting)
    grid = np.linspace(-11, 11, 601)
    for share_the_mean, rho in ((True, gaussian.rho_bayes_joint), (False, gaussian.rho_bayes_per_record)):
        p, q = (joint_density_of_two_records(data, 0.8, grid, share_the_mean) for data in (one, other))
        assert renyi(p, q, (grid[1] - grid[0]) ** 2, order) == pytest.approx(order * rho(setting, 2), rel=1e-6)


def simulated_losses(setting, n_syn, repetitions, seed):
    """Privacy loss of n_syn Bayesian records that share their mean, record by record, the mean integrated out on a grid."""
    rng = np.random.default_rng(seed)
    one, other = worst_pair(setting)
    spread = math.sqrt(setting.variance / setting.n)
    grid = np.linspace(one.mean() - 8 * spread, other.mean() + 8 * spread, 4001)
    posterior = [stats.norm.logpdf(grid, data.mean(), spread) for data in (one, other)]
    losses = np.empty(repetitions)
    for k in range(repetitions):
        records = rng.normal(rng.normal(one.mean(), spread), math.sqrt(setting.variance), n_syn)
        likelihood = (grid * records.sum() - n_syn * grid**2 / 2) / setting.variance
        log_p, log_q = (np.logaddexp.reduce(likelihood + prior) for prior in posterior)
        losses[k] = log_p - log_q
    return losses


def test_e4_simulated_privacy_loss_in_the_setting_of_figure_1():
    """The loss of a Gaussian mechanism is normal with mean rho and variance 2 rho: here rho is 0.0301, not 0.4995."""
    losses, rho = simulated_losses(FIGURE_1, 15625, 2000, seed=1), gaussian.rho_bayes_joint(FIGURE_1, 15625)
    assert abs(losses.mean() - rho) < Z * math.sqrt(2 * rho / 2000)
    assert abs(losses.var() / (2 * rho) - 1) < Z * math.sqrt(2 / 2000)
    assert losses.mean() + Z * losses.std() / math.sqrt(2000) < gaussian.rho_bayes_per_record(FIGURE_1, 15625) / 5


@pytest.mark.parametrize("order", ORDERS)
def test_e4_density_of_the_synthetic_mean_by_convolution(order):
    one, other = worst_pair(FIGURE_1)
    step = 2e-4
    at = np.arange(-3000, 3001) * step
    noise = stats.norm.pdf(at, 0, math.sqrt(1 / 15625))
    p, q = (np.convolve(stats.norm.pdf(at, data.mean(), math.sqrt(1 / 1000)), noise, mode="same") * step for data in (one, other))
    assert renyi(p, q, step, order) == pytest.approx(order * gaussian.rho_bayes_joint(FIGURE_1, 15625), rel=1e-6)


def posterior_of_the_mean(data, grid, variance=1.0):
    """Density of the mean under a flat prior, from the likelihood of every record."""
    log = -0.5 * ((data[:, None] - grid) ** 2).sum(axis=0) / variance
    density = np.exp(log - log.max())
    return density / (density.sum() * (grid[1] - grid[0]))


@pytest.mark.parametrize("order", ORDERS)
def test_e2_posterior_draw_by_quadrature(order):
    """One draw of the mean costs 4 d^2 / (2 n sigma^2), less than the printed number by the factor n^2."""
    setting = Setting(n=200, d=3.0)
    grid = np.linspace(-0.8, 0.8, 8001)
    p, q = (posterior_of_the_mean(data, grid) for data in worst_pair(setting))
    found = renyi(p, q, grid[1] - grid[0], order) / order
    assert found == pytest.approx(gaussian.rho_postprocessing(setting), rel=1e-6)
    assert gaussian.rho_postprocessing_printed(setting) / found == pytest.approx(200**2, rel=1e-6)


def test_e2_break_even_by_quadrature():
    """Post-processing beats composed records from n_syn = n + 1 on."""
    setting, order = Setting(n=40, d=1.5), 2.0
    wide, narrow = np.linspace(-12, 12, 4001), np.linspace(-1.6, 1.6, 4001)
    one, other = worst_pair(setting)
    draw = renyi(*(posterior_of_the_mean(data, narrow) for data in (one, other)), narrow[1] - narrow[0], order)
    spread = math.sqrt(1 + 1 / 40)
    record = renyi(*(stats.norm.pdf(wide, data.mean(), spread) for data in (one, other)), wide[1] - wide[0], order)
    assert draw / record == pytest.approx(gaussian.break_even(setting), rel=1e-6)
    assert gaussian.break_even_printed(setting) == pytest.approx(40**2 * 41)
    joint = gaussian.rho_bayes_joint(setting, np.array([1, 41, 1e3, 1e9]))
    assert (joint < gaussian.rho_postprocessing(setting)).all()


@sampled
@given(st.integers(2, 10_000), st.floats(0.1, 20), st.floats(0.01, 100), st.integers(1, 50), st.floats(1e-6, 1e6))
def test_inverses_return_the_records_that_cost_rho(n, d, variance, m, rho):
    setting = Setting(n, d, variance, m)
    for inverse, forward in (
        (gaussian.n_syn_plugin, gaussian.rho_plugin),
        (gaussian.n_syn_bayes_per_record, gaussian.rho_bayes_per_record),
        (gaussian.n_syn_bayes_joint, gaussian.rho_bayes_joint),
    ):
        records = inverse(setting, rho)
        if np.isinf(records):
            assert forward is gaussian.rho_bayes_joint
            assert rho >= gaussian.rho_postprocessing(setting)
        elif records < 1e6 * n:  # beyond, 1 - rho / limit has too few digits left
            assert forward(setting, records) == pytest.approx(rho, rel=1e-6)


def test_whole_records_forgive_rounding_only():
    assert gaussian.whole_records(15625 - 1e-10) == 15625
    assert gaussian.whole_records(15624.999) == 15624


def test_composition_adds_simulated_losses():
    """Two independent releases of the mean: the mean loss is the sum of their rhos."""
    rng, sensitivity, sigmas = np.random.default_rng(4), 0.3, (1.0, 0.7)
    losses = sum(
        stats.norm.logpdf(x, 0, s) - stats.norm.logpdf(x, sensitivity, s) for s in sigmas for x in [rng.normal(0, s, 200_000)]
    )
    rho = gaussian.compose_rho(gaussian.zcdp_rho(s, sensitivity) for s in sigmas)
    assert abs(losses.mean() - rho) < Z * math.sqrt(2 * rho / 200_000)
    assert gaussian.zcdp_sigma(gaussian.zcdp_rho(0.7, 0.3), 0.3) == pytest.approx(0.7)
    assert gaussian.compose_approximate([(1.0, 1e-5), (0.5, 1e-6)]) == pytest.approx((1.5, 1.1e-5))


# Gaussian noise and conversions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "sensitivity", "epsilon"), [(1, 1, 1), (2, 0.5, 0.1), (0.4, 1, 4), (3, 2, 0), (0.05, 0.008, 0.5)]
)
def test_gaussian_delta_by_quadrature(sigma, sensitivity, epsilon):
    def loss_density(x):
        return max(stats.norm.pdf(x, 0, sigma) - math.exp(epsilon) * stats.norm.pdf(x, sensitivity, sigma), 0.0)

    edge = sensitivity / 2 - epsilon * sigma**2 / sensitivity  # where the densities are e^epsilon apart
    delta = integrate.quad(loss_density, edge - 12 * sigma, edge, epsabs=1e-13)[0]
    assert gaussian.gaussian_delta(sigma, sensitivity, epsilon) == pytest.approx(delta, rel=1e-7)


def test_gaussian_delta_by_simulation():
    rng = np.random.default_rng(5)
    x = rng.normal(0, 1.3, 400_000)
    loss = stats.norm.logpdf(x, 0, 1.3) - stats.norm.logpdf(x, 1, 1.3)
    values = np.maximum(1 - np.exp(0.7 - loss), 0)
    assert abs(values.mean() - gaussian.gaussian_delta(1.3, 1, 0.7)) < Z * values.std() / math.sqrt(len(x))


@pytest.mark.parametrize(
    ("sigma", "epsilon", "delta"),
    [
        (1.0, 1.0, 0.12693673750664392),
        (2.0, 0.5, 0.05244032328766968),
        (0.5, 4.0, 0.08495331867107113),
        (1.0, 8.0, 3.650821687421959e-15),
    ],
)
def test_gaussian_delta_agrees_with_dp_accounting(sigma, epsilon, delta):
    """Values of dp-accounting 0.6.0, ``GaussianPrivacyLoss(sigma).get_delta_for_epsilon(epsilon)``."""
    assert gaussian.gaussian_delta(sigma, 1.0, epsilon) == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(0.5, 1e-5, 7.0318266755825), (1, 1e-5, 3.7306316348159374), (4, 1e-5, 1.0811618495202397), (10, 1e-9, 0.6502469189586543)],
)
def test_analytic_sigma_agrees_with_dp_accounting(epsilon, delta, sigma):
    """Values of dp-accounting 0.6.0, ``get_sigma_gaussian(epsilon, delta)``."""
    assert gaussian.analytic_sigma(1.0, epsilon, delta) == pytest.approx(sigma, rel=1e-9)


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [(0.5, 1e-5, 4.728386984943315), (0.0301, 1e-5, 0.9918412435586073), (5.0, 1e-6, 20.551948814041253)],
)
def test_renyi_conversion_agrees_with_opendp(rho, delta, epsilon):
    """Values of opendp 0.16.0, ``make_zCDP_to_approxDP``."""
    assert gaussian.epsilon_renyi(rho, delta) == pytest.approx(epsilon, rel=1e-9)


def test_renyi_conversion_is_the_largest_delta_that_rho_allows():
    """Over loss distributions with ``E exp((a-1) L) <= exp((a-1) a rho)`` delta is largest where one loss is best: by search."""
    rho, delta = 0.3, 1e-4
    orders, losses = 1 + np.geomspace(0.05, 200, 1500), np.linspace(0, 60, 40_001)

    def largest_delta(epsilon):
        at = losses[losses > epsilon]
        gain = np.log1p(-np.exp(epsilon - at))
        return math.exp(min((a - 1) * a * rho + (gain - (a - 1) * at).max() for a in orders))

    found = gaussian.epsilon_renyi(rho, delta)
    assert largest_delta(found) == pytest.approx(delta, rel=2e-3)


rhos = st.floats(1e-6, 1e3)
deltas = st.floats(-30, -0.3).map(math.exp)


@sampled
@given(rhos, deltas)
def test_conversions_tighten_and_the_exact_one_is_exact(rho, delta):
    printed, renyi_, exact = (convert(rho, delta) for convert in gaussian.CONVERSIONS.values())
    assert exact <= renyi_ * (1 + 1e-9) + 1e-9
    assert renyi_ <= printed * (1 + 1e-9) + 1e-9
    found = gaussian.gaussian_delta(1.0, math.sqrt(2 * rho), exact)
    assert found <= delta * (1 + 1e-6)
    if exact > 0:
        assert found == pytest.approx(delta, rel=1e-6)


@sampled
@given(st.floats(1e-3, 1e3), st.floats(0.01, 100), deltas)
def test_analytic_sigma_meets_the_curve_and_is_the_smallest(sensitivity, epsilon, delta):
    sigma = gaussian.analytic_sigma(sensitivity, epsilon, delta)
    assert gaussian.gaussian_delta(sigma, sensitivity, epsilon) <= delta
    assert gaussian.gaussian_delta(sigma * (1 - 1e-6), sensitivity, epsilon) > delta


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_analytic_sigma_meets_the_curve_by_quadrature(epsilon):
    sigma = gaussian.analytic_sigma(1.0, epsilon, 1e-5)
    p, q = (stats.norm(mean, sigma).pdf for mean in (0, 1))
    assert hockey_stick(p, q, epsilon, -14 * sigma, 1) == pytest.approx(1e-5, rel=1e-6)


@sampled
@given(st.floats(0.01, 0.99), deltas.filter(lambda delta: delta < 0.5))
def test_classical_sigma_is_safe_below_epsilon_1(epsilon, delta):
    assert gaussian.gaussian_delta(gaussian.classical_sigma(1.0, epsilon, delta), 1.0, epsilon) <= delta


def test_classical_sigma_wastes_noise_and_then_fails():
    def excess(epsilon):
        return gaussian.gaussian_delta(gaussian.classical_sigma(1.0, epsilon, 1e-5), 1.0, epsilon) / 1e-5

    assert gaussian.classical_sigma(1.0, 4.0, 1e-5) / gaussian.analytic_sigma(1.0, 4.0, 1e-5) == pytest.approx(1.12, abs=0.01)
    assert excess(8.0) < 1 < excess(9.0)


# Unknown variance ----------------------------------------------------------------------------------------------------

S2 = Setting(1000, 4.0, variance=1.0)


def test_synthetic_variance_is_gamma():
    setting = Setting(30, 4.0, variance=2.3)
    records = np.random.default_rng(6).normal(1.0, math.sqrt(2.3), (20_000, 25))
    found = stats.kstest(records.var(axis=1, ddof=1), gaussian.variance_distribution(setting, 25).cdf)
    assert found.pvalue > 1e-5


@pytest.mark.parametrize("other", [0.7, 1.4])
def test_variance_loss_is_the_log_ratio_of_the_densities(other):
    x = np.linspace(0.2, 3, 50)
    log_p = gaussian.variance_distribution(S2, 40).logpdf(x)
    log_q = gaussian.variance_distribution(S2, 40, other).logpdf(x)
    assert gaussian.variance_loss(S2, 40, other, x) == pytest.approx(log_p - log_q, abs=1e-9)


def test_printed_loss_is_that_of_half_the_step_with_one_sign_wrong():
    """The printed terms, typed out, against the log ratio of the two densities: E3 and the sign of the second one."""
    n_syn, s2, change = 200, 1.0, S2.variance_sensitivity
    x = gaussian.variance_distribution(S2, n_syn).ppf([5e-6, 1 - 5e-6])

    def term(sign):
        neighbour = 2 * s2 + sign * change
        return (n_syn - 1) / 2 * np.log(neighbour / (2 * s2)) - (n_syn - 1) * change / (2 * s2 * neighbour) * x

    assert gaussian.variance_epsilon_printed(S2, n_syn, 1e-5) == pytest.approx(np.abs([term(1), term(-1)]).max())

    def loss(other):
        p, q = (gaussian.variance_distribution(S2, n_syn, s).logpdf(x) for s in (s2, other))
        return p - q

    assert term(1) == pytest.approx(loss(s2 + change / 2), abs=1e-9)
    assert (np.abs(loss(s2 + change)) > 1.8 * np.abs(term(1))).all()
    assert (np.sign(term(-1)) == -1).all()
    assert sorted(np.sign(loss(s2 - change / 2))) == [-1, 1]


def beyond(setting, n_syn, other, epsilon):
    """Probability, by a fine grid of quantiles, of a loss beyond epsilon."""
    x = gaussian.variance_distribution(setting, n_syn).ppf((np.arange(400_000) + 0.5) / 400_000)
    p = gaussian.variance_distribution(setting, n_syn).logpdf(x)
    q = gaussian.variance_distribution(setting, n_syn, other).logpdf(x)
    return float((np.abs(p - q) > epsilon).mean())


@pytest.mark.parametrize("n_syn", [10, 100, 1000, 15625])
def test_e3_percentile_bound_holds_as_derived_and_fails_at_half_the_step(n_syn):
    delta = 0.01
    neighbours = [S2.variance - S2.variance_sensitivity, S2.variance + S2.variance_sensitivity]
    derived, half = (f(S2, n_syn, delta) for f in (gaussian.variance_epsilon_derived, gaussian.variance_epsilon_half_step))
    assert max(beyond(S2, n_syn, other, derived) for other in neighbours) <= delta * (1 + 1e-3)
    assert max(beyond(S2, n_syn, other, half) for other in neighbours) > 4 * delta


def pair_delta(setting, n_syn, other, epsilon):
    """Hockey-stick divergence of the two Gamma densities by quadrature, in both directions, the larger."""
    p, q = gaussian.variance_distribution(setting, n_syn), gaussian.variance_distribution(setting, n_syn, other)
    low, high = min(one.ppf(1e-14) for one in (p, q)), max(one.isf(1e-14) for one in (p, q))
    return max(hockey_stick(one.pdf, two.pdf, epsilon, low, high) for one, two in ((p, q), (q, p)))


@pytest.mark.parametrize("n_syn", [10, 100, 1000])
def test_variance_curve_by_quadrature(n_syn):
    delta, step = 1e-5, S2.variance_sensitivity
    epsilon = gaussian.variance_epsilon_curve(S2, n_syn, delta)
    found = max(pair_delta(S2, n_syn, S2.variance + sign * step, epsilon) for sign in (-1, 1))
    assert found == pytest.approx(delta, rel=1e-4)
    assert epsilon <= gaussian.variance_epsilon_derived(S2, n_syn, delta)


def test_printed_variance_bound_errs_on_either_side():
    """Too small for few synthetic records, where half the step shows, and many times too large for many, through the sign."""
    printed, curve = gaussian.variance_epsilon_printed, gaussian.variance_epsilon_curve
    step = S2.variance_sensitivity
    at_printed = max(pair_delta(S2, 5, S2.variance + sign * step, printed(S2, 5, 1e-5)) for sign in (-1, 1))
    assert at_printed > 1.5e-5
    assert printed(S2, 1000, 1e-5) > 4 * curve(S2, 1000, 1e-5)


@sampled
@given(st.floats(0, 3), st.floats(2, 400), st.floats(0.3, 3), st.floats(0.3, 3))
def test_gamma_pair_delta_by_quadrature(epsilon, shape, mean, other):
    p, q = (stats.gamma(shape, scale=one / shape) for one in (mean, other))
    low, high = min(one.ppf(1e-13) for one in (p, q)), max(one.isf(1e-13) for one in (p, q))
    found = hockey_stick(p.pdf, q.pdf, epsilon, low, high)
    assert gaussian.gamma_pair_delta(epsilon, shape, mean, other) == pytest.approx(found, abs=2e-5)


@sampled
@given(st.floats(0, 3), st.floats(-3, 3), st.floats(0.1, 4), st.floats(0.1, 4))
def test_normal_pair_delta_by_quadrature(epsilon, shift, variance, other):
    p, q = stats.norm(0, math.sqrt(variance)), stats.norm(shift, math.sqrt(other))
    found = hockey_stick(p.pdf, q.pdf, epsilon, -30, 30)
    assert gaussian.normal_pair_delta(epsilon, shift, variance, other) == pytest.approx(found, abs=2e-5)


def test_the_corners_are_the_worst_neighbours():
    """No smaller change of mean or variance needs a larger epsilon than the corners that the bounds look at."""
    delta, n_syn = 1e-5, 100
    limit = gaussian.mean_epsilon_curve(S2, n_syn, delta)
    for share in np.linspace(0, 1, 6):
        for step in np.linspace(-1, 1, 9) * S2.variance_sensitivity:
            here, other = 1 / n_syn, (1 + step) / n_syn
            shift = share * S2.mean_sensitivity
            for pair in ((here, other), (other, here)):
                assert gaussian.normal_pair_delta(limit, shift, *pair) <= delta * (1 + 1e-6)
    limit, shape = gaussian.variance_epsilon_curve(S2, n_syn, delta), (n_syn - 1) / 2
    for step in np.linspace(-1, 1, 21) * S2.variance_sensitivity:
        for pair in ((1.0, 1 + step), (1 + step, 1.0)):
            assert gaussian.gamma_pair_delta(limit, shape, *pair) <= delta * (1 + 1e-6)


def explicit_setting():
    """Two data sets of 1000 records in [-4, 4], written out, and the release from the first."""
    one, other = extreme_pair(1000, 4.0, 0.016)
    return one, other, Setting(1000, 4.0, variance=one.var(ddof=1))


@pytest.mark.parametrize("n_syn", [2, 100, 1000])
def test_the_mean_alone_breaks_the_printed_bound_when_the_variance_moves_too(n_syn):
    """Two data sets written out: rho with s^2 in place of sigma^2 promises an epsilon that their synthetic means exceed."""
    one, other, setting = explicit_setting()
    delta = 1e-5
    p, q = (stats.norm(data.mean(), math.sqrt(data.var(ddof=1) / n_syn)) for data in (one, other))
    ends = p.mean() - 12 * q.std(), p.mean() + 12 * q.std()

    def found(epsilon):
        return max(hockey_stick(a.pdf, b.pdf, epsilon, *ends) for a, b in ((p, q), (q, p)))

    assert found(gaussian.mean_epsilon_printed(setting, n_syn, delta)) > 1.5 * delta
    assert found(gaussian.mean_epsilon_curve(setting, n_syn, delta)) <= delta * (1 + 1e-4)


def test_no_rho_exists_for_the_mean_when_the_variance_moves():
    """The Renyi integral converges below order n s^2 / (2d)^2 and grows without end above it."""
    order = S2.n * S2.variance / (2 * S2.d) ** 2

    def log_integral(alpha, half_width):
        x = np.linspace(-half_width, half_width, 20_001)
        p, q = stats.norm.logpdf(x, 0, 1), stats.norm.logpdf(x, 0, math.sqrt(1 - S2.variance_sensitivity))
        return np.logaddexp.reduce(alpha * p + (1 - alpha) * q) + math.log(x[1] - x[0])

    assert log_integral(0.8 * order, 100) == pytest.approx(log_integral(0.8 * order, 50), abs=1e-6)
    assert log_integral(1.2 * order, 100) > log_integral(1.2 * order, 50) + 100


def joint_delta(here, there, n_syn, epsilon):
    """Smallest delta of a whole release, synthetic mean and variance, between two data sets, by quadrature over both."""
    p, q = (
        (
            stats.norm(data.mean(), math.sqrt(data.var(ddof=1) / n_syn)),
            gaussian.variance_distribution(Setting(len(data), 4.0, data.var(ddof=1)), n_syn),
        )
        for data in (here, there)
    )
    x = np.linspace(*(p[0].mean() + sign * 11 * p[0].std() for sign in (-1, 1)), 1501)
    y = np.linspace(min(one[1].ppf(1e-14) for one in (p, q)), max(one[1].isf(1e-14) for one in (p, q)), 1501)
    log_p, log_q = (one[0].logpdf(x)[:, None] + one[1].logpdf(y) for one in (p, q))
    excess = np.exp(log_p) * -np.expm1(np.minimum(epsilon + log_q - log_p, 0))
    return float(excess.sum() * (x[1] - x[0]) * (y[1] - y[0]))


def test_total_bound_against_the_whole_release_of_two_data_sets():
    """The derived totals hold; the printed recipe with its sign mended gives away 60 times the delta it promises."""
    one, other, setting = explicit_setting()
    n_syn, delta = 1000, 1e-5
    table = gaussian.unknown_variance_table([setting], [n_syn], delta)
    totals = table[table["part"] == "total"].set_index("form")["epsilon"]

    def found(form):
        return max(joint_delta(*pair, n_syn, totals[form]) for pair in ((one, other), (other, one)))

    assert found("derived") <= found("curve") <= delta
    assert found("half_step") > 50 * delta


# Tables and errors ---------------------------------------------------------------------------------------------------


def test_route_table_is_tidy_and_grows_with_the_records():
    table = gaussian.route_table(FIGURE_1, [1, 1000, 15625], 1e-5)
    assert len(table) == 3 * len(gaussian.ROUTES) * len(gaussian.CONVERSIONS)
    assert set(table["guarantee"]) == {gaussian.APPROXIMATE}
    for _, group in table.groupby(["route", "conversion"]):
        assert group["epsilon"].is_monotonic_increasing
    row = table[(table["route"] == "plugin") & (table["n_syn"] == 15625) & (table["conversion"] == "printed")]
    assert row["epsilon"].item() == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e5)))


def test_unknown_variance_table_says_where_there_is_no_bound():
    settings = [Setting(1000, 4.0, variance) for variance in (0.05, 1.0)]
    table = gaussian.unknown_variance_table(settings, [100], 1e-5)
    assert len(table) == 2 * len(gaussian.UNKNOWN_VARIANCE) * 3
    no_bound = table[(table["variance"] == 0.05) & (table["part"] == "total")].set_index("form")["epsilon"]
    assert np.isinf(no_bound[["derived", "curve"]]).all()
    assert np.isfinite(no_bound[["printed", "half_step"]]).all()
    one = table[(table["variance"] == 1.0) & (table["form"] == "curve")].set_index("part")
    assert one["epsilon"]["total"] == pytest.approx(one["epsilon"]["mean"] + one["epsilon"]["variance"])
    assert one["delta"]["total"] == pytest.approx(1e-5)


def test_unknown_variance_table_finds_the_delta_of_each_part():
    table = gaussian.unknown_variance_table([S2], [100], 1e-4).set_index(["form", "part"])
    for form in gaussian.UNKNOWN_VARIANCE:
        mean, variance = (table.loc[(form, part)] for part in ("mean", "variance"))
        p, q = stats.norm(0, 0.1), stats.norm(S2.mean_sensitivity, math.sqrt((1 - S2.variance_sensitivity) / 100))
        by_quadrature = max(hockey_stick(a.pdf, b.pdf, mean["epsilon"], -1.5, 1.5) for a, b in ((p, q), (q, p)))
        assert mean["delta_found"] >= by_quadrature * (1 - 1e-4)
        found = max(pair_delta(S2, 100, S2.variance + sign * S2.variance_sensitivity, variance["epsilon"]) for sign in (-1, 1))
        assert variance["delta_found"] == pytest.approx(found, rel=1e-3, abs=1e-13)
    assert table.loc[("curve", "mean"), "delta_found"] == pytest.approx(5e-5)
    known = gaussian.gaussian_delta(0.1, S2.mean_sensitivity, table["epsilon_known"].iloc[0])
    assert known == pytest.approx(1e-4)


def test_sets_of_plugin_data_are_one_larger_set():
    """m data sets of n_syn plug-in records are m n_syn records (the paper's footnote 3); Bayesian ones are not."""
    one, five = Setting(1000, 4.0), Setting(1000, 4.0, m=5)
    assert gaussian.rho_plugin(five, 3125) == pytest.approx(gaussian.rho_plugin(one, 15625))
    assert gaussian.variance_epsilon_curve(five, 20, 1e-5) == pytest.approx(gaussian.variance_epsilon_curve(one, 100, 1e-5))
    assert gaussian.rho_bayes_joint(five, 3125) > 4 * gaussian.rho_bayes_joint(one, 15625)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Setting(1, 4.0), "n"),
        (lambda: Setting(10, -1.0), "d"),
        (lambda: Setting(10, 1.0, variance=math.nan), "variance"),
        (lambda: gaussian.analytic_sigma(1.0, 0.0, 1e-5), "epsilon"),
        (lambda: gaussian.classical_sigma(1.0, 1.0, 1.0), "delta"),
        (lambda: gaussian.gaussian_delta(0.0, 1.0, 1.0), "sigma"),
        (lambda: gaussian.epsilon_renyi(0.5, 0.0), "delta"),
        (lambda: gaussian.variance_distribution(S2, 1), "at least 2"),
    ],
)
def test_values_out_of_range_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
