"""Every bound against a computation that does not use it: quadrature of the two output densities, or simulated records."""

import functools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from densities import hockey_stick
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.zcdp.neighbours import extreme_pair
from scipy import stats

from formalsynth.core.gaussian import gaussian_delta
from formalsynth_workflow.papers.zcdp import unknown_variance
from formalsynth_workflow.papers.zcdp.accounting import Setting

sampled = settings(deadline=None, derandomize=True)
S2 = Setting(1000, 4.0, variance=1.0)


def variance_distribution(setting, n_syn):
    """The Gamma distribution of the variance of ``m n_syn`` normal records (zcdp paper, Section 4.3)."""
    shape = (setting.m * n_syn - 1) / 2
    return stats.gamma(shape, scale=setting.variance / shape)


def variance_at(setting, n_syn, variance):
    """The distribution of the synthetic variance from another data set."""
    return variance_distribution(replace(setting, variance=variance), n_syn)


def test_synthetic_variance_is_gamma():
    setting = Setting(30, 4.0, variance=2.3)
    records = np.random.default_rng(6).normal(1.0, math.sqrt(2.3), (20_000, 25))
    result = stats.kstest(records.var(axis=1, ddof=1), variance_distribution(setting, 25).cdf)
    assert result.pvalue > 1e-5


@pytest.mark.parametrize("other", [0.7, 1.4])
def test_variance_loss_is_the_log_ratio_of_the_densities(other):
    x = np.linspace(0.2, 3, 50)
    log_p = variance_distribution(S2, 40).logpdf(x)
    log_q = variance_at(S2, 40, other).logpdf(x)
    assert unknown_variance.variance_loss(S2, 40, other, x) == pytest.approx(log_p - log_q, abs=1e-9)


def test_printed_loss_is_that_of_half_the_step_with_one_sign_wrong():
    """The printed terms, typed out, against the log ratio of the two densities: E3 and the sign of the second one."""
    n_syn, s2, change = 200, 1.0, S2.variance_sensitivity
    x = variance_distribution(S2, n_syn).ppf([5e-6, 1 - 5e-6])

    def term(sign):
        neighbour = 2 * s2 + sign * change
        return (n_syn - 1) / 2 * np.log(neighbour / (2 * s2)) - (n_syn - 1) * change / (2 * s2 * neighbour) * x

    assert unknown_variance.variance_epsilon_printed(S2, n_syn, 1e-5) == pytest.approx(np.abs([term(1), term(-1)]).max())

    def loss(other):
        p, q = (variance_at(S2, n_syn, s).logpdf(x) for s in (s2, other))
        return p - q

    assert term(1) == pytest.approx(loss(s2 + change / 2), abs=1e-9)
    assert (np.abs(loss(s2 + change)) > 1.8 * np.abs(term(1))).all()
    assert (np.sign(term(-1)) == -1).all()
    assert sorted(np.sign(loss(s2 - change / 2))) == [-1, 1]


@functools.lru_cache(1)
def quantiles(setting, n_syn):
    """A fine grid of quantiles of the variance, and their log densities."""
    distribution = variance_distribution(setting, n_syn)
    x = distribution.ppf((np.arange(400_000) + 0.5) / 400_000)
    return x, distribution.logpdf(x)


def beyond(setting, n_syn, other, epsilon):
    """Probability, by a fine grid of quantiles, of a loss beyond epsilon."""
    x, p = quantiles(setting, n_syn)
    q = variance_at(setting, n_syn, other).logpdf(x)
    return float((np.abs(p - q) > epsilon).mean())


@pytest.mark.parametrize("n_syn", [10, 100, 1000, 15625])
def test_e3_percentile_bound_holds_as_derived_and_fails_at_half_the_step(n_syn):
    delta = 0.01
    neighbours = [S2.variance - S2.variance_sensitivity, S2.variance + S2.variance_sensitivity]
    derived, half = (
        f(S2, n_syn, delta) for f in (unknown_variance.variance_epsilon_derived, unknown_variance.variance_epsilon_half_step)
    )
    assert max(beyond(S2, n_syn, other, derived) for other in neighbours) <= delta * (1 + 1e-3)
    assert max(beyond(S2, n_syn, other, half) for other in neighbours) > 4 * delta


