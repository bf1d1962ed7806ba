"""Tests of the comparison of weight maps: what a record pays, and what its weight may depend on."""

import numpy as np
import pytest

from formalsynth.core.gaussian import gaussian_epsilon
from formalsynth.reps.learners.naive_bayes import NaiveBayesLearner
from formalsynth.reps.stages import Budget
from formalsynth_workflow.papers.reps.datasets import simulated
from formalsynth_workflow.papers.reps.prepare import prepare
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.tables import Split, split_table
from formalsynth_workflow.papers.reps.weighted import LEVELS, Arm, Experiment, record_epsilons

SETTINGS = ExperimentSettings(standardise="declared", resamples=100)
DELTA = 1e-3


@pytest.fixture(scope="module")
def split(streams) -> Split:
    return split_table(simulated(streams("source"), n=400), streams("split"))


@pytest.fixture(scope="module")
def experiment(split, streams) -> Experiment:
    return Experiment(prepare("simulated", split, SETTINGS), SETTINGS, streams, "one_way", NaiveBayesLearner())


@pytest.mark.parametrize("name", ["uniform", "hinge", "targeted", "removal", "random"])
def test_epsilon_of_a_record_is_that_of_both_stages_at_the_level_above(experiment, name):
    output = experiment.run(Arm(name, 4.0))
    epsilons = record_epsilons(output, DELTA)
    levels = [min(level for level in LEVELS if level >= value - 1e-12) for value in output.influence]
    for k in (0, 7, int(np.argmin(output.weights)), int(np.argmax(output.weights))):
        scores = 9 / output.scored.sigma**2 if output.scored else 0.0
        mu = np.sqrt((levels[k] * output.learned.cost.mu) ** 2 + scores)
        delta = DELTA / len(LEVELS) if output.scored else DELTA
        assert epsilons[k] == pytest.approx(gaussian_epsilon(1.0, mu, delta), rel=1e-6)


def test_the_whole_budget_is_the_epsilon_of_a_record_with_the_largest_influence(experiment):
    output, delta = experiment.run(Arm("uniform", 4.0, split=False)), 1 / experiment.prepared.n
    assert output.scored is None and (output.weights == 1).all()
    assert output.learned.cost.epsilon(delta) == pytest.approx(4.0, rel=1e-6)
    assert record_epsilons(output, delta).max() <= 4.0 * (1 + 1e-6)


def test_given_the_tables_no_weight_depends_on_another_record(experiment, split, streams):
    """Scores and influences of the others are the same when a record is removed and the tables are not released again."""
    without = Split(split.table, split.train[1:], split.validation, split.test)
    other = Experiment(prepare("simulated", without, SETTINGS), SETTINGS, streams, "one_way", NaiveBayesLearner())
    tables = experiment.scores(Budget(0.8, DELTA)).tables
    assert np.array_equal(tables.score(experiment.train)[1:], tables.score(other.train))
    assert np.array_equal(experiment.influence[1:], other.influence)


def test_rows_have_utility_for_the_outliers_and_the_rarer_class(experiment):
    row, deciles = experiment.measure(Arm("hinge", 4.0))
    assert 0 <= row["pairs"] <= row["pairs_rarer"] <= 1
    assert 0 <= row["tstr_top"] <= 1 and 0 < row["record_epsilon_gini"] < 1
    assert row["record_epsilon_top"] < row["record_epsilon_middle"]
    assert set(deciles["attack"]) == {"distance", "domias", "domias_printed", "likelihood"} and len(deciles) == 40


def test_public_scores_leave_the_cost_of_scores_out(split, streams):
    public = Experiment(prepare("simulated", split, SETTINGS), SETTINGS, streams, "public", NaiveBayesLearner())
    output = public.run(Arm("removal", 4.0))
    assert output.scored is not None and output.scored.cost.mu == 0
    assert record_epsilons(output, DELTA)[output.weights == 0] == pytest.approx(0.0)


def test_a_selected_rate_is_paid_from_the_share_for_scores(experiment):
    output, fixed = (experiment.run(Arm("hinge", 4.0, selected=selected)) for selected in (True, False))
    assert output.strength in SETTINGS.strengths
    assert output.before > output.scored.cost.mu and output.scored.sigma > fixed.scored.sigma
    assert output.learned.cost == fixed.learned.cost
