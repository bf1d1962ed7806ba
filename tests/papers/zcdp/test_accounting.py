"""Every formula against a computation that does not use it: quadrature of the two output densities, or simulated losses."""

import math

import numpy as np
import pytest
from densities import renyi
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.zcdp.exact import Z
from papers.zcdp.neighbours import extreme_pair, worst_pair
from scipy import stats

from formalsynth.core.gaussian import gaussian_delta
from formalsynth_workflow.papers.zcdp import accounting, unknown_variance
from formalsynth_workflow.papers.zcdp.accounting import Setting

FIGURE_1 = Setting(n=1000, d=4.0)
ORDERS = (1.5, 2.0, 6.0)
sampled = settings(deadline=None, derandomize=True)
rhos = st.floats(1e-6, 1e3)
deltas = st.floats(-30, -0.3).map(math.exp)


def test_printed_anchors():
    assert accounting.n_syn_plugin(FIGURE_1, 0.5) == pytest.approx(15625, rel=1e-12)
    assert accounting.rho_plugin(FIGURE_1, 15625) == pytest.approx(0.5, rel=1e-12)
    assert accounting.rho_bayes_per_record(FIGURE_1, 15625) == pytest.approx(0.4995, abs=5e-5)
    assert accounting.rho_bayes_joint(FIGURE_1, 15625) == pytest.approx(0.0301, abs=5e-5)
    assert accounting.rho_postprocessing_printed(FIGURE_1) == pytest.approx(32_000)


@sampled
@given(st.integers(2, 12), st.floats(0.1, 50), st.integers(0, 2**32 - 1))
def test_no_replaced_record_moves_a_statistic_more_than_its_sensitivity(n, d, seed):
    setting, rng = Setting(n, d), np.random.default_rng(seed)
    base = rng.uniform(-d, d, n) if seed % 2 else rng.choice([-d, d], n)
    other = base.copy()
    other[rng.integers(n)] = rng.choice([-d, d, rng.uniform(-d, d)])
    assert abs(base.mean() - other.mean()) <= setting.mean_sensitivity * (1 + 1e-9)
    assert abs(base.var(ddof=1) - other.var(ddof=1)) <= setting.variance_sensitivity * (1 + 1e-9)


def test_the_sensitivities_are_attained():
    setting = Setting(50, 3.0)
    base, other = worst_pair(setting)
    assert other.mean() - base.mean() == pytest.approx(setting.mean_sensitivity)
    base, other = extreme_pair(50, 3.0, 0.0)
    assert other.var(ddof=1) - base.var(ddof=1) == pytest.approx(setting.variance_sensitivity)


@pytest.mark.parametrize("order", ORDERS)
def test_plugin_record_and_two_records_by_quadrature(order):
    setting = Setting(n=5, d=2.0, variance=1.7)
    base, other = worst_pair(setting)
    grid = np.linspace(-14, 14, 1401)
    step = grid[1] - grid[0]
    p, q = (stats.norm.pdf(grid, data.mean(), math.sqrt(1.7)) for data in (base, other))
    assert renyi(p, q, step, order) == pytest.approx(order * accounting.rho_plugin(setting, 1), rel=1e-8)
    p, q = np.outer(p, p), np.outer(q, q)
    assert renyi(p, q, step**2, order) == pytest.approx(order * accounting.rho_plugin(setting, 2), rel=1e-8)
    assert accounting.rho_plugin(setting, 2) == accounting.rho_plugin(Setting(5, 2.0, 1.7, m=2), 1)


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
    base, other = worst_pair(setting)
    grid = np.linspace(-11, 11, 601)
    for share_the_mean, rho in ((True, accounting.rho_bayes_joint), (False, accounting.rho_bayes_per_record)):
        p, q = (joint_density_of_two_records(data, 0.8, grid, share_the_mean) for data in (base, other))
        assert renyi(p, q, (grid[1] - grid[0]) ** 2, order) == pytest.approx(order * rho(setting, 2), rel=1e-6)


def simulated_losses(setting, n_syn, repetitions, seed):
    """Privacy loss of n_syn Bayesian records that share their mean, record by record, the mean integrated out on a grid."""
    rng = np.random.default_rng(seed)
    base, other = worst_pair(setting)
    spread = math.sqrt(setting.variance / setting.n)
    grid = np.linspace(base.mean() - 8 * spread, other.mean() + 8 * spread, 4001)
    posterior = [stats.norm.logpdf(grid, data.mean(), spread) for data in (base, other)]
    losses = np.empty(repetitions)
    for k in range(repetitions):
        records = rng.normal(rng.normal(base.mean(), spread), math.sqrt(setting.variance), n_syn)
        likelihood = (grid * records.sum() - n_syn * grid**2 / 2) / setting.variance
        log_p, log_q = (np.logaddexp.reduce(likelihood + prior) for prior in posterior)
        losses[k] = log_p - log_q
    return losses


