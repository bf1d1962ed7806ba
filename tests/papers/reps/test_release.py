import numpy as np
import pytest

from formalsynth.core.gaussian import analytic_sigma, gaussian_delta
from formalsynth.reps.scorers.one_way import Marginals, release_marginals
from formalsynth.reps.stages import Risk
from formalsynth.reps.weight_maps.by_score import removal_weights
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.release import Replicate, budget_of, release, threshold_of
from formalsynth_workflow.papers.reps.settings import ExperimentSettings

from .conftest import streams_of, tstr


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.private])
def test_budgets_add_up_and_the_noise_meets_them(prepared, method, epsilon):
    settings, chosen = ExperimentSettings(), METHODS[method]
    budget = budget_of(prepared, chosen, epsilon, settings)
    delta = 1 / prepared.n
    unused = epsilon * 0.2 if method.startswith("uniform_split") else 0.0
    spent = budget.synthesis_epsilon + (budget.scoring_epsilon if chosen.scored else 0.0)
    assert spent + unused == pytest.approx(epsilon)
    assert (
        gaussian_delta(budget.synthesis_sigma, prepared.records.sensitivity, budget.synthesis_epsilon) <= budget.synthesis_delta
    )
    if chosen.scored:
        assert budget.scoring_delta + budget.synthesis_delta == pytest.approx(delta)
        # Nine features: the histograms move by 3.
        assert gaussian_delta(budget.scoring_sigma, 3.0, budget.scoring_epsilon) <= budget.scoring_delta


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_noise_as_printed_is_the_classical_formula_for_each_block(prepared, epsilon):
    """Four blocks, each with a quarter of the synthesis budget; the histograms of nine features together."""
    budget = budget_of(prepared, METHODS["reps"], epsilon, ExperimentSettings())
    delta = 1 / prepared.n / 2
    assert budget.synthesis_sigma == pytest.approx(np.sqrt(2 * np.log(1.25 * 4 / delta)) * 4 / (0.8 * epsilon))
    assert budget.scoring_sigma == pytest.approx(3 * np.sqrt(2 * np.log(1.25 / delta)) / (0.2 * epsilon))
    joint = budget_of(prepared, METHODS["reps_joint"], epsilon, ExperimentSettings())
    assert joint.synthesis_sigma == pytest.approx(analytic_sigma(2.0, 0.8 * epsilon, delta))
    assert joint.scoring_sigma == pytest.approx(analytic_sigma(3.0, 0.2 * epsilon, delta))


def test_reps_with_strength_zero_is_the_split_baseline(prepared, streams):
    replicate = Replicate(prepared, ExperimentSettings(strengths=(0.0,)), streams)
    reps, split = (release(replicate, name, 2.0) for name in ("reps", "uniform_split"))
    assert np.array_equal(reps.synthetic.table.continuous, split.synthetic.table.continuous)
    assert (reps.weights == 1).all()


def test_ablations_share_the_weights_of_reps(prepared, settings, replicate):
    reps, shuffled, removal = (release(replicate, name, 4.0) for name in ("reps", "random_downweighting", "hard_removal"))
    assert np.array_equal(np.sort(reps.weights), np.sort(shuffled.weights))
    assert not np.array_equal(reps.weights, shuffled.weights)
    assert set(np.unique(removal.weights)) == {0.0, 1.0}
    assert np.array_equal(removal.weights == 0, reps.scoring.scores > reps.scoring.threshold)
    assert abs((removal.weights == 0).mean() - 0.1) < 0.02
    assert (reps.weights[reps.scoring.scores <= reps.scoring.threshold] == 1).all()
    assert reps.choice.strength in settings.strengths
    # Injected outliers have three categories that are rare: their scores are the highest.
    rare = (prepared.split.part("train").categories == np.array([3, 3, 2])).all(axis=1)
    assert reps.weights[rare].mean() < shuffled.weights[rare].mean()


def test_the_chosen_strength_is_the_largest_that_validation_allows(prepared, settings, streams):
    result, uniform = (release(Replicate(prepared, settings, streams), name, 4.0) for name in ("reps", "uniform"))
    limit = tstr(prepared, uniform.synthetic.table, "validation") - 0.02
    close = [strength for strength, value in result.choice.validation.items() if value >= limit]
    assert result.choice.strength == max(close, default=0.5)
    assert tstr(prepared, result.synthetic.table, "validation") == result.choice.validation[result.choice.strength]


def test_synthetic_records_lie_within_the_clip_in_their_own_units(prepared, settings, replicate):
    table = release(replicate, "uniform", 0.5).synthetic.table
    assert len(table) == prepared.n
    assert np.abs(prepared.standardiser(table.continuous)).max() <= settings.clip + 1e-9


def test_tau_from_the_records_is_not_covered_by_the_budget():
    """With the released histograms held fixed, tau still moves with a record, and with tau the weights of many others."""
    scores = np.repeat([1.0, 2.0], [90, 11])
    whole, less = (removal_weights(Risk(part, float(np.quantile(part, 0.9)))) for part in (scores, scores[:-1]))
    assert (whole[:-1] != less).sum() == 10


@pytest.mark.parametrize(("dataset", "least"), [("breast_cancer", 0.97), ("adult", 0.87)])
def test_non_private_utility_of_real_data(dataset, least):
    streams, settings = streams_of(1), ExperimentSettings()
    prepared = prepare(dataset, load_split(dataset, "", streams), settings)
    synthetic = release(Replicate(prepared, settings, streams), "non_private", 4.0).synthetic
    assert tstr(prepared, synthetic.table, "test") > least


def test_threshold_from_marginals_is_post_processing(generator):
    cells = np.column_stack([generator.integers(size, size=60) for size in (4, 4, 3, 2)])
    marginals = release_marginals(cells, (4, 4, 3, 2), 3.0, generator)
    first, second = (
        threshold_of(scores, marginals, 0.9, "marginals", np.random.default_rng(5)) for scores in (np.zeros(3), np.ones(9))
    )
    assert first == second
    scores = marginals.scores(cells)
    assert threshold_of(scores, marginals, 0.9, "records", generator) == np.quantile(scores, 0.9)


def test_threshold_from_marginals_is_their_quantile(generator):
    """Two features with four distinct sums whose exact distribution is known."""
    log_frequency = np.log([0.9, 0.1, 0.8, 0.2])
    marginals = Marginals((2, 2), log_frequency)
    # Scores from the least: .72, .18, .08, .02 of the mass; the 0.85 quantile is the second (common, rare).
    result = threshold_of(np.zeros(1), marginals, 0.85, "marginals", generator)
    assert result == pytest.approx(-np.log(0.9 * 0.2) / 2)
