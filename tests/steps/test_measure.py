"""Measure: one row for result replicate and synthesizer, from the draws of the fit that they share."""

from dataclasses import replace

import numpy as np
import pytest
from formalsynth.core.arrays import take
from formalsynth.core.family import FAMILIES
from formalsynth.core.rows import COEFFICIENT, REPLICATE_COLUMNS
from formalsynth.core.streams import Address
from formalsynth.core.utility import CENTRES, statistics, utility_columns
from formalsynth.steps import fit as fit_step
from formalsynth.steps import measure
from oracles import log_likelihood
from small_study import exact_sample, run_batch, small_paper

# what the results promise to those who read them
PROMISED = (
    "paper", "scenario", "n", "replicate", "synthesizer", "seed", "status", "delta", "epsilon", "audited", "guarantee",
    "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
)  # fmt: skip


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(fit_step, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]


def test_rows_have_the_promised_columns_first(scenario):
    rows = run_batch(scenario, [0, 1])[2]
    for table in rows.values():
        assert tuple(table.columns) == REPLICATE_COLUMNS
        assert tuple(table.columns[: len(PROMISED)]) == PROMISED
    assert rows["Weighted"]["synthesizer"].tolist() == ["Weighted", "truncated_0.4_1.8"] * 2
    assert rows["Weighted"]["replicate"].tolist() == [0, 0, 1, 1]


def test_bounds_are_the_largest_sensitive_log_likelihoods(scenario):
    """The draws as they were stored give it, record by record, without the core's own arithmetic."""
    data, fitted, rows = run_batch(scenario, [0, 1])
    for k in range(2):
        x, design = data.x[k], data.design[k]
        f = {}
        for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
            draws = fitted[id].fit.draws_of(k)
            f[id] = log_likelihood(design, np.log(x), draws, np.log(x))
        alpha = fitted["Weighted"].measure.members["Weighted"].weights[k]
        left = (1 - fitted["averaged_0.4_1.8"].fit.cache_of(k).outside_share) * alpha
        expected = {
            "Unweighted": np.abs(f["Unweighted"]).max(axis=0),
            "Weighted": np.abs(alpha * f["Weighted"]).max(axis=0),
            "averaged_0.4_1.8": np.abs(left * f["averaged_0.4_1.8"]).max(axis=0),
        }
        for id, by_record in expected.items():
            assert fitted[id].measure.members[id].by_record[k] == pytest.approx(by_record, rel=1e-9, abs=1e-12)
            row = rows[id][(rows[id]["replicate"] == k) & (rows[id]["synthesizer"] == id)].iloc[0]
            assert row["delta"] == pytest.approx(by_record.max(), rel=1e-9)
            assert row["epsilon"] == 2 * row["delta"]
            assert 0 < row["delta_mcse"] < row["delta"]
            assert row["bound_median"] == pytest.approx(np.median(by_record) / by_record.max(), rel=1e-9)
            assert row["bound_q2.5"] == pytest.approx(np.quantile(by_record, 0.025) / by_record.max(), rel=1e-9)
            assert row["bound_spread"] == pytest.approx(1 - by_record.min() / by_record.max(), rel=1e-9)
            assert row["draws"] == 200


def test_record_level_arrays_are_kept_where_others_build_on_them_and_of_the_single_sample(scenario):
    every, some = (run_batch(scenario, [0, 1, 2], everyone=everyone)[1] for everyone in (True, False))
    assert {id: list(result.measure.members) for id, result in some.items() if result.measure.members} == {
        "Unweighted": ["Unweighted"]
    }
    for id, result in every.items():
        kept = some[id].measure
        assert result.fit.digest == some[id].fit.digest
        assert (result.measure.sample is None) == (kept.sample is None)
        for member, arrays in result.measure.members.items():
            assert (kept.sample.by_record[member] == arrays.by_record[0]).all()


def test_who_shares_a_fit_shares_its_synthetic_data(scenario):
    rows = run_batch(scenario, [0, 1])[2]["Weighted"]
    useful = ["mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg", "rhat_max", "seed"]
    weighted, truncated = (rows[rows["synthesizer"] == id].reset_index() for id in ("Weighted", "truncated_0.4_1.8"))
    assert (weighted[useful] == truncated[useful]).to_numpy().all()
    assert (weighted["delta"] != truncated["delta"]).all()
    assert (weighted["guarantee"] != truncated["guarantee"]).all()


def test_utility_is_that_of_the_first_synthetic_data_set(scenario):
    data, fitted, rows = run_batch(scenario, [0, 1])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        sample = fitted[id].measure.sample
        expected = utility_columns(data.x[0], sample.values)
        row = rows[id].iloc[0]
        assert [row[name] for name in expected] == list(expected.values())
        assert sample.sets[0] == pytest.approx(list(statistics(sample.values).values()))


def test_only_the_single_sample_keeps_its_synthetic_data(scenario):
    together, alone, without = (run_batch(scenario, batch)[1]["Weighted"].measure.sample for batch in ([1, 0], [0], [1, 2]))
    assert together.values.shape == (60,)
    assert together.sets.shape == (12, 4)
    assert (together.values == alone.values).all()
    assert (together.sets == alone.sets).all()
    assert without is None


