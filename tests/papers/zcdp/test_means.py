"""Means of Figure 1 against their exact distributions, and their privacy losses against joint densities."""

import math

import numpy as np
import pytest
from papers.zcdp.exact import P, Z, generators
from scipy import stats

from formalsynth_workflow.papers.zcdp import accounting, means
from formalsynth_workflow.papers.zcdp.accounting import Setting


def test_figure_1_synthetic_means_are_the_gaussian_mechanism():
    """Error rate 1 in 100,000 for each of the four checks; a synthesizer with half the records would not pass one."""
    setting, rho = Setting(1000, 4.0), 0.5
    exact = means.exact_means(setting, rho).set_index("source")
    assert exact.loc["synthetic", "records"] == 15625
    assert exact.loc["synthetic", "sd"] == pytest.approx(0.008, rel=1e-12)
    assert exact.loc["synthetic", "sd"] == pytest.approx(exact.loc["gaussian_mechanism", "sd"], rel=1e-12)
    result = {
        source: means.simulated_means(setting, rho, source, generators(9 + k, 1500))["value"].to_numpy()
        for k, source in enumerate(("synthetic", "gaussian_mechanism"))
    }
    assert stats.ks_2samp(result["synthetic"], result["gaussian_mechanism"]).pvalue > P
    for source, values in result.items():
        law = stats.norm(exact.loc[source, "mean"], exact.loc[source, "sd"])
        assert stats.kstest(values, law.cdf).pvalue > P
        assert abs(values.var() / law.var() - 1) < Z * math.sqrt(2 / len(values))
        assert stats.kstest(values, stats.norm(0, law.std() * math.sqrt(2)).cdf).pvalue < P


def test_figure_1_spreads_the_records_over_the_sets():
    """Where n_syn is not whole the sets have fewer records than rho allows, never more."""
    exact = means.exact_means(Setting(1000, 4.0, m=3), 0.5, mean=0.2).set_index("source")
    assert exact.loc["synthetic", "records"] == 3 * 5208
    assert exact.loc["synthetic_sets", "records"] == 15 * 1041
    assert exact.loc["synthetic", "sd"] > exact.loc["gaussian_mechanism", "sd"]
    assert (exact["mean"] == 0.2).all()


@pytest.mark.parametrize("source", means.SOURCES)
def test_simulated_losses_average_to_rho_and_means_have_their_exact_law(source):
    """The loss of a Gaussian mechanism is normal with mean rho and variance 2 rho."""
    setting, rho = Setting(50, 4.0, variance=1.7, m=2), 0.4
    result = means.simulated_means(setting, rho, source, generators(11, 3000), 0.3)
    n_syn, sets = int(result["records"].iloc[0]), means.SOURCES[source].sets * 2
    spread = Setting(50, 4.0, variance=1.7, m=sets)
    expected = {
        "synthetic": accounting.rho_plugin,
        "synthetic_sets": accounting.rho_plugin,
        "bayes_synthetic": accounting.rho_bayes_joint,
        "bayes_synthetic_sets": accounting.rho_bayes_joint,
        "bayes_synthetic_one_step": accounting.rho_bayes_per_record,
        "posterior_draw": lambda *_: accounting.rho_postprocessing(Setting(50, 4.0, variance=1.7)),
        "gaussian_mechanism": lambda *_: rho,
    }[source](spread, n_syn / sets)
    loss, law = result["loss"], means.exact_means(setting, rho, [source], 0.3).iloc[0]
    assert stats.kstest(loss, stats.norm(expected, math.sqrt(2 * expected)).cdf).pvalue > P
    assert stats.kstest(result["value"], stats.norm(law["mean"], law["sd"]).cdf).pvalue > P


def test_the_loss_of_two_records_is_the_ratio_of_their_joint_densities():
    setting, records = Setting(5, 3.0, variance=0.8), np.array([[0.4, -1.1]])
    shared = 0.8 * (np.eye(2) + np.full((2, 2), 1 / 5))
    for synthesis, covariance in (
        ("plugin", 0.8 * np.eye(2)), ("bayes", shared), ("bayes_one_step", 0.8 * 1.2 * np.eye(2)),
    ):  # fmt: skip
        p, q = (stats.multivariate_normal([mean] * 2, covariance).logpdf(records[0]) for mean in (0.1, 1.3))
        assert means.privacy_loss(records, setting, synthesis, 0.1, 1.3) == pytest.approx(p - q)


def test_the_variance_of_synthetic_records_is_that_of_their_gamma_distribution():
    """Also over several data sets: plug-in records are independent."""
    setting = Setting(200, 4.0, variance=1.7)
    result = means.simulated_means(setting, 0.01, "synthetic_sets", generators(31, 2000))
    count = int(result["records"].iloc[0])
    law = stats.gamma((count - 1) / 2, scale=1.7 / ((count - 1) / 2))
    assert stats.kstest(result["synthetic_variance"], law.cdf).pvalue > P
    noise = means.simulated_means(setting, 0.01, "gaussian_mechanism", generators(31, 3))
    assert noise["synthetic_variance"].isna().all()
