"""Studies of fitted normal models: exact losses, several variables, and intervals for other quantities than the mean."""

import math

import numpy as np
import pytest
from papers.studies import arm, arms_of, run
from papers.zcdp.exact import P, Z
from scipy import stats

from formalsynth.audit.normal_release import FittedNormal
from formalsynth_workflow.papers.zcdp import study_losses, study_quantities


@pytest.fixture(scope="module")
def exact():
    details = run("exact").details
    columns = {"n_syn": "epsilon", "epsilon": "n_syn"}
    return {
        given: details[details["given"] == given].pivot(index="synthesizer", columns=given, values=other)
        for given, other in columns.items()
    }


def test_exact_joint_loss_is_above_that_of_the_mean_and_below_the_composed_bounds(exact):
    epsilon = exact["n_syn"]
    assert list(epsilon.columns) == [10, 1000]
    for order in (["known", "centre", "centre_several"], ["centre", "floor", "curve"]):
        assert (epsilon.loc[order].diff().dropna() > 0).all(axis=None)


def test_unknown_variance_is_what_the_other_study_composes(exact):
    details = run("unknown", low=10, high=1000, points=2).details
    total = details[details["part"] == "total"].pivot(index="form", columns="n_syn", values="epsilon")
    for form in ("printed", "curve"):
        np.testing.assert_allclose(exact["n_syn"].loc[form], total.loc[form], rtol=1e-9)


def test_allowed_records_are_the_inverse_of_epsilon(exact):
    records = exact["epsilon"]
    assert list(records.columns) == [0.5]
    fitted = FittedNormal.with_added_variance(1000, 4, 4)
    count, known = records.loc["added_4", 0.5], records.loc["known", 0.5]
    assert fitted.epsilon(count, 1e-5) <= 0.5 < fitted.epsilon(count + 1, 1e-5)
    mu = 0.008 * np.sqrt([known, known + 1])
    delta = stats.norm.cdf(mu / 2 - 0.5 / mu) - math.exp(0.5) * stats.norm.cdf(-mu / 2 - 0.5 / mu)
    assert delta[0] <= 1e-5 < delta[1]


def test_correlation_costs_a_box_and_not_a_ball():
    """Two variables with correlation r: squared sensitivity ``8 d^2 / (n^2 (1 - r))`` of a box, ``4 d^2 / n^2`` of a ball."""
    rows = run("several").rows.set_index("synthesizer")
    for r in (0, 0.9):
        assert rows.loc[f"box_plugin_{r:g}", "sensitivity"] ** 2 == pytest.approx(8 * 16 / 1000**2 / (1 - r))
        assert rows.loc[f"ball_plugin_{r:g}", "n_syn"] == math.floor(0.06 / 0.008**2)
        assert rows.loc[f"ball_bayes_{r:g}", "n_syn"] == 15_000
        assert rows.loc[f"ball_bayes_{r:g}", "ceiling"] == pytest.approx(0.032)


def test_simulated_releases_have_the_exact_delta():
    """Nine releases: the simulation fits both data sets and computes the densities of all records."""
    rows = run("losses", range(400)).rows.groupby("synthesizer")
    gap, error = rows["gap"].mean(), rows["gap"].std() / math.sqrt(400)
    assert len(gap) == 9
    assert (gap.abs() < Z * error).all()
    assert rows["exact"].mean().between(0.05, 0.95).all()


def test_a_simulated_loss_is_the_log_ratio_of_the_densities_of_whole_data_sets():
    release = study_losses.RELEASES["bayes_several"]
    data, neighbour = study_losses.neighbours(release, 20)
    loss = study_losses.simulated_loss(release, data, neighbour, 4, np.random.default_rng(8))
    generator, covariance = np.random.default_rng(8), 0.4 * np.eye(3) + 0.6
    records = generator.multivariate_normal(data.mean(axis=0), covariance, 4, method="cholesky")
    records += generator.multivariate_normal(np.zeros(3), covariance / 20, method="cholesky")
    joint = np.kron(np.eye(4) + np.ones((4, 4)) / 20, covariance)
    densities = [stats.multivariate_normal(np.tile(x.mean(axis=0), 4), joint).logpdf(records.ravel()) for x in (data, neighbour)]
    assert loss == pytest.approx(densities[0] - densities[1])


def test_estimates_are_those_of_regression_and_correlation():
    records = study_quantities.confidential_data(np.random.default_rng(9), 80, False)
    q = study_quantities.estimates_of(records.mean(axis=0)[None], np.cov(records.T)[None], 80)
    line = stats.linregress(*records.T)
    assert [q["slope"][0][0], q["slope"][1][0]] == pytest.approx([line.slope, line.stderr**2])
    assert [q["mean"][0][0], q["mean"][1][0]] == pytest.approx([records[:, 1].mean(), stats.sem(records[:, 1]) ** 2])
    interval = stats.pearsonr(*records.T).confidence_interval(0.95)
    ends = q["correlation"][0][0] + 1.959964 * math.sqrt(q["correlation"][1][0]) * np.array([-1, 1])
    assert np.tanh(ends) == pytest.approx(list(interval))


@pytest.mark.parametrize("bayes", [False, True])
def test_moments_are_distributed_as_those_of_drawn_records(bayes):
    data = study_quantities.confidential_data(np.random.default_rng(10), 30, True)
    moments = study_quantities.synthetic_moments(np.random.default_rng(11), data, 4000, 25, bayes=bayes)
    rng, mean, covariance = np.random.default_rng(12), data.mean(axis=0), np.cov(data.T)
    direct = []
    for _ in range(1000):
        spread = stats.invwishart(29, 29 * covariance).rvs(random_state=rng) if bayes else covariance
        centre = rng.multivariate_normal(mean, spread / 30) if bayes else mean
        records = rng.multivariate_normal(centre, spread, 25)
        direct.append((*records.mean(axis=0), *np.cov(records.T).ravel()))
    for ours, theirs in zip(np.column_stack([moments[0], moments[1].reshape(-1, 4)]).T, np.transpose(direct), strict=True):
        assert stats.ks_2samp(ours, theirs).pvalue > P


def test_normality_is_needed_for_the_slope_and_not_for_the_mean():
    arms = [arm(f"bayes_t_ppd_{quantity}", m=5, n_syn=1000) for quantity in ("mean", "slope")]
    normal, wrong = (
        run("quantities", range(400), arms, heteroscedastic=h).rows.groupby("quantity")["covered"].mean() for h in (0, 1)
    )
    error = math.sqrt(0.95 * 0.05 / 400)
    assert abs(normal - 0.95).max() < Z * error and abs(wrong["mean"] - 0.95) < Z * error
    assert wrong["slope"] < 0.95 - 5 * error


def test_population_of_quantities_has_the_stated_values():
    for heteroscedastic in (False, True):
        x, y = study_quantities.confidential_data(np.random.default_rng(13), 200_000, heteroscedastic).T
        covariance = np.cov(x, y)
        assert covariance == pytest.approx(np.array([[1, 0.5], [0.5, 1]]), abs=0.03)


def test_rules_for_several_data_sets_are_left_out_for_one():
    arms = [arm(name, m=1, n_syn=100) for name in ("bayes_t_f_slope", "bayes_t_ppd_slope")]
    assert list(run("quantities", arms=arms).rows["synthesizer"]) == ["bayes_t_ppd_slope_1_100"]
    assert len(arms_of("quantities")) == 18
