"""The synthesizers against their own records, the combining rules and the coverage study against exact distributions."""

import math

import numpy as np
import pandas as pd
import pytest
from formalsynth import combining, gaussian
from formalsynth.combining import RULES, SYNTHESES, Estimates
from formalsynth.gaussian import Setting
from scipy import integrate, stats

Z = 4.5
"""Band of the simulated checks in standard errors: a correct program leaves it once in 150,000 runs."""
P = 1e-5
"""Smallest p-value that a check of a distribution accepts: a correct program goes below it once in 100,000 runs."""


def generators(word, count, start=0):
    return [np.random.default_rng([5, word, k]) for k in range(start, start + count)]


# Synthesis -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("synthesis", SYNTHESES)
def test_moments_are_those_of_the_records(synthesis):
    """With n = 4 the draws of the mean are large, so that the three syntheses differ in everything looked at here."""
    setting, n_syn, repetitions = Setting(4, 9.0, variance=1.6, m=3), 6, 4000
    records = [combining.synthetic_records(one, setting, n_syn, synthesis, 0.7) for one in generators(1, repetitions)]
    moments = [combining.synthetic_moments(one, setting, n_syn, synthesis, 0.7) for one in generators(2, repetitions)]
    slow = np.array([one.mean(axis=1) for one in records]), np.array([one.var(axis=1, ddof=1) for one in records])
    fast = tuple(np.array([one[k] for one in moments]) for k in (0, 1))
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
def test_records_share_what_their_synthesis_says(synthesis, covariance):
    """Two records of one data set have the covariance of their draw of the mean; data sets never share a draw."""
    setting = Setting(4, 9.0, variance=1.6, m=2)
    records = np.array([combining.synthetic_records(one, setting, 2, synthesis, 0.0) for one in generators(3, 20_000)])
    for one, two, expected in ((records[:, 0, 0], records[:, 0, 1], covariance), (records[:, 0, 0], records[:, 1, 0], 0.0)):
        products = one * two
        assert abs(products.mean() - expected) < Z * products.std() / math.sqrt(len(products))
    total = 1.6 * (1 + (synthesis != "plugin") / 4)
    assert stats.kstest(records[:, 0, 0], stats.norm(0, math.sqrt(total)).cdf).pvalue > P


def test_clamping_moves_the_mean_as_quadrature_says():
    setting, mean, repetitions = Setting(200, 2.0), 1.0, 2000
    density = stats.norm(mean, 1).pdf
    first, second = (
        integrate.quad(lambda x, k=k: np.clip(x, -2, 2) ** k * density(x), -9, 11, points=[-2, 2])[0] for k in (1, 2)
    )
    found = combining.confidential_means(setting, generators(4, repetitions), mean)
    assert abs(found.mean() - first) < Z * math.sqrt((second - first**2) / 200 / repetitions)
    assert mean - first > 0.08
    rows = combining.coverage_rows(setting, 500, "plugin", found, generators(5, repetitions), mean=mean, rules=["T_s"])
    table = combining.coverage_table(rows).set_index("measure")
    assert abs(table.loc["bias", "estimate"] - (first - mean)) < Z * table.loc["bias", "mcse"]
    assert table.loc["coverage", "estimate"] < 0.9


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
    found = combining.intervals(estimates, "T_f")
    assert found["negative"].tolist() == [True, False]
    assert found["lower"].isna().tolist() == [True, False]


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
    table = combining.coverage_table(study(setting, n_syn, synthesis, known_variance=True))
    for rule in RULES:
        exact = combining.exact_performance(setting, n_syn, synthesis, rule)
        found = table[table["rule"] == rule].set_index("measure")["estimate"]
        for measure, p in (("coverage", exact.coverage), ("negative", exact.negative)):
            assert abs(found[measure] - p) <= Z * math.sqrt(p * (1 - p) / REPETITIONS)
        mcse = table[(table["rule"] == rule) & (table["measure"] == "variance_ratio")]["mcse"].item()
        assert abs(found["variance_ratio"] - exact.expected / exact.variance) < Z * mcse
        assert abs(found["bias"]) < Z * math.sqrt(exact.variance / REPETITIONS)