def test_e4_simulated_privacy_loss_in_the_setting_of_figure_1():
    """The loss of a Gaussian mechanism is normal with mean rho and variance 2 rho: here rho is 0.0301, not 0.4995."""
    losses, rho = simulated_losses(FIGURE_1, 15625, 2000, seed=1), accounting.rho_bayes_joint(FIGURE_1, 15625)
    assert abs(losses.mean() - rho) < Z * math.sqrt(2 * rho / 2000)
    assert abs(losses.var() / (2 * rho) - 1) < Z * math.sqrt(2 / 2000)
    assert losses.mean() + Z * losses.std() / math.sqrt(2000) < accounting.rho_bayes_per_record(FIGURE_1, 15625) / 5


@pytest.mark.parametrize("order", ORDERS)
def test_e4_density_of_the_synthetic_mean_by_convolution(order):
    base, other = worst_pair(FIGURE_1)
    step = 2e-4
    at = np.arange(-3000, 3001) * step
    noise = stats.norm.pdf(at, 0, math.sqrt(1 / 15625))
    means = (stats.norm.pdf(at, data.mean(), math.sqrt(1 / 1000)) for data in (base, other))
    p, q = (np.convolve(density, noise, mode="same") * step for density in means)
    assert renyi(p, q, step, order) == pytest.approx(order * accounting.rho_bayes_joint(FIGURE_1, 15625), rel=1e-6)


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
    result = renyi(p, q, grid[1] - grid[0], order) / order
    assert result == pytest.approx(accounting.rho_postprocessing(setting), rel=1e-6)
    assert accounting.rho_postprocessing_printed(setting) / result == pytest.approx(200**2, rel=1e-6)


def test_e2_break_even_by_quadrature():
    """Post-processing beats composed records from n_syn = n + 1 on."""
    setting, order = Setting(n=40, d=1.5), 2.0
    wide, narrow = np.linspace(-12, 12, 4001), np.linspace(-1.6, 1.6, 4001)
    base, other = worst_pair(setting)
    draw = renyi(*(posterior_of_the_mean(data, narrow) for data in (base, other)), narrow[1] - narrow[0], order)
    spread = math.sqrt(1 + 1 / 40)
    record = renyi(*(stats.norm.pdf(wide, data.mean(), spread) for data in (base, other)), wide[1] - wide[0], order)
    assert draw / record == pytest.approx(41, rel=1e-6)
    assert accounting.rho_postprocessing(setting) / accounting.rho_bayes_per_record(setting, 1) == pytest.approx(41)
    printed = accounting.rho_postprocessing_printed(setting) / accounting.rho_bayes_per_record(setting, 1)
    assert printed == pytest.approx(40**2 * 41), "what the paper prints is later by n^2"
    joint = accounting.rho_bayes_joint(setting, np.array([1, 41, 1e3, 1e9]))
    assert (joint < accounting.rho_postprocessing(setting)).all()


@sampled
@given(st.integers(2, 10_000), st.floats(0.1, 20), st.floats(0.01, 100), st.integers(1, 50), st.floats(1e-6, 1e6))
def test_the_inverse_returns_the_records_that_cost_rho(n, d, variance, m, rho):
    setting = Setting(n, d, variance, m)
    assert accounting.rho_plugin(setting, accounting.n_syn_plugin(setting, rho)) == pytest.approx(rho, rel=1e-6)


def test_whole_records_forgive_rounding_only():
    assert accounting.whole_records(15625 - 1e-10) == 15625
    assert accounting.whole_records(15624.999) == 15624


def test_composition_adds_simulated_losses():
    """Two independent releases of the mean: the mean loss is the sum of their rhos."""
    rng, sensitivity, sigmas = np.random.default_rng(4), 0.3, (1.0, 0.7)
    losses = sum(
        stats.norm.logpdf(x, 0, s) - stats.norm.logpdf(x, sensitivity, s) for s in sigmas for x in [rng.normal(0, s, 200_000)]
    )
    rho = sum(accounting.zcdp_rho(s, sensitivity) for s in sigmas)
    assert abs(losses.mean() - rho) < Z * math.sqrt(2 * rho / 200_000)
    assert accounting.zcdp_sigma(accounting.zcdp_rho(0.7, 0.3), 0.3) == pytest.approx(0.7)


