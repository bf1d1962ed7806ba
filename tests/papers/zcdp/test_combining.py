"""The synthesizers against their own records, the combining rules and the coverage study against exact distributions."""

import math

import numpy as np
import pandas as pd
import pytest
from papers.zcdp.exact import P, Z, exact_performance, generators
from scipy import integrate, stats

from formalsynth_workflow.papers.zcdp import combining
from formalsynth_workflow.papers.zcdp.accounting import Setting
from formalsynth_workflow.papers.zcdp.combining import RULES, SYNTHESES, Estimates

# Synthesis -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("synthesis", SYNTHESES)
def test_moments_are_those_of_the_records(synthesis):
    """With n = 4 the draws of the mean are large, so that the three syntheses differ in everything looked at here."""
    setting, n_syn, repetitions = Setting(4, 9.0, variance=1.6, m=3), 6, 4000
    records = [combining.synthetic_records(base, setting, n_syn, synthesis, 0.7) for base in generators(1, repetitions)]
    moments = [combining.synthetic_moments(base, setting, n_syn, synthesis, 0.7) for base in generators(2, repetitions)]
    slow = np.array([base.mean(axis=1) for base in records]), np.array([base.var(axis=1, ddof=1) for base in records])
    fast = tuple(np.array([base[k] for base in moments]) for k in (0, 1))
    for looked_at in (
        lambda q, s2: q[:, 0],
        lambda q, s2: q.mean(axis=1),
        lambda q, s2: q.var(axis=1, ddof=1),
        lambda q, s2: s2[:, 1],
        lambda q, s2: s2.mean(axis=1),
        lambda q, s2: q[:, 0] * q[:, 1],
        lambda q, s2: (q[:, 0] - 0.7) ** 2 * s2[:, 0],
    ):
        assert stats.ks_2samp(looked_at(*slow), looked_at(*fast)).pvalue > P


@pytest.mark.parametrize(("synthesis", "covariance"), [("plugin", 0.0), ("bayes", 1.6 / 4), ("bayes_one_step", 0.0)])
def test_the_covariance_of_records_depends_on_the_synthesis(synthesis, covariance):
    """Two records of one data set have the covariance of their draw of the mean; data sets never share a draw."""
    setting = Setting(4, 9.0, variance=1.6, m=2)
    records = np.array([combining.synthetic_records(base, setting, 2, synthesis, 0.0) for base in generators(3, 20_000)])
    for base, two, expected in ((records[:, 0, 0], records[:, 0, 1], covariance), (records[:, 0, 0], records[:, 1, 0], 0.0)):
        products = base * two
        assert abs(products.mean() - expected) < Z * products.std() / math.sqrt(len(products))
    total = 1.6 * (1 + (synthesis != "plugin") / 4)
    assert stats.kstest(records[:, 0, 0], stats.norm(0, math.sqrt(total)).cdf).pvalue > P


def test_the_effect_of_clamping_on_the_mean_agrees_with_quadrature():
    setting, mean, repetitions = Setting(200, 2.0), 1.0, 2000
    density = stats.norm(mean, 1).pdf
    first, second = (
        integrate.quad(lambda x, k=k: np.clip(x, -2, 2) ** k * density(x), -9, 11, points=[-2, 2])[0] for k in (1, 2)
    )
    result = combining.confidential_means(setting, generators(4, repetitions), mean)
    assert abs(result.mean() - first) < Z * math.sqrt((second - first**2) / 200 / repetitions)
    assert mean - first > 0.08
    rows = combining.coverage_rows(setting, 500, "plugin", result, generators(5, repetitions), mean=mean, rules=["T_s"])
    assert abs(rows["error"].mean() - (first - mean)) < Z * rows["error"].sem()
    assert rows["covered"].mean() < 0.9


# Rules ---------------------------------------------------------------------------------------------------------------


def test_rules_on_a_worked_example():
    """q = 1, 2, 4 and u = 0.3, 0.5, 0.1 with n = 10, n_syn = 5: b = 7/3, u = 0.3."""
    estimates = Estimates.of(10, 5, np.array([[1.0, 2.0, 4.0]]), np.array([[0.3, 0.5, 0.1]]))
    assert estimates.q == pytest.approx(7 / 3)
    variance, df = combining.t_f(estimates)
    assert variance == pytest.approx(28 / 9 - 0.3)
    assert df == pytest.approx(2 * (1 - 0.3 * 9 / 28) ** 2)
    assert combining.t_s(estimates)[0] == pytest.approx((0.5 + 1 / 3) * 0.3)
    assert combining.t_ppd(estimates)[0] == pytest.approx((0.5 + 0.5) * 0.3)
    interval = combining.intervals(estimates, "T_f", 0.9).iloc[0]
    assert stats.t(df).cdf((interval["upper"] - 7 / 3) / math.sqrt(variance[0])) == pytest.approx(0.95)
    interval = combining.intervals(estimates, "T_s", 0.9).iloc[0]
    assert stats.norm(7 / 3, math.sqrt(0.25)).cdf(interval["lower"]) == pytest.approx(0.05)


def test_a_negative_variance_gives_no_interval():
    estimates = Estimates.of(10, 5, np.array([[1.0, 1.1], [1.0, 3.0]]), np.full((2, 2), 0.5))
    result = combining.intervals(estimates, "T_f")
    assert result["negative"].tolist() == [True, False]
    assert result["lower"].isna().tolist() == [True, False]