@pytest.mark.parametrize(("synthesis", "rule"), [("plugin", "T_s"), ("bayes", "T_PPD"), ("bayes", "T_f")])
@pytest.mark.parametrize(("m", "n_syn"), [(2, 30), (5, 100), (50, 1000)])
def test_each_rule_is_unbiased_for_the_synthesis_it_was_made_for(synthesis, rule, m, n_syn):
    exact = combining.exact_performance(Setting(100, 4.0, variance=2.5, m=m), n_syn, synthesis, rule)
    assert exact.expected == pytest.approx(exact.variance, rel=1e-12)
    if rule != "T_f":
        assert exact.coverage == pytest.approx(0.95, abs=1e-9)


@pytest.mark.parametrize(("m", "n_syn"), [(5, 1000), (5, 15625), (20, 100)])
def test_t_f_fails_half_the_time_where_the_synthesis_has_no_draw_for_each_set(m, n_syn):
    """The chance of a negative T_f is that of a chi-square, and the coverage cannot exceed the share with an interval."""
    for synthesis, ratio in (("bayes", 1 + n_syn / 1000), ("plugin", 1.0), ("bayes_one_step", 1.001)):
        exact = combining.exact_performance(Setting(1000, 4.0, m=m), n_syn, synthesis, "T_f")
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
    known, estimated = (
        combining.coverage_table(study(setting, 100, "plugin", known_variance=known)).set_index(["rule", "measure"])
        for known in (True, False)
    )
    for key in (("T_s", "coverage"), ("T_s", "width"), ("T_PPD", "width")):
        assert estimated.loc[key, "estimate"] == pytest.approx(known.loc[key, "estimate"], rel=0.02)


def test_no_number_depends_on_how_replicates_are_grouped():
    setting = Setting(50, 4.0, m=3)
    whole = study(setting, 40, "bayes", repetitions=5)
    parts = [study(setting, 40, "bayes", repetitions=2), study(setting, 40, "bayes", repetitions=3, start=2)]
    joined = pd.concat(parts).sort_values("rule", kind="stable").drop(columns="replicate").reset_index(drop=True)
    expected = whole.sort_values("rule", kind="stable").drop(columns="replicate").reset_index(drop=True)
    pd.testing.assert_frame_equal(joined, expected)


def test_monte_carlo_errors_are_the_spread_of_the_estimates():
    """300 studies of 100 replicates: their spread against the errors they state, within the noise of a variance of 300.

    A tenth more is allowed for the error of a share, which is a little too large on purpose.
    """
    setting = Setting(FREE.n, FREE.d, m=5)
    tables = [combining.coverage_table(study(setting, 100, "bayes", 100, start=100 * k)).assign(study=k) for k in range(300)]
    everything = pd.concat(tables)
    for rule, measures in {"T_f": ("bias", "coverage", "negative", "variance_ratio"), "T_PPD": ("coverage", "width")}.items():
        for measure in measures:
            one = everything[(everything["rule"] == rule) & (everything["measure"] == measure)]
            ratio = one["estimate"].std() / one["mcse"].mean()
            assert abs(ratio - 1) < Z / math.sqrt(2 * 299) + 0.1, (rule, measure)


def test_table_counts_replicates_without_an_interval_as_missed():
    rows = study(Setting(FREE.n, FREE.d, m=2), 10, "plugin", repetitions=500, rules=["T_f"])
    table = combining.coverage_table(rows).set_index("measure")
    assert table.loc["coverage", "estimate"] == rows["covered"].sum() / 500
    assert table.loc["coverage_defined", "replicates"] == 500 - rows["negative"].sum()
    assert table.loc["coverage_defined", "estimate"] > table.loc["coverage", "estimate"]
    assert (table["mcse"] > 0).all()


# Figure 1 ------------------------------------------------------------------------------------------------------------


