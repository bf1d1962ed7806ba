"""Tests of effects outside the budget: each distance against a release computed from the other data set."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from formalsynth.reps.learners.naive_bayes import contributions, weighted_sums
from formalsynth_workflow.papers.reps.attacks import advantages_without_release
from formalsynth_workflow.papers.reps.datasets import simulated
from formalsynth_workflow.papers.reps.evaluation import auroc_without_each
from formalsynth_workflow.papers.reps.measure import measure, protected_bounds
from formalsynth_workflow.papers.reps.outside import choose_strength, joining_distance, leaving_distances, swaying_records
from formalsynth_workflow.papers.reps.prepare import prepare
from formalsynth_workflow.papers.reps.release import Replicate, release
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.tables import Table, declared_standardiser, training_standardiser


def encoded(table, standardiser):
    return contributions(standardiser(table.continuous), table.categories, table.label, table.schema.levels, clip=4.0)


def test_auroc_without_each_record_by_brute_force(generator):
    label = np.repeat([0, 1], [17, 9])
    scores = np.round(generator.normal(size=26) + label, 1)  # with ties
    kept = [np.arange(26) != k for k in range(26)]
    assert auroc_without_each(scores, label) == pytest.approx([roc_auc_score(label[rest], scores[rest]) for rest in kept])


def test_a_record_sways_the_choice_when_it_falls_otherwise_without_it(generator):
    label = np.repeat([0, 1], [12, 9])
    uniform = generator.normal(size=21) + label
    candidates = {strength: uniform + strength * generator.normal(size=21) / 3 for strength in (0.5, 1.0, 2.0)}

    def choice(kept):
        utility = {strength: roc_auc_score(label[kept], scores[kept]) for strength, scores in candidates.items()}
        return choose_strength(utility, roc_auc_score(label[kept], uniform[kept]), 0.02)

    chosen = choice(np.arange(21))
    expected = [choice(np.arange(21) != k) != chosen for k in range(21)]
    assert np.array_equal(swaying_records(candidates, uniform, label, 0.02, chosen), expected)
    assert 0 < sum(expected) < 21


def test_a_joining_record_moves_sums_by_its_own_contribution_only_where_the_scale_is_declared(generator):
    train = simulated(generator, n=400)
    declared = joining_distance(train, lambda table: encoded(table, declared_standardiser(train.schema, 4.0)))
    assert declared == pytest.approx(1.0), "at the upper bounds a record attains the sensitivity"
    fitted = joining_distance(train, lambda table: encoded(table, training_standardiser(table)))
    assert fitted > 1.2
    # The same from the definition, without the functions that the distance is made of.
    more = Table(
        train.schema, np.vstack([train.continuous, np.full((1, 6), 10.0)]),
        np.vstack([train.categories, np.zeros((1, 3), dtype=np.int64)]), np.append(train.label, 0),
    )  # fmt: skip
    squares = 0.0
    for label in (0, 1):
        sums = []
        for table in (train, more):
            z = np.clip((table.continuous - table.continuous.mean(axis=0)) / table.continuous.std(axis=0), -4, 4)
            z = z[table.label == label]
            sums.append(np.concatenate([z.sum(axis=0) / (4 * np.sqrt(6)), (z**2).sum(axis=0) / (16 * np.sqrt(6))]))
        squares += np.square(sums[1] - sums[0]).sum() + 2 * (label == 0)
    assert fitted >= np.sqrt(squares) / 2 - 1e-9


def test_a_leaving_record_moves_sums_by_its_own_contribution_where_weights_are_fixed(prepared, generator):
    weights = generator.random(prepared.n)
    for record in range(5):
        result = leaving_distances(prepared.records, weights, record, weights)
        assert result == pytest.approx(weights[record] * prepared.records.norms[record])


def test_tau_from_the_records_breaks_the_bound_of_the_most_protected_record(prepared, settings, streams, replicate):
    result = release(replicate, "reps", 4.0)
    bounds = protected_bounds(prepared, "reps", result, settings)
    assert bounds["protected_epsilon_found"] > bounds["protected_epsilon"]
    least = int(np.argmin(result.weights))
    kept = np.arange(prepared.n) != least
    scores = result.scoring.scores[kept]
    excess = np.maximum(scores - np.quantile(scores, 0.9), 0)
    moved = weighted_sums(prepared.records, result.weights)
    moved -= np.stack([
        np.where(prepared.records.label[kept] == y, np.exp(-result.choice.strength * excess), 0) @ prepared.records.rows[kept]
        for y in (0, 1)
    ])  # fmt: skip
    own = result.weights[least] * prepared.records.influence[least]
    assert np.linalg.norm(moved / prepared.records.bounds) > own
    clean = ExperimentSettings(threshold_from="marginals")
    bounds = protected_bounds(prepared, "reps", release(Replicate(prepared, clean, streams), "reps", 4.0), clean)
    assert bounds["protected_epsilon_found"] == pytest.approx(bounds["protected_epsilon"], rel=1e-6, abs=1e-9)


def test_proposition_1_caps_and_the_rest_of_the_row(replicate):
    rows = {name: measure(replicate, name, 4.0).row for name in ("uniform", "reps", "non_private")}
    assert rows["uniform"]["capped_share"] == pytest.approx(1.0, rel=1e-6)
    assert rows["uniform"]["joining_epsilon"] > rows["uniform"]["exact_epsilon"]
    assert np.isnan(rows["reps"]["joining_epsilon"]) and np.isnan(rows["uniform"]["protected_epsilon"])
    assert 0 <= rows["reps"]["swaying"] <= 1
    assert rows["non_private"]["advantage_limit"] == 1 and rows["reps"]["advantage_limit"] < 1


def test_declared_scale_needs_no_more_than_its_epsilon(streams, prepared):
    settings = ExperimentSettings(standardise="declared", resamples=100)
    declared = prepare("simulated", prepared.split, settings)
    row = measure(Replicate(declared, settings, streams), "uniform", 4.0).row
    assert row["joining_epsilon"] == pytest.approx(row["exact_epsilon"])


def test_the_printed_reference_alone_has_an_advantage_without_a_release(targets):
    result = advantages_without_release(targets)
    for decile in (1, 10):
        chosen = targets.decile == decile
        auc = roc_auc_score(targets.member[chosen], targets.reference_printed[chosen])
        assert result[decile] == pytest.approx(2 * auc - 1)
    assert abs(result[10]) > 0.3


@pytest.mark.parametrize(("utility", "chosen"), [
    ({0.5: 0.80, 1.0: 0.80, 2.0: 0.79, 4.0: 0.70}, 2.0),
    ({0.5: 0.70, 1.0: 0.79, 2.0: 0.70, 4.0: 0.79}, 4.0),
    ({0.5: 0.70, 1.0: 0.70, 2.0: 0.70, 4.0: 0.70}, 0.5),
])  # fmt: skip
def test_the_largest_strength_close_to_uniform_is_chosen(utility, chosen):
    assert choose_strength(utility, 0.80, 0.02) == chosen