def test_approximate_budgets_add():
    assert accounting.compose_approximate([(1.0, 1e-5), (0.5, 1e-6)]) == pytest.approx((1.5, 1.1e-5))


@pytest.mark.parametrize(
    ("rho", "delta", "epsilon"),
    [(0.5, 1e-5, 4.728386984943315), (0.0301, 1e-5, 0.9918412435586073), (5.0, 1e-6, 20.551948814041253)],
)
def test_renyi_conversion_agrees_with_opendp(rho, delta, epsilon):
    """Values of opendp 0.16.0, ``make_zCDP_to_approxDP``."""
    assert accounting.epsilon_renyi(rho, delta) == pytest.approx(epsilon, rel=1e-9)


def test_renyi_conversion_is_the_largest_delta_that_rho_allows():
    """Over loss distributions with ``E exp((a-1) L) <= exp((a-1) a rho)`` delta is largest where one loss is best: by search."""
    rho, delta = 0.3, 1e-4
    orders, losses = 1 + np.geomspace(0.05, 200, 1500), np.linspace(0, 60, 40_001)

    def largest_delta(epsilon):
        at = losses[losses > epsilon]
        gain = np.log1p(-np.exp(epsilon - at))
        return math.exp(min((a - 1) * a * rho + (gain - (a - 1) * at).max() for a in orders))

    result = accounting.epsilon_renyi(rho, delta)
    assert largest_delta(result) == pytest.approx(delta, rel=2e-3)


@sampled
@given(rhos, deltas)
def test_conversions_tighten_and_the_exact_one_is_exact(rho, delta):
    printed, renyi_, exact = (convert(rho, delta) for convert in accounting.CONVERSIONS.values())
    assert exact <= renyi_ * (1 + 1e-9) + 1e-9
    assert renyi_ <= printed * (1 + 1e-9) + 1e-9
    result = gaussian_delta(1.0, math.sqrt(2 * rho), exact)
    assert result <= delta * (1 + 1e-6)
    if exact > 0:
        assert result == pytest.approx(delta, rel=1e-6)


def test_route_table_is_tidy_and_grows_with_the_records():
    table = accounting.route_table(FIGURE_1, [1, 1000, 15625], 1e-5)
    assert len(table) == 3 * len(accounting.ROUTES) * len(accounting.CONVERSIONS)
    assert set(table["guarantee"]) == {accounting.APPROXIMATE}
    for _, group in table.groupby(["route", "conversion"]):
        assert group["epsilon"].is_monotonic_increasing
    row = table[(table["route"] == "plugin") & (table["n_syn"] == 15625) & (table["conversion"] == "printed")]
    assert row["epsilon"].item() == pytest.approx(0.5 + 2 * math.sqrt(0.5 * math.log(1e5)))


def test_sets_of_plugin_data_are_one_larger_set():
    """m data sets of n_syn plug-in records are m n_syn records (the paper's footnote 3); Bayesian ones are not."""
    base, five = Setting(1000, 4.0), Setting(1000, 4.0, m=5)
    assert accounting.rho_plugin(five, 3125) == pytest.approx(accounting.rho_plugin(base, 15625))
    assert accounting.rho_bayes_joint(five, 3125) > 4 * accounting.rho_bayes_joint(base, 15625)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Setting(1, 4.0), "n"),
        (lambda: Setting(10, -1.0), "d"),
        (lambda: Setting(10, 1.0, variance=math.nan), "variance"),
        (lambda: Setting(10, 1.0, m=0), "m"),
        (lambda: accounting.epsilon_printed(0.5, 1.0), "delta"),
        (lambda: accounting.epsilon_renyi(0.5, 0.0), "delta"),
        (lambda: accounting.epsilon_exact(0.5, 2.0), "delta"),
        (lambda: unknown_variance.variance_epsilon_printed(FIGURE_1, 100, 1.0), "delta"),
    ],
)
def test_values_out_of_range_are_named(call, named):
    with pytest.raises(ValueError, match=f"^{named} must"):
        call()


@sampled
@given(st.integers(2, 60), st.floats(0.1, 50))
def test_a_search_finds_the_printed_sensitivities(n, d):
    setting = Setting(n, d)
    mean, variance = accounting.largest_steps(setting)
    assert mean == pytest.approx(setting.mean_sensitivity, rel=1e-9)
    assert variance == pytest.approx(setting.variance_sensitivity, rel=1e-9)