@pytest.mark.parametrize("n_sets", [1, 2, 50])
def test_the_first_synthetic_data_set_does_not_depend_on_how_many_there_are(tmp_path, n_sets):
    """Apart from the last digit: a matrix product of one row is summed in another order than one of many."""
    few = small_paper(tmp_path, synthetic_sets=n_sets).scenarios["skewed_n60"]
    many = small_paper(tmp_path, synthetic_sets=200).scenarios["skewed_n60"]
    (_, few_fitted, few_rows), (_, many_fitted, many_rows) = run_batch(few, [0]), run_batch(many, [0])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        sample, larger = few_fitted[id].measure.sample, many_fitted[id].measure.sample
        assert sample.values == pytest.approx(larger.values, rel=1e-12)
        assert sample.sets.shape == (n_sets, 4)
        assert sample.sets == pytest.approx(larger.sets[:n_sets], rel=1e-12)
        columns = ["seed", "delta", "mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg"]
        assert few_rows[id][columns].to_numpy() == pytest.approx(many_rows[id][columns].to_numpy(), rel=1e-12)


def test_synthetic_data_are_predictions_from_one_draw_each(scenario):
    """Standardised with the draw that they come from, they are standard normal; found by trying every draw."""
    data, fitted, _ = run_batch(scenario, [0])
    y = np.log(fitted["Unweighted"].measure.sample.values)
    draws = fitted["Unweighted"].fit.draws_of(0)
    family = FAMILIES["lognormal_regression"]
    generator = Address.of(scenario.key, 0).generator("synthesize", scenario.synthesizers["Unweighted"].words)
    chosen = generator.permutation(200)[:12]
    expected = family.predict(generator, data.records(0), take(draws, chosen))
    assert (np.log(expected[0]) == y).all()
    noise = (y - data.design[0] @ draws["beta"][chosen[0]]) / draws["sigma"][chosen[0]]
    # 60 standard normals: their sum of squares is chi-squared with 60 degrees of freedom, here within its 1e-6 limits
    assert 18 < noise @ noise < 130


def test_synthesizers_do_not_share_random_numbers(scenario):
    fitted = run_batch(scenario, [0])[1]
    values = [fitted[id].measure.sample.values for id in ("Unweighted", "Weighted", "averaged_0.4_1.8")]
    noise = np.array([np.log(value) - np.log(value).mean() for value in values])
    # the predictor is common, so correlated they are; equal noise would make them all but identical
    assert (np.corrcoef(noise)[np.triu_indices(3, 1)] < 0.95).all()


def test_centres_are_further_columns_and_change_no_other(tmp_path):
    without = small_paper(tmp_path).scenarios["skewed_n60"]
    with_them = small_paper(tmp_path, centre_sets=150).scenarios["skewed_n60"]
    (_, plain, before), (data, fitted, after) = run_batch(without, [0, 1]), run_batch(with_them, [0, 1])
    for id, table in after.items():
        assert tuple(table.columns) == (*REPLICATE_COLUMNS, *CENTRES)
        kept = [name for name in REPLICATE_COLUMNS if name != "seconds"]
        assert table[kept].equals(before[id][kept])
    assert (plain["Weighted"].measure.sample.sets == fitted["Weighted"].measure.sample.sets).all()
    mean, beyond = after["Unweighted"].loc[1, ["mean_centre", "q90_centre"]]
    # The logs are nearly normal around the fitted line; with 150 sets of 60 a centre is within a fifth of its own value.
    draws = fitted["Unweighted"].fit.draws_of(1)
    expected = np.exp(data.design[1] @ draws["beta"].T + draws["sigma"] ** 2 / 2).mean()
    assert mean == pytest.approx(expected, rel=0.2)
    assert mean < beyond


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]), [2.0, 1.05, 2.95]),
        (np.array([[5.0, 4.0]]), [4.0, np.nan, np.nan]),  # a selected candidate has no interval
        (np.array([1.0, 2.0]), []),  # a mean is no coefficient
        (None, []),  # a histogram has no parameters
    ],
)
def test_the_last_coefficient_has_the_interval_of_its_draws(values, expected):
    columns = measure._last_coefficient(values)
    assert list(columns) == list(COEFFICIENT[: len(expected)])
    assert list(columns.values()) == pytest.approx(expected, nan_ok=True)


def test_a_scenario_can_request_the_last_coefficient(scenario):
    _, fitted, rows = run_batch(replace(scenario, coefficient=True), [0, 1])
    for k, row in rows["Unweighted"].iterrows():
        slope = fitted["Unweighted"].fit.draws_of(k)["beta"][:, -1]
        assert row["coefficient"] == pytest.approx(slope.mean())
        assert row["coefficient_low"] < row["coefficient"] < row["coefficient_high"]
    assert "coefficient" not in run_batch(scenario, [0])[2]["Unweighted"]
