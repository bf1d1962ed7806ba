"""Records around a predictor with Student t errors: their moments and quantiles, and what is known of them exactly."""

import numpy as np
import pytest
from scipy import stats

from formalsynth.core.population import POPULATIONS
from formalsynth.core.utility import UTILITY

POPULATIONS.find()
POPULATION = POPULATIONS["student_t_regression"]
SETTINGS = {"predictor_mean": 2.0, "predictor_sd": 0.5, "intercept": -1.0, "slope": 1.5, "df": 9.0, "scale": 0.4}
N = 100_000
# Each Monte Carlo comparison below is at this many standard errors; about twenty comparisons, two-sided:
# 20 * 2 * P(Z > 5.5) < 1e-6.
BAND = 5.5


def drawn(seed=1, n=N, **changes):
    return POPULATION.draw(np.random.default_rng(seed), n, SETTINGS | changes)


def errors_of(records, scale=0.4):
    """The errors in units of their scale."""
    return (records.x + 1.0 - 1.5 * records.design[:, 1]) / scale


def test_predictor_and_outcome_have_their_moments():
    records = drawn()
    assert records.design.shape == (N, 2)
    assert (records.design[:, 0] == 1).all()
    z, sd = records.design[:, 1], np.sqrt(1.5**2 * 0.5**2 + 0.4**2 * 9 / 7)
    assert abs(z.mean() - 2) < BAND * 0.5 / np.sqrt(N)
    assert abs(z.std() - 0.5) < BAND * 0.5 / np.sqrt(2 * N)
    assert abs(records.x.mean() - 2.0) < BAND * sd / np.sqrt(N)
    # The standard error of a standard deviation, for a kurtosis of up to 5.
    assert abs(records.x.std() - sd) < BAND * sd / np.sqrt(N)
    assert abs(np.corrcoef(z, errors_of(records))[0, 1]) < BAND / np.sqrt(N)


@pytest.mark.parametrize("df", [1.0, 2.5, 9.0, 200.0])
def test_errors_have_the_distribution_function_of_student(df):
    errors = errors_of(drawn(df=df))
    for level in (0.01, 0.25, 0.5, 0.9, 0.999):
        share = (errors <= stats.t(df).ppf(level)).mean()
        assert abs(share - level) < BAND * np.sqrt(level * (1 - level) / N)


def test_exponentiated_records_are_the_exponentials_of_the_others():
    plain, exponentiated = drawn(), drawn(exponentiated=True)
    assert (exponentiated.design == plain.design).all()
    np.testing.assert_allclose(np.log(exponentiated.x), plain.x, atol=1e-12)
    assert (exponentiated.x > 0).all()


@pytest.mark.parametrize("changes", [{}, {"df": 1.0}, {"exponentiated": True}, {"exponentiated": True, "df": 2.0}])
def test_what_is_known_exactly_is_what_is_drawn(changes):
    truth = POPULATION.truth(**SETTINGS | changes)
    assert set(truth) <= set(UTILITY)
    x = drawn(**changes).x
    assert abs((x <= truth["median"]).mean() - 0.5) < BAND * 0.5 / np.sqrt(N)
    assert ("mean" in truth) is (not changes)
    if "mean" in truth:
        assert abs(x.mean() - truth["mean"]) < BAND * x.std() / np.sqrt(N)


def test_without_predictor_and_errors_every_record_is_the_centre():
    assert (drawn(n=5, predictor_sd=0, scale=0).x == 2.0).all()


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [({"df": 0}, "df"), ({"scale": -1}, "scale"), ({"slope": np.inf}, "slope"), ({"exponentiated": 1}, "exponentiated")],
)
def test_parameters_of_no_distribution_are_refused(changes, wrong):
    with pytest.raises(ValueError, match=rf"student_t_regression_parameters\n{wrong}\n"):
        POPULATION.parameters(**SETTINGS | changes)
