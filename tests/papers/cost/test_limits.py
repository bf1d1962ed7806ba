"""Study of limits: error factors against those of the module that computes them, and against a simulation."""

import math

import numpy as np
import pytest
from papers.studies import arm, run

from formalsynth.core.family import FAMILIES
from formalsynth.core.private import Bins
from formalsynth.core.tables import tabled
from formalsynth.inference.density import Guess
from formalsynth.inference.expected_errors import error_factor
from formalsynth.inference.tables_model import TablesModel
from formalsynth_workflow.papers.cost.study_limits import CASES


def rows(parameters, epsilons, replicates=(0,)):
    arms = [arm("tables", f"limit_{epsilon:g}", parameters=parameters, epsilon=epsilon) for epsilon in epsilons]
    return run("limits", replicates, arms).rows


def test_a_row_is_the_error_to_expect_over_that_without_privacy():
    table = rows(3, [0.5, 1], replicates=(0, 1)).set_index(["replicate", "synthesizer"])["factor"]
    declared = tabled(FAMILIES["lognormal_regression"])
    bins = Bins(math.exp(-1), math.exp(7), 8, True), Bins(0, 4, 8)
    guess = Guess((1.0, 1.0), 1.0, 2.0, 1.0)
    model, priors = TablesModel(declared), FAMILIES["lognormal_regression"].priors
    for epsilon in (0.5, 1):
        expected = error_factor(model, priors, bins, guess, 2000, epsilon)
        assert table[(0, f"limit_{epsilon:g}")] == table[(1, f"limit_{epsilon:g}")] == pytest.approx(expected, rel=1e-12)


def test_factors_are_those_of_the_page_on_intervals():
    """Printed to two digits there."""
    assert [round(CASES[2].factor(2000, epsilon), 2) for epsilon in (0.1, 0.5, 1, 5)] == [2.15, 1.15, 1.08, 1.05]
    assert [round(CASES[3].factor(2000, epsilon), 2) for epsilon in (0.1, 0.5, 1, 5)] == [3.29, 1.33, 1.17, 1.10]


@pytest.mark.parametrize("parameters", CASES)
def test_less_epsilon_and_fewer_records_cost_more(parameters):
    factors = np.array([[CASES[parameters].factor(n, epsilon) for epsilon in (0.1, 1, 5)] for n in (250, 2000, 25_600)])
    assert (np.diff(factors, axis=0) < 1e-9).all() and (np.diff(factors, axis=1) < 1e-9).all()
    assert factors.min() >= 1


def test_factors_depend_on_n_epsilon_squared():
    """A page gives the limits as values of n times the square of epsilon."""
    for case in CASES.values():
        assert case.factor(10_000, 0.2) == pytest.approx(case.factor(400, 1), rel=0.03)


def test_several_predictors_share_epsilon_and_are_residuals_of_each_other():
    """With 3 predictors there are 6 tables; 2.6 and 3.7 were measured (n = 3000, epsilon 1 and 0.5), below these."""
    assert CASES[5].predictors == 3 and CASES[8].predictors == 6
    alone, bins = CASES[3], CASES[5].bins
    assert bins == alone.bins
    assert CASES[5].factor(2500, 1) > alone.factor(2500, 1 / 6)
    assert 2.4 < CASES[5].factor(3000, 1) < 3.9 and 3.7 < CASES[5].factor(3000, 0.5) < 5.6


def test_another_number_of_parameters_is_refused():
    with pytest.raises(ValueError, match="limits of 4 parameters; allowed: 1, 2, 3, 5, 8"):
        rows(4, [1])
