import numpy as np
import pytest
from formalsynth.gaussian import gaussian_delta
from formalsynth.reps.data import simulated
from formalsynth.reps.evaluation import scorer_quality, tstr_auroc
from formalsynth.reps.methods import METHODS
from formalsynth.reps.replicate import STAGES, budget_of, instance_bounds, load_split, measure, prepare, release, targets_of
from formalsynth.reps.settings import Settings
from formalsynth.reps.tables import encode, split_table
from formalsynth.reps.weighting import removal_weights

from .conftest import needs, streams_of


def test_methods_have_ids_of_their_own():
    assert len({one.id for one in METHODS.values()}) == len(METHODS) == 6


def test_guarantees_name_what_is_outside_the_budget():
    paper, clean = Settings(), Settings(standardise="declared", threshold_from="marginals", strengths=(1.0,))
    assert METHODS["non_private"].guarantee(paper) == "none"
    assert METHODS["uniform"].guarantee(paper) == "(eps, delta)-DP (add/remove) | fixed standardisation"
    assert METHODS["reps"].guarantee(paper) == "(eps, delta)-DP (add/remove) | fixed standardisation, tau, lam"
    assert METHODS["reps"].guarantee(clean) == "(eps, delta)-DP (add/remove)"
    assert METHODS["random_downweighting"].guarantee(clean).endswith("fixed shuffled weights")


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("method", [name for name, one in METHODS.items() if one.private])
def test_budgets_add_up_and_the_noise_meets_them(prepared, method, epsilon):
    settings, chosen = Settings(), METHODS[method]
    budget = budget_of(prepared, chosen, epsilon, settings)
    delta = 1 / prepared.n
    unused = epsilon * 0.2 if method == "uniform_split" else 0.0
    spent = budget.synthesis_epsilon + (budget.scoring_epsilon if chosen.scored else 0.0)
    assert spent + unused == pytest.approx(epsilon)
    assert (
        gaussian_delta(budget.synthesis_sigma, prepared.records.sensitivity, budget.synthesis_epsilon) <= budget.synthesis_delta
    )
    if chosen.scored:
        assert budget.scoring_delta + budget.synthesis_delta == pytest.approx(delta)
        # Nine features: the histograms move by 3.
        assert gaussian_delta(budget.scoring_sigma, 3.0, budget.scoring_epsilon) <= budget.scoring_delta


def test_replicates_repeat_and_do_not_depend_on_order(prepared, targets, settings, streams):
    def run(order):
        rows = {name: measure(prepared, targets, name, 1.0, settings, streams).row for name in order}
        return {name: {k: v for k, v in rows[name].items() if k != "seconds"} for name in METHODS}

    one, two = run(METHODS), run(reversed(METHODS))
    for name in METHODS:
        assert one[name].keys() == two[name].keys()
        for key, value in one[name].items():
            np.testing.assert_equal(two[name][key], value)


def test_all_randomness_comes_from_the_named_streams(prepared, settings):
    asked = set()

    def streams(stage):
        asked.add(stage)
        return streams_of(3)(stage)

    load_split("simulated", "", streams)
    targets = targets_of(prepared, settings, streams)
    for name in METHODS:
        measure(prepared, targets, name, 1.0, settings, streams)
    assert asked == set(STAGES)


def test_reps_with_strength_zero_is_the_split_baseline(prepared, streams):
    settings = Settings(strengths=(0.0,))
    one, two = (release(prepared, name, 2.0, settings, streams) for name in ("reps", "uniform_split"))
    assert np.array_equal(one.synthetic.continuous, two.synthetic.continuous)
    assert (one.weights == 1).all()


def test_ablations_share_the_weights_of_reps(prepared, settings, streams):
    reps, shuffled, removal = (
        release(prepared, name, 4.0, settings, streams) for name in ("reps", "random_downweighting", "hard_removal")
    )
    assert np.array_equal(np.sort(reps.weights), np.sort(shuffled.weights))
    assert not np.array_equal(reps.weights, shuffled.weights)
    assert set(np.unique(removal.weights)) == {0.0, 1.0}
    assert np.array_equal(removal.weights == 0, reps.scores > reps.threshold)
    assert abs((removal.weights == 0).mean() - 0.1) < 0.02
    assert (reps.weights[reps.scores <= reps.threshold] == 1).all() and reps.strength in settings.strengths
    # Injected outliers have three categories that are rare: their scores are the highest.
    rare = (prepared.split.part("train").categories == np.array([3, 3, 2])).all(axis=1)
    assert reps.weights[rare].mean() < shuffled.weights[rare].mean()


