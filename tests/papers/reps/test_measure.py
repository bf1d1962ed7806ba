import numpy as np
import pytest

from formalsynth.core.gaussian import gaussian_epsilon
from formalsynth.reps.learners.naive_bayes import weighted_sums
from formalsynth_workflow.papers.reps.datasets import simulated
from formalsynth_workflow.papers.reps.measure import instance_bounds, measure, weighting_bias
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.prepare import load_split, prepare
from formalsynth_workflow.papers.reps.release import Replicate, release
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.stages import OWN_STAGES
from formalsynth_workflow.papers.reps.tables import split_table

from .conftest import streams_of


def test_replicates_repeat_and_do_not_depend_on_order(prepared, settings, streams):
    def run(order):
        replicate = Replicate(prepared, settings, streams)
        rows = {name: measure(replicate, name, 1.0).row for name in order}
        return {name: {k: v for k, v in rows[name].items() if k != "seconds"} for name in METHODS}

    forwards, backwards = run(METHODS), run(reversed(METHODS))
    for name in METHODS:
        assert forwards[name].keys() == backwards[name].keys()
        for key, value in forwards[name].items():
            np.testing.assert_equal(backwards[name][key], value)


def test_all_randomness_comes_from_the_named_streams(prepared, settings):
    asked = set()

    def streams(stage):
        asked.add(stage)
        return streams_of(3)(stage)

    load_split("simulated", "", streams)
    replicate = Replicate(prepared, settings, streams)
    for name in METHODS:
        measure(replicate, name, 1.0)
    assert asked == {*OWN_STAGES, "bootstrap"} - {"select"}


@pytest.mark.parametrize("suffix", ["", "_joint"])
def test_bounds_by_record_are_ordered(prepared, replicate, suffix):
    reps, uniform = (release(replicate, name + suffix, 4.0) for name in ("reps", "uniform"))
    open_ = release(replicate, "non_private", 4.0)
    ours, theirs = (instance_bounds(prepared, result) for result in (reps, uniform))
    assert (ours["eps_synthesis"] <= ours["eps_weight"]).all()
    assert (ours["eps_composed"] <= ours["eps_total"] + 1e-9).all()
    assert ours["eps_total"].max() <= 4.0 * (1 + 1e-9) and theirs["eps_total"].max() <= 4.0 * (1 + 1e-9)
    assert (ours["eps_synthesis"][reps.weights < 1] < ours["eps_weight"].max()).all()
    assert np.isinf(instance_bounds(prepared, open_)["eps_total"]).all()


def test_the_exact_cost_is_that_of_all_blocks_and_histograms_together(replicate, prepared):
    """The root of the sum of squares of sensitivity over noise gives it, at the total delta."""
    row = measure(replicate, "reps", 4.0).row
    ratio = np.sqrt(4 / row["synthesis_sigma"] ** 2 + 9 / row["scoring_sigma"] ** 2)
    assert row["exact_epsilon"] == pytest.approx(gaussian_epsilon(1.0, ratio, 1 / prepared.n), rel=1e-6)
    assert row["exact_epsilon"] < 2
    assert measure(replicate, "uniform_joint", 4.0).row["exact_epsilon"] == pytest.approx(4.0)
    assert measure(replicate, "non_private", 4.0).row["exact_epsilon"] == np.inf


def test_declared_bounds_and_marginal_threshold_need_nothing_outside_the_budget(streams):
    settings = ExperimentSettings(standardise="declared", threshold_from="marginals", strengths=(1.0,), resamples=100)
    split = split_table(simulated(streams("source"), n=400), streams("split"))
    prepared = prepare("simulated", split, settings)
    assert prepared.standardiser.inverse(np.full((1, 6), 4.0)) == pytest.approx(np.full((1, 6), 10.0))
    result = measure(Replicate(prepared, settings, streams), "reps", 4.0)
    assert result.row["guarantee"] == "(eps, delta)-DP (add/remove)"


def test_measured_rows_and_deciles_are_those_of_the_release(prepared, targets, settings, streams, replicate):
    result = measure(replicate, "reps", 2.0)
    released = release(Replicate(prepared, settings, streams), "reps", 2.0)
    bounds = instance_bounds(prepared, released)
    assert result.row["weight_mean"] == pytest.approx(released.weights.mean())
    top = targets.train_decile == 10
    row = result.deciles[(result.deciles.decile == 10) & (result.deciles.attack == "domias")].iloc[0]
    assert row.weight_mean == pytest.approx(released.weights[top].mean())
    for name, values in bounds.items():
        assert values.shape == (prepared.n,)
        assert row[f"{name}_mean"] == pytest.approx(values[top].mean())
        assert result.row[f"{name}_max"] == values.max()
    assert result.row["domias_top_auc"] == row.auc
    assert row.train_records == top.sum() == row.members


def test_the_bias_from_weights_is_within_its_bound_and_a_part_of_the_whole(prepared):
    weights = np.where(np.arange(prepared.n) % 5 == 0, 0.3, 1.0)
    result = weighting_bias(prepared, weights)
    kept, every = (np.linalg.norm(weighted_sums(prepared.records, w) / prepared.records.bounds) for w in (weights, weights**0))
    assert 0 < result["weighting_bias"] <= result["weighting_bias_bound"]
    assert result["weighting_bias_bound"] == pytest.approx(prepared.records.sensitivity * (1 - weights).mean())
    assert kept >= every * (1 - result["weighting_bias_share"]) * (1 - 1e-9)
    assert set(weighting_bias(prepared, weights**0).values()) == {0.0}