def test_figure_1_synthetic_means_are_the_gaussian_mechanism():
    """Error rate 1 in 100,000 for each of the four checks; a synthesizer with half the records would not pass one."""
    setting, rho = Setting(1000, 4.0), 0.5
    exact = combining.exact_means(setting, rho).set_index("source")
    assert exact.loc["synthetic", "records"] == 15625
    assert exact.loc["synthetic", "sd"] == pytest.approx(0.008, rel=1e-12)
    assert exact.loc["synthetic", "sd"] == pytest.approx(exact.loc["gaussian_mechanism", "sd"], rel=1e-12)
    found = {
        source: combining.simulated_means(setting, rho, source, generators(9 + k, 1500))["value"].to_numpy()
        for k, source in enumerate(("synthetic", "gaussian_mechanism"))
    }
    assert stats.ks_2samp(found["synthetic"], found["gaussian_mechanism"]).pvalue > P
    for source, values in found.items():
        law = stats.norm(exact.loc[source, "mean"], exact.loc[source, "sd"])
        assert stats.kstest(values, law.cdf).pvalue > P
        assert abs(values.var() / law.var() - 1) < Z * math.sqrt(2 / len(values))
        assert stats.kstest(values, stats.norm(0, law.std() * math.sqrt(2)).cdf).pvalue < P


def test_figure_1_spreads_the_records_over_the_sets():
    """Where n_syn is not whole the sets have fewer records than rho allows, never more."""
    exact = combining.exact_means(Setting(1000, 4.0, m=3), 0.5, mean=0.2).set_index("source")
    assert exact.loc["synthetic", "records"] == 3 * 5208
    assert exact.loc["synthetic_sets", "records"] == 15 * 1041
    assert exact.loc["synthetic", "sd"] > exact.loc["gaussian_mechanism", "sd"]
    assert (exact["mean"] == 0.2).all()


@pytest.mark.parametrize("source", combining.SOURCES)
def test_simulated_losses_average_to_rho_and_means_have_their_exact_law(source):
    """The loss of a Gaussian mechanism is normal with mean rho and variance 2 rho."""
    setting, rho = Setting(50, 4.0, variance=1.7, m=2), 0.4
    found = combining.simulated_means(setting, rho, source, generators(11, 3000), 0.3)
    n_syn, sets = int(found["records"].iloc[0]), combining.SOURCES[source].sets * 2
    spread = Setting(50, 4.0, variance=1.7, m=sets)
    expected = {
        "synthetic": gaussian.rho_plugin, "synthetic_sets": gaussian.rho_plugin, "bayes_synthetic": gaussian.rho_bayes_joint,
        "bayes_synthetic_sets": gaussian.rho_bayes_joint, "bayes_synthetic_one_step": gaussian.rho_bayes_per_record,
        "posterior_draw": lambda *_: gaussian.rho_postprocessing(Setting(50, 4.0, variance=1.7)),
        "gaussian_mechanism": lambda *_: rho,
    }[source](spread, n_syn / sets)  # fmt: skip
    loss, law = found["loss"], combining.exact_means(setting, rho, [source], 0.3).iloc[0]
    assert stats.kstest(loss, stats.norm(expected, math.sqrt(2 * expected)).cdf).pvalue > P
    assert stats.kstest(found["value"], stats.norm(law["mean"], law["sd"]).cdf).pvalue > P


def test_the_loss_of_two_records_is_the_ratio_of_their_joint_densities():
    setting, records = Setting(5, 3.0, variance=0.8), np.array([[0.4, -1.1]])
    shared = 0.8 * (np.eye(2) + np.full((2, 2), 1 / 5))
    for synthesis, covariance in (
        ("plugin", 0.8 * np.eye(2)), ("bayes", shared), ("bayes_one_step", 0.8 * 1.2 * np.eye(2)),
    ):  # fmt: skip
        p, q = (stats.multivariate_normal([mean] * 2, covariance).logpdf(records[0]) for mean in (0.1, 1.3))
        assert combining.privacy_loss(records, setting, synthesis, 0.1, 1.3) == pytest.approx(p - q)