def test_the_chosen_strength_is_the_largest_that_validation_allows(prepared, streams):
    found = release(prepared, "reps", 4.0, Settings(), streams)
    uniform = release(prepared, "uniform", 4.0, Settings(), streams).synthetic
    label = prepared.split.table.label[prepared.split.validation]
    limit = tstr_auroc(encode(uniform, prepared.space), uniform.label, prepared.validation, label) - 0.02
    close = [strength for strength, value in found.validation.items() if value >= limit]
    assert found.strength == max(close, default=0.5)
    own = tstr_auroc(encode(found.synthetic, prepared.space), found.synthetic.label, prepared.validation, label)
    assert own == found.validation[found.strength]


def test_synthetic_records_lie_within_the_clip_in_their_own_units(prepared, settings, streams):
    table = release(prepared, "uniform", 0.5, settings, streams).synthetic
    assert len(table) == prepared.n
    assert np.abs(prepared.standardiser(table.continuous)).max() <= settings.clip + 1e-9


def test_bounds_by_record_are_ordered(prepared, settings, streams):
    reps, uniform = (release(prepared, name, 4.0, settings, streams) for name in ("reps", "uniform"))
    ours, theirs = (instance_bounds(prepared, one, settings) for one in (reps, uniform))
    assert (ours["eps_synthesis"] <= ours["eps_weight"]).all()
    assert (ours["eps_composed"] <= ours["eps_total"] + 1e-9).all()
    assert ours["eps_total"].max() <= 4.0 * (1 + 1e-9) and theirs["eps_total"].max() <= 4.0 * (1 + 1e-9)
    assert (ours["eps_synthesis"][reps.weights < 1] < ours["eps_weight"].max()).all()
    assert np.isinf(
        instance_bounds(prepared, release(prepared, "non_private", 4.0, settings, streams), settings)["eps_total"]
    ).all()


def test_tau_from_the_records_is_not_covered_by_the_budget():
    """With the released histograms held fixed, tau still moves with a record, and with tau the weights of many others."""
    scores = np.repeat([1.0, 2.0], [90, 11])
    whole, less = (removal_weights(part, float(np.quantile(part, 0.9))) for part in (scores, scores[:-1]))
    assert (whole[:-1] != less).sum() == 10


def test_declared_bounds_and_marginal_threshold_need_nothing_outside_the_budget(streams):
    settings = Settings(standardise="declared", threshold_from="marginals", strengths=(1.0,), resamples=100)
    split = split_table(simulated(streams("source"), n=400), streams("split"))
    prepared = prepare("simulated", split, settings)
    assert prepared.standardiser.inverse(np.full((1, 6), 4.0)) == pytest.approx(np.full((1, 6), 10.0))
    found = measure(prepared, targets_of(prepared, settings, streams), "reps", 4.0, settings, streams)
    assert found.row["guarantee"] == "(eps, delta)-DP (add/remove)"


def test_measured_rows_arrays_and_deciles_agree(prepared, targets, settings, streams):
    found = measure(prepared, targets, "reps", 2.0, settings, streams)
    records, deciles = found.records, found.deciles
    assert found.row["weight_mean"] == pytest.approx(records["weight"].mean())
    top = records["decile"] == 10
    row = deciles[(deciles.decile == 10) & (deciles.attack == "domias")].iloc[0]
    assert row.eps_total_mean == pytest.approx(records["eps_total"][top].mean())
    assert found.row["domias_top_auc"] == row.auc
    assert row.train_records == top.sum() == row.members
    assert all(len(v) == prepared.n for k, v in records.items() if not k.startswith("query_"))


def test_tstr_of_a_single_class_is_a_coin(generator):
    x = generator.normal(size=(20, 2))
    assert tstr_auroc(x, np.ones(20, dtype=int), x, np.arange(20) % 2) == 0.5


def test_scorer_quality_of_known_scores():
    outlierness = np.arange(100.0)
    assert scorer_quality(outlierness**2, outlierness) == pytest.approx({"spearman": 1.0, "recall": 1.0})
    assert scorer_quality(-outlierness, outlierness) == pytest.approx({"spearman": -1.0, "recall": 0.0})


@pytest.mark.parametrize(("dataset", "least"), [
    ("breast_cancer", 0.97),
    pytest.param("adult", 0.87, marks=needs("adult.data", "adult.test")),
])  # fmt: skip
def test_non_private_utility_of_real_data(dataset, least):
    streams, settings = streams_of(1), Settings()
    prepared = prepare(dataset, load_split(dataset, "", streams), settings)
    synthetic = release(prepared, "non_private", 4.0, settings, streams).synthetic
    label = prepared.split.table.label[prepared.split.test]
    assert tstr_auroc(encode(synthetic, prepared.space), synthetic.label, prepared.test, label) > least
