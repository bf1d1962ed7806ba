"""Measure: one row for each replicate and synthesizer, from the draws of the fit that they share."""

import numpy as np
import pytest
from formalsynth.families import FAMILIES
from formalsynth.steps import fit as fit_step
from formalsynth.steps.rows import REPLICATE_COLUMNS
from formalsynth.streams import Address
from formalsynth.utility import statistics, utility
from oracles import log_likelihood
from small_study import ROOT, exact_sample, run_batch, small_paper

# what the results promise to those who read them
PROMISED = (
    "paper", "scenario", "n", "replicate", "synthesizer", "seed", "status", "delta", "epsilon", "guarantee", "rhat_max",
    "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
)  # fmt: skip


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(fit_step, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]


def test_rows_have_the_promised_columns_first(scenario):
    rows = run_batch(scenario, [0, 1])[3]
    for table in rows.values():
        assert tuple(table.columns) == REPLICATE_COLUMNS
        assert tuple(table.columns[: len(PROMISED)]) == PROMISED
    assert rows["Weighted"]["synthesizer"].tolist() == ["Weighted", "truncated_0.4_1.8"] * 2
    assert rows["Weighted"]["replicate"].tolist() == [0, 0, 1, 1]


def test_bounds_are_the_largest_sensitive_log_likelihoods(scenario):
    """From the draws as they were stored, record by record, without the core's own arithmetic."""
    data, fits, measures, rows = run_batch(scenario, [0, 1])
    for k in range(2):
        x, design = data["x"][k], data["design"][k]
        f = {}
        for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
            draws = {name: fits[id][f"draw:{name}"][k] for name in ("beta", "sigma")}
            f[id] = log_likelihood(design, np.log(x), draws, np.log(x))
        alpha = fits["Weighted"]["fit_weights"][k]
        left = (1 - fits["averaged_0.4_1.8"]["found:known"][k]) * alpha
        expected = {
            "Unweighted": np.abs(f["Unweighted"]).max(axis=0),
            "Weighted": np.abs(alpha * f["Weighted"]).max(axis=0),
            "averaged_0.4_1.8": np.abs(left * f["averaged_0.4_1.8"]).max(axis=0),
        }
        for id, by_record in expected.items():
            assert measures[id][f"by_record:{id}"][k] == pytest.approx(by_record, rel=1e-9, abs=1e-12)
            row = rows[id][(rows[id]["replicate"] == k) & (rows[id]["synthesizer"] == id)].iloc[0]
            assert row["delta"] == pytest.approx(by_record.max(), rel=1e-9)
            assert row["epsilon"] == 2 * row["delta"]
            assert 0 < row["delta_mcse"] < row["delta"]
            assert row["draws"] == 200


def test_who_shares_a_fit_shares_its_synthetic_data(scenario):
    rows = run_batch(scenario, [0, 1])[3]["Weighted"]
    useful = ["mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg", "rhat_max", "seed"]
    weighted, truncated = (rows[rows["synthesizer"] == id].reset_index() for id in ("Weighted", "truncated_0.4_1.8"))
    assert (weighted[useful] == truncated[useful]).to_numpy().all()
    assert (weighted["delta"] != truncated["delta"]).all()
    assert (weighted["guarantee"] != truncated["guarantee"]).all()


def test_utility_is_that_of_the_first_synthetic_data_set(scenario):
    data, _, measures, rows = run_batch(scenario, [0, 1])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        expected = utility(data["x"][0], measures[id]["sample_values"][0])
        row = rows[id].iloc[0]
        assert [row[name] for name in expected] == list(expected.values())
        assert measures[id]["sample_sets"][0][0] == pytest.approx(list(statistics(measures[id]["sample_values"][0]).values()))


def test_only_the_single_sample_keeps_its_synthetic_data(scenario):
    measures = run_batch(scenario, [0, 1])[2]
    assert measures["Weighted"]["sample_sets"].shape == (2, 12, 4)
    assert np.isnan(measures["Weighted"]["sample_sets"][1]).all()
    assert "sample_values" not in run_batch(scenario, [1])[2]["Weighted"]


@pytest.mark.parametrize("n_sets", [1, 2, 50])
def test_the_first_synthetic_data_set_does_not_depend_on_how_many_there_are(tmp_path, n_sets):
    """Apart from the last digit: a matrix product of one row is summed in another order than one of many."""
    few = small_paper(tmp_path, synthetic_sets=n_sets).scenarios["skewed_n60"]
    many = small_paper(tmp_path, synthetic_sets=200).scenarios["skewed_n60"]
    one, other = run_batch(few, [0]), run_batch(many, [0])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        assert one[2][id]["sample_values"] == pytest.approx(other[2][id]["sample_values"], rel=1e-12)
        assert one[2][id]["sample_sets"].shape == (1, n_sets, 4)
        assert one[2][id]["sample_sets"] == pytest.approx(other[2][id]["sample_sets"][:, :n_sets], rel=1e-12)
        columns = ["seed", "delta", "mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg"]
        assert one[3][id][columns].to_numpy() == pytest.approx(other[3][id][columns].to_numpy(), rel=1e-12)


def test_synthetic_data_are_predictions_from_one_draw_each(scenario):
    """Standardised with the draw that they come from, they are standard normal; found by trying every draw."""
    data, fits, measures, _ = run_batch(scenario, [0])
    y = np.log(measures["Unweighted"]["sample_values"][0])
    draws = {name: fits["Unweighted"][f"draw:{name}"][0] for name in ("beta", "sigma")}
    family = FAMILIES["lognormal_regression"]
    generator = Address.of(scenario, ROOT, 0).generator("synthesize", scenario.synthesizers["Unweighted"].words)
    chosen = generator.permutation(200)[:12]
    expected = family.predict(
        generator, {"design": data["design"][0], "x": data["x"][0]}, {k: v[chosen] for k, v in draws.items()}
    )
    assert (np.log(expected[0]) == y).all()
    noise = (y - data["design"][0] @ draws["beta"][chosen[0]]) / draws["sigma"][chosen[0]]
    # 60 standard normals: their sum of squares is chi-squared with 60 degrees of freedom, here within its 1e-6 limits
    assert 18 < noise @ noise < 130


def test_synthesizers_do_not_share_random_numbers(scenario):
    measures = run_batch(scenario, [0])[2]
    values = [measures[id]["sample_values"][0] for id in ("Unweighted", "Weighted", "averaged_0.4_1.8")]
    noise = np.array([np.log(one) - np.log(one).mean() for one in values])
    # the predictor is common, so correlated they are; equal noise would make them all but identical
    assert (np.corrcoef(noise)[np.triu_indices(3, 1)] < 0.95).all()