def test_t_f_refuses_a_single_data_set():
    estimates = Estimates.of(10, 5, np.array([[1.0]]), np.array([[0.5]]))
    with pytest.raises(ValueError, match="T_f needs m >= 2"):
        combining.intervals(estimates, "T_f")
    rows = combining.coverage_rows(Setting(10, 4.0), 5, "plugin", np.zeros(3), generators(6, 3))
    assert set(rows["rule"]) == {"T_s", "T_PPD"}


# Coverage study ------------------------------------------------------------------------------------------------------

REPETITIONS = 4000
FREE = Setting(100, 1e3)
"""Bounds so wide that clamping never happens."""


def study(setting, n_syn, synthesis, repetitions=REPETITIONS, start=0, **options):
    confidential = combining.confidential_means(setting, generators(7, repetitions, start))
    return combining.coverage_rows(setting, n_syn, synthesis, confidential, generators(8, repetitions, start), **options)


@pytest.mark.parametrize("synthesis", SYNTHESES)
@pytest.mark.parametrize(("m", "n_syn"), [(2, 100), (5, 20), (5, 100), (20, 400)])
def test_simulated_study_agrees_with_the_exact_distributions(synthesis, m, n_syn):
    setting = Setting(FREE.n, FREE.d, m=m)
    rows = study(setting, n_syn, synthesis, known_variance=True)
    for rule in RULES:
        exact = exact_performance(setting, n_syn, synthesis, rule)
        result = rows[rows["rule"] == rule]
        for share, p in ((result["covered"].mean(), exact.coverage), (result["negative"].mean(), exact.negative)):
            assert abs(share - p) <= Z * math.sqrt(p * (1 - p) / REPETITIONS)
        estimated = result["estimated_variance"]
        assert abs(estimated.mean() - exact.expected) <= Z * estimated.sem() + 1e-12 * exact.expected
        assert abs(result["point"].var() / exact.variance - 1) < Z * math.sqrt(2 / (REPETITIONS - 1))
        assert abs(result["error"].mean()) < Z * math.sqrt(exact.variance / REPETITIONS)


@pytest.mark.parametrize(("synthesis", "rule"), [("plugin", "T_s"), ("bayes", "T_PPD"), ("bayes", "T_f")])
@pytest.mark.parametrize(("m", "n_syn"), [(2, 30), (5, 100), (50, 1000)])
def test_each_rule_is_unbiased_for_the_synthesis_it_was_made_for(synthesis, rule, m, n_syn):
    exact = exact_performance(Setting(100, 4.0, variance=2.5, m=m), n_syn, synthesis, rule)
    assert exact.expected == pytest.approx(exact.variance, rel=1e-12)
    if rule != "T_f":
        assert exact.coverage == pytest.approx(0.95, abs=1e-9)


@pytest.mark.parametrize(("m", "n_syn"), [(5, 1000), (5, 15625), (20, 100)])
def test_t_f_fails_half_the_time_where_the_synthesis_has_no_draw_for_each_set(m, n_syn):
    """The chance of a negative T_f is that of a chi-square, and the coverage cannot exceed the share with an interval."""
    for synthesis, ratio in (("bayes", 1 + n_syn / 1000), ("plugin", 1.0), ("bayes_one_step", 1.001)):
        exact = exact_performance(Setting(1000, 4.0, m=m), n_syn, synthesis, "T_f")
        assert exact.negative == pytest.approx(stats.chi2(m - 1).cdf((m - 1) / ((1 + 1 / m) * ratio)), rel=1e-6)
        assert exact.coverage <= 1 - exact.negative + 1e-6
        if synthesis != "bayes":
            assert exact.negative > 0.45


def test_estimated_variances_barely_change_the_study():
    """With n_syn = 100 records a set's own variance serves as well as the known one.

    Both studies share their noise, so that only intervals flip whose end is next to the mean: 1 in 100, give or take 0.2
    percent of coverage; the median width is shorter by 0.1 percent.
    """
    setting = Setting(FREE.n, FREE.d, m=5)
    known, estimated = (study(setting, 100, "plugin", known_variance=known).groupby("rule") for known in (True, False))
    assert estimated["covered"].mean()["T_s"] == pytest.approx(known["covered"].mean()["T_s"], rel=0.02)
    for rule in ("T_s", "T_PPD"):
        assert estimated["width"].median()[rule] == pytest.approx(known["width"].median()[rule], rel=0.02)


def test_no_number_depends_on_how_replicates_are_grouped():
    setting = Setting(50, 4.0, m=3)
    whole = study(setting, 40, "bayes", repetitions=5)
    parts = [study(setting, 40, "bayes", repetitions=2), study(setting, 40, "bayes", repetitions=3, start=2)]
    joined = pd.concat(parts).sort_values("rule", kind="stable").drop(columns="replicate").reset_index(drop=True)
    expected = whole.sort_values("rule", kind="stable").drop(columns="replicate").reset_index(drop=True)
    pd.testing.assert_frame_equal(joined, expected)


def test_replicates_without_an_interval_are_missed():
    rows = study(Setting(FREE.n, FREE.d, m=2), 10, "plugin", repetitions=500, rules=["T_f"])
    assert 0 < rows["negative"].sum() < 500
    assert not rows["covered"][rows["negative"]].any()
    assert rows["width"].isna().equals(rows["negative"])
    assert rows["covered"].dtype == bool
