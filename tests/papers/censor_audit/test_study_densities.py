"""The exact densities of Figure 1, against scipy's densities summed record by record."""

import numpy as np
import pytest
from papers.studies import arm, key_of, run
from scipy.stats import beta

from formalsynth.core.streams import Address
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.show.tidy import figure_table

KEY = key_of("densities")
N = KEY.n


@pytest.fixture(scope="module")
def outcome():
    return run("densities", arms=[arm("prior"), arm("posterior", "plain"), arm("censored", "censored", epsilon=1.6)])


def curve_of(outcome, id, name):
    details = outcome.details
    return details[(details["synthesizer"] == id) & (details["column"] == f"{name}_mean")]


PLACES = [60, 80, 100, 120, 140]
"""Points of a curve that are compared, relative to the third."""


@pytest.mark.parametrize("name", ["phi", "beta2"])
@pytest.mark.parametrize(("id", "threshold"), [("plain", np.inf), ("censored", 0.8)])
def test_a_density_is_that_of_a_direct_computation(outcome, id, threshold, name):
    """Given phi, the prior of log lambda is exponential; given beta2, that of beta1 is a Pareto density of the sum."""
    curve, shape = curve_of(outcome, id, name), BetaFamily().priors["lambda_shape"]
    x = Address.of(KEY, 0).generator("data").beta(0.5, 2, N)
    log_precision, first = np.linspace(np.log(0.5), np.log(20), 3001), np.linspace(0.2, 2, 3001)
    masses = []
    for value in curve["x"].to_numpy()[PLACES]:
        if name == "phi":
            shapes, prior = (np.exp(log_precision) * value, np.exp(log_precision) * (1 - value)), -shape * log_precision
        else:
            shapes, prior = (first, value), -(shape + 2) * np.log(first + value)
        terms = beta.logpdf(x[:, None], *shapes)
        masses.append(np.exp(np.clip(terms, -threshold, threshold).sum(axis=0) + prior - N).sum())
    ours = curve["density"].to_numpy()[PLACES]
    np.testing.assert_allclose(ours / ours[2], np.array(masses) / masses[2], rtol=1e-3)


@pytest.mark.parametrize("name", ["phi", "beta2"])
def test_densities_have_the_area_1_and_the_moments_of_the_rows(outcome, name):
    rows = outcome.rows.set_index("synthesizer")
    for id, row in rows.iterrows():
        curve = curve_of(outcome, id, name)
        x, density = curve["x"].to_numpy(), curve["density"].to_numpy()
        if (id, name) == ("prior", "beta2"):  # the curve leaves out a tail, which has an infinite variance
            tail = 0.4 * 0.1**1.5 * x[-1] ** -1.5
            assert np.trapezoid(density, x) == pytest.approx(1 - tail, abs=0.01)
            continue
        mean = np.trapezoid(x * density, x)
        assert np.trapezoid(density, x) == pytest.approx(1)
        assert mean == pytest.approx(row[f"{name}_mean"], abs=1e-9)
        assert np.sqrt(np.trapezoid((x - mean) ** 2 * density, x)) == pytest.approx(row[f"{name}_sd"], rel=1e-4)
    sds = rows[f"{name}_sd"]
    assert sds["plain"] < sds["censored"] < sds["prior"]


def test_the_density_of_beta2_under_the_prior_is_that_of_draws(outcome):
    generator, priors = np.random.default_rng(5), BetaFamily().priors
    precision = priors["lambda_min"] * (1 + generator.pareto(priors["lambda_shape"], 1_000_000))
    drawn = precision * generator.random(1_000_000)
    curve = curve_of(outcome, "prior", "beta2")
    between = curve[(curve["x"] >= 0.2) & (curve["x"] <= 1)]
    share = ((drawn > 0.2) & (drawn < 1)).mean()
    assert np.trapezoid(between["density"], between["x"]) == pytest.approx(share, abs=0.005)


def test_the_posterior_is_near_the_moments_of_the_sample(outcome):
    x, plain = Address.of(KEY, 0).generator("data").beta(0.5, 2, N), outcome.rows.set_index("synthesizer").loc["plain"]
    assert plain["phi_mean"] == pytest.approx(x.mean(), abs=0.03)
    assert plain["beta2_mean"] == pytest.approx(2, abs=0.8)
    assert outcome.rows.set_index("synthesizer").loc["prior", "beta2_mean"] == pytest.approx(0.15)


def test_each_part_of_figure_1_has_the_curves_of_its_own_column(outcome, plan_of):
    """Without the column, both parts would show the curves of both parameters."""
    names = {"prior": "exact_prior", "plain": "exact_posterior", "censored": "exact_censored_1.6"}
    rows, details = (table.assign(synthesizer=table["synthesizer"].map(names)) for table in (outcome.rows, outcome.details))
    tidy = figure_table(plan_of("censor").papers["censor"].figure("1", "paper"), [rows, details])
    for part, column in (("a", "beta2_mean"), ("b", "phi_mean")):
        drawn = tidy.loc[(tidy["part"] == part) & tidy["x"].notna(), "x"]
        assert drawn.tolist() == details.loc[details["column"] == column, "x"].tolist()
