"""Populations: what they draw, and what is known of them exactly."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from formalsynth.core.data_files import load_counts
from formalsynth.core.population import POPULATIONS
from formalsynth.data.populations.counts import negative_binomial_mixture, negative_binomial_regression
from formalsynth.data.populations.lognormal import lognormal_on_normal
from formalsynth.data.populations.salaries import published_salaries, without_replacement

POPULATIONS.find()
MIXTURE = {"share": 0.2, "mu1": 100, "phi1": 5, "mu2": 100, "phi2": 20}
# Each Monte Carlo comparison below is at this many standard errors; about ten comparisons, two-sided:
# 10 * 2 * P(Z > 5.5) < 1e-6.
BAND = 5.5


def check_moments(values, mean, sd, effective, what):
    assert abs(values.mean() - mean) < BAND * sd / np.sqrt(effective), what
    # The standard error of a standard deviation, for a kurtosis of up to 9.
    assert abs(values.std() - sd) < BAND * sd * np.sqrt(2 / effective), what


PRINTED = {"q15": (70.0, 75.0), "median": (96.0, 101.0), "mean": (98.8, 102.3), "q90": (132.0, 140.0)}
"""Intervals for the confidential data (reweight paper, Table 1)."""


def mixture_cdf(x):
    return sum(share * stats.nbinom(phi, phi / (phi + 100)).cdf(x) for share, phi in ((0.2, 5), (0.8, 20)))


def test_mixture_has_the_printed_quantiles():
    """Its exact quantiles are in the printed intervals; with phi of 5 in both parts, as the supplement prints, they are not."""
    for level, name in ((0.15, "q15"), (0.5, "median"), (0.9, "q90")):
        exact = optimize.brentq(lambda x, level=level: mixture_cdf(x) - level, 0, 500)
        assert PRINTED[name][0] <= np.ceil(exact) <= PRINTED[name][1]
    assert not PRINTED["q90"][0] <= stats.nbinom(5, 5 / 105).ppf(0.9) <= PRINTED["q90"][1]
    assert not PRINTED["q15"][0] <= stats.nbinom(5, 5 / 105).ppf(0.15) <= PRINTED["q15"][1]


def test_mixture_draws_follow_the_mixture():
    x = negative_binomial_mixture(np.random.default_rng(8), 50_000, **MIXTURE).x
    check_moments(x, 100, np.sqrt(100 + 1e4 * (0.2 / 5 + 0.8 / 20)), 50_000, "mixture")
    for at in (40, 72, 98, 135, 200):
        exact = mixture_cdf(at)
        assert abs((x <= at).mean() - exact) < BAND * np.sqrt(exact * (1 - exact) / 50_000)


def test_counts_given_predictors_have_their_means_and_variances():
    records = negative_binomial_regression(np.random.default_rng(3), 100_000, mu=100, phi=20, slope1=0.3, slope2=0.2)
    for first, second in ((0, -1), (1, 0.5)):
        x = records.x[(records.design[:, 1] == first) & (records.design[:, 2] == second)]
        mean = 100 * np.exp(0.3 * first + 0.2 * second)
        check_moments(x, mean, np.sqrt(mean + mean**2 / 20), len(x), "given predictors")


def test_ranges_of_records_contain_all_but_the_declared_share_and_change_no_outcome():
    settings = {"predictor_mean": 2.0, "predictor_sd": 1.0, "intercept": 1.0, "sigma": 1.0}
    records = lognormal_on_normal(np.random.default_rng(5), 50_000, **settings, width=0.5, outside=0.05)
    low, high = records.inputs["low"], records.inputs["high"]
    assert np.log(high / low) == pytest.approx(1.0)
    within = (low <= records.x) & (records.x <= high)
    assert abs(within.mean() - 0.95) < BAND * np.sqrt(0.05 * 0.95 / 50_000)
    np.testing.assert_array_equal(records.x, lognormal_on_normal(np.random.default_rng(5), 50_000, **settings).x)


def test_whole_table_comes_back_and_nothing_beyond_it():
    values, number = np.array([0.0, 5, 7]), np.array([3, 0, 4])
    drawn = without_replacement(np.random.default_rng(0), 7, values, number)
    assert sorted(drawn) == [0, 0, 0, 7, 7, 7, 7]
    with pytest.raises(ValueError, match="without replacement"):
        without_replacement(np.random.default_rng(0), 8, values, number)


def test_draws_without_replacement_are_hypergeometric():
    generator, size = np.random.default_rng(1), 4000
    drawn = np.array([without_replacement(generator, 6, np.array([0.0, 1]), np.array([5, 7])).sum() for _ in range(size)])
    law = stats.hypergeom(12, 7, 6)
    check_moments(drawn, law.mean(), law.std(), size, "hypergeometric")
    # The first record of a set is as likely as any other to be a 1: the order tells nothing.
    first = np.array([without_replacement(generator, 6, np.array([0.0, 1]), np.array([5, 7]))[0] for _ in range(size)])
    assert abs(first.mean() - 7 / 12) < BAND * np.sqrt(7 / 12 * 5 / 12 / size)


def test_published_salaries_in_thousands():
    counts = load_counts("sdr2017_margins", "resources")
    values, number = counts["SALARYP"]
    assert number.sum() == 74_429
    x = published_salaries(np.random.default_rng(2), 1000, unit=1000, counts=counts).x
    assert (x == np.floor(x)).all()
    assert x.min() >= 0
    assert x.max() <= 509
    population = np.repeat(values / 1000, number)
    assert abs(x.mean() - population.mean()) < BAND * population.std() / np.sqrt(1000)
    with pytest.raises(ValueError, match="multiples"):
        published_salaries(np.random.default_rng(2), 10, unit=3000, counts=counts)


@pytest.mark.parametrize(("shape1", "shape2"), [(0.5, 3), (2, 0.7), (4.0, 4.0)])
def test_the_statistics_of_a_beta_population_are_exact(shape1, shape2):
    """Quadrature of the density."""
    truth = POPULATIONS["beta"].truth(shape1=shape1, shape2=shape2)
    law = stats.beta(shape1, shape2)
    assert set(truth) == {"mean", "median", "q15", "q90"}
    assert truth["mean"] == pytest.approx(shape1 / (shape1 + shape2), rel=1e-12)
    for name, level in (("median", 0.5), ("q15", 0.15), ("q90", 0.9)):
        assert integrate.quad(law.pdf, 0, truth[name])[0] == pytest.approx(level, rel=1e-6)


def test_config_names_a_table_of_counts_and_the_function_gets_its_contents():
    population = POPULATIONS["published_salaries"]
    assert population.parameters(unit=1000, counts="sdr2017_margins").counts == "sdr2017_margins"
    with pytest.raises(ValueError, match="counts"):
        population.parameters(unit=1000, counts=3)
    counts = {"SALARYP": (np.array([0.0, 2000]), np.array([3, 4]))}
    drawn = population.draw(np.random.default_rng(0), 7, {"unit": 1000, "counts": counts})
    assert sorted(drawn.x) == [0, 0, 0, 2, 2, 2, 2]
    assert (drawn.design == 1).all()


def test_areas_differ_as_much_as_declared():
    """Logarithms: 400 area means of spread 0.4, and records of spread 0.6 around them; each area has a record."""
    drawn = POPULATIONS["lognormal_areas"].draw(
        np.random.default_rng(6), 8000, {"areas": 400, "median": 60_000, "between": 0.4, "within": 0.6}
    )
    area = drawn.design.argmax(axis=1)
    assert (drawn.design.sum(axis=1) == 1).all()
    size = np.bincount(area, minlength=400)
    assert size.min() >= 1
    y = np.log(drawn.x / 60_000)
    means = np.bincount(area, y) / size
    within = ((y - means[area]) ** 2).sum() / (len(y) - 400)
    assert np.sqrt(within) == pytest.approx(0.6, abs=0.03)
    # expected squares: 0.16 and the sampling variance of each mean; 5.5 standard errors of their average are below 0.07
    assert (means**2 - 0.36 / size).mean() == pytest.approx(0.16, abs=0.07)
    with pytest.raises(ValueError, match="at least one in each"):
        POPULATIONS["lognormal_areas"].draw(np.random.default_rng(6), 3, {"areas": 4, "median": 1, "between": 0.4, "within": 0.6})


def test_incomes_have_zeros_two_modes_and_a_heavy_tail():
    """Shares of four parts; 5.5 standard errors of a share are below 0.02 at n = 20,000."""
    x = POPULATIONS["incomes"].draw(np.random.default_rng(4), 20_000, {}).x
    assert (x == 1).mean() == pytest.approx(0.1, abs=0.02)
    low, upper = stats.norm(8.5, 0.3), stats.norm(9.9, 0.45)
    for end in (8.5, 9.2, 9.9):
        expected = 0.1 + 0.25 * low.cdf(end) + 0.63 * upper.cdf(end)
        assert (np.log(x) < end).mean() == pytest.approx(expected, abs=0.02)
    # the Pareto tail of index 1.5 above 500,000, ten times its smallest value: 0.02 * 10^-1.5
    assert (x > 500_000).mean() == pytest.approx(0.02 * 10**-1.5, abs=0.0012)
    assert POPULATIONS["incomes"].draw(np.random.default_rng(4), 500, {"zeros": 1, "low": 0, "tail": 0}).x.tolist() == [1] * 500
    with pytest.raises(ValueError, match="sum to more than 1"):
        POPULATIONS["incomes"].draw(np.random.default_rng(4), 5, {"zeros": 0.8, "low": 0.3})