def pair_delta(setting, n_syn, other, epsilon):
    """Hockey-stick divergence of the two Gamma densities by quadrature, in both directions, the larger."""
    p, q = variance_distribution(setting, n_syn), variance_at(setting, n_syn, other)
    low, high = min(base.ppf(1e-14) for base in (p, q)), max(base.isf(1e-14) for base in (p, q))
    return max(hockey_stick(base.pdf, two.pdf, epsilon, low, high) for base, two in ((p, q), (q, p)))


@pytest.mark.parametrize("n_syn", [10, 100, 1000])
def test_variance_curve_by_quadrature(n_syn):
    delta, step = 1e-5, S2.variance_sensitivity
    epsilon = unknown_variance.variance_epsilon_curve(S2, n_syn, delta)
    result = max(pair_delta(S2, n_syn, S2.variance + sign * step, epsilon) for sign in (-1, 1))
    assert result == pytest.approx(delta, rel=1e-4)
    assert epsilon <= unknown_variance.variance_epsilon_derived(S2, n_syn, delta)


def test_printed_variance_bound_errs_on_either_side():
    """Too small for few synthetic records, where half the step shows, and many times too large for many, through the sign."""
    printed, curve = unknown_variance.variance_epsilon_printed, unknown_variance.variance_epsilon_curve
    step = S2.variance_sensitivity
    at_printed = max(pair_delta(S2, 5, S2.variance + sign * step, printed(S2, 5, 1e-5)) for sign in (-1, 1))
    assert at_printed > 1.5e-5
    assert printed(S2, 1000, 1e-5) > 4 * curve(S2, 1000, 1e-5)


@sampled
@given(st.floats(0, 3), st.floats(2, 400), st.floats(0.3, 3), st.floats(0.3, 3))
def test_gamma_pair_delta_by_quadrature(epsilon, shape, mean, other):
    p, q = (stats.gamma(shape, scale=base / shape) for base in (mean, other))
    low, high = min(base.ppf(1e-13) for base in (p, q)), max(base.isf(1e-13) for base in (p, q))
    result = hockey_stick(p.pdf, q.pdf, epsilon, low, high)
    assert unknown_variance.gamma_pair_delta(epsilon, shape, mean, other) == pytest.approx(result, abs=2e-5)


@sampled
@given(st.floats(0, 3), st.floats(-3, 3), st.floats(0.1, 4), st.floats(0.1, 4))
def test_normal_pair_delta_by_quadrature(epsilon, shift, variance, other):
    p, q = stats.norm(0, math.sqrt(variance)), stats.norm(shift, math.sqrt(other))
    result = hockey_stick(p.pdf, q.pdf, epsilon, -30, 30)
    assert unknown_variance.normal_pair_delta(epsilon, shift, variance, other) == pytest.approx(result, abs=2e-5)


def test_the_corners_are_the_worst_neighbours():
    """No smaller change of mean or variance needs a larger epsilon than the corners that the bounds look at."""
    delta, n_syn = 1e-5, 100
    limit = unknown_variance.mean_epsilon_curve(S2, n_syn, delta)
    for share in np.linspace(0, 1, 6):
        for step in np.linspace(-1, 1, 9) * S2.variance_sensitivity:
            here, other = 1 / n_syn, (1 + step) / n_syn
            shift = share * S2.mean_sensitivity
            for pair in ((here, other), (other, here)):
                assert unknown_variance.normal_pair_delta(limit, shift, *pair) <= delta * (1 + 1e-6)
    limit, shape = unknown_variance.variance_epsilon_curve(S2, n_syn, delta), (n_syn - 1) / 2
    for step in np.linspace(-1, 1, 21) * S2.variance_sensitivity:
        for pair in ((1.0, 1 + step), (1 + step, 1.0)):
            assert unknown_variance.gamma_pair_delta(limit, shape, *pair) <= delta * (1 + 1e-6)


def explicit_setting():
    """Two data sets of 1000 records in [-4, 4], written out, and the release from the first."""
    base, other = extreme_pair(1000, 4.0, 0.016)
    return base, other, Setting(1000, 4.0, variance=base.var(ddof=1))


@pytest.mark.parametrize("n_syn", [2, 100, 1000])
def test_the_mean_alone_breaks_the_printed_bound_when_the_variance_moves_too(n_syn):
    """Two data sets written out: rho with s^2 in place of sigma^2 promises an epsilon that their synthetic means exceed."""
    base, other, setting = explicit_setting()
    delta = 1e-5
    p, q = (stats.norm(data.mean(), math.sqrt(data.var(ddof=1) / n_syn)) for data in (base, other))
    ends = p.mean() - 12 * q.std(), p.mean() + 12 * q.std()

    def result(epsilon):
        return max(hockey_stick(a.pdf, b.pdf, epsilon, *ends) for a, b in ((p, q), (q, p)))

    assert result(unknown_variance.mean_epsilon_printed(setting, n_syn, delta)) > 1.5 * delta
    assert result(unknown_variance.mean_epsilon_curve(setting, n_syn, delta)) <= delta * (1 + 1e-4)


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
            variance_distribution(Setting(len(data), 4.0, data.var(ddof=1)), n_syn),
        )
        for data in (here, there)
    )
    x = np.linspace(*(p[0].mean() + sign * 11 * p[0].std() for sign in (-1, 1)), 1501)
    y = np.linspace(min(base[1].ppf(1e-14) for base in (p, q)), max(base[1].isf(1e-14) for base in (p, q)), 1501)
    log_p, log_q = (base[0].logpdf(x)[:, None] + base[1].logpdf(y) for base in (p, q))
    excess = np.exp(log_p) * -np.expm1(np.minimum(epsilon + log_q - log_p, 0))
    return float(excess.sum() * (x[1] - x[0]) * (y[1] - y[0]))


def test_total_bound_against_the_whole_release_of_two_data_sets():
    """The derived totals hold; the printed recipe with the correct sign needs 60 times the claimed delta."""
    base, other, setting = explicit_setting()
    n_syn, delta = 1000, 1e-5
    table = unknown_variance.unknown_variance_table(setting, [n_syn], delta)
    totals = table[table["part"] == "total"].set_index("form")["epsilon"]

    def result(form):
        return max(joint_delta(*pair, n_syn, totals[form]) for pair in ((base, other), (other, base)))

    assert result("derived") <= result("curve") <= delta
    assert result("half_step") > 50 * delta


def test_unknown_variance_table_is_infinite_without_a_bound():
    releases = [Setting(1000, 4.0, variance) for variance in (0.05, 1.0)]
    table = pd.concat([unknown_variance.unknown_variance_table(setting, [100], 1e-5) for setting in releases])
    assert len(table) == 2 * len(unknown_variance.UNKNOWN_VARIANCE) * 3
    no_bound = table[(table["variance"] == 0.05) & (table["part"] == "total")].set_index("form")["epsilon"]
    assert np.isinf(no_bound[["derived", "curve"]]).all()
    assert np.isfinite(no_bound[["printed", "half_step"]]).all()
    base = table[(table["variance"] == 1.0) & (table["form"] == "curve")].set_index("part")
    assert base["epsilon"]["total"] == pytest.approx(base["epsilon"]["mean"] + base["epsilon"]["variance"])
    assert base["delta"]["total"] == pytest.approx(1e-5)


def test_unknown_variance_table_finds_the_delta_of_each_part():
    table = unknown_variance.unknown_variance_table(S2, [100], 1e-4).set_index(["form", "part"])
    for form in unknown_variance.UNKNOWN_VARIANCE:
        mean, variance = (table.loc[(form, part)] for part in ("mean", "variance"))
        p, q = stats.norm(0, 0.1), stats.norm(S2.mean_sensitivity, math.sqrt((1 - S2.variance_sensitivity) / 100))
        by_quadrature = max(hockey_stick(a.pdf, b.pdf, mean["epsilon"], -1.5, 1.5) for a, b in ((p, q), (q, p)))
        assert mean["delta_found"] >= by_quadrature * (1 - 1e-4)
        result = max(pair_delta(S2, 100, S2.variance + sign * S2.variance_sensitivity, variance["epsilon"]) for sign in (-1, 1))
        assert variance["delta_found"] == pytest.approx(result, rel=1e-3, abs=1e-13)
    assert table.loc[("curve", "mean"), "delta_found"] == pytest.approx(5e-5)
    known = gaussian_delta(0.1, S2.mean_sensitivity, table["epsilon_known"].iloc[0])
    assert known == pytest.approx(1e-4)


def test_sets_of_plugin_data_are_one_larger_set():
    base, five = Setting(1000, 4.0), Setting(1000, 4.0, m=5)
    for bound in (unknown_variance.variance_epsilon_curve, unknown_variance.mean_epsilon_curve):
        assert bound(five, 20, 1e-5) == pytest.approx(bound(base, 100, 1e-5))


def test_a_single_record_has_no_variance():
    with pytest.raises(ValueError, match="at least 2"):
        unknown_variance.variance_delta(S2, 1, 0.5)
