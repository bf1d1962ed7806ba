"""Measure: one row for each replicate of a synthesizer, from its fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from oracles import log_likelihood
from small_study import as_passed, collected, run_batch, small_paper

from formalsynth.core.arrays import take
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import forget_own, load
from formalsynth.core.rows import COEFFICIENT, REPLICATE_COLUMNS
from formalsynth.core.streams import Address
from formalsynth.core.utility import CENTRES, UTILITY, statistics, utility_columns
from formalsynth_workflow.steps import measure

# what the results promise to those who read them
PROMISED = (
    "paper", "scenario", "n", "replicate", "synthesizer", "seed", "status", "delta", "epsilon", "audited", "guarantee",
    "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
)  # fmt: skip


pytestmark = pytest.mark.usefixtures("exact")


def test_rows_have_the_promised_columns_first(scenario):
    rows = run_batch(scenario, [0, 1]).rows
    for id, table in rows.items():
        assert tuple(table.columns) == REPLICATE_COLUMNS
        assert tuple(table.columns[: len(PROMISED)]) == PROMISED
        assert table["synthesizer"].tolist() == [id] * 2
        assert table["replicate"].tolist() == [0, 1]


def test_bounds_are_the_largest_sensitive_log_likelihoods(scenario):
    """The draws as they were stored give it, record by record, without the core's own arithmetic."""
    batch = run_batch(scenario, [0, 1])
    for k in range(2):
        x, design = batch.data.x[k], batch.data.design[k]
        fits = {id: batch.fits[id][k] for id in ("Unweighted", "Weighted", "averaged_0.4_1.8")}
        f = {id: log_likelihood(design, np.log(x), fit.draws, np.log(x)) for id, fit in fits.items()}
        alpha = fits["Weighted"].sensitive
        left = (1 - fits["averaged_0.4_1.8"].outside_share) * alpha
        expected = {
            "Unweighted": np.abs(f["Unweighted"]).max(axis=0),
            "Weighted": np.abs(alpha * f["Weighted"]).max(axis=0),
            "averaged_0.4_1.8": np.abs(left * f["averaged_0.4_1.8"]).max(axis=0),
        }
        for id, by_record in expected.items():
            assert fits[id].by_record == pytest.approx(by_record, rel=1e-9, abs=1e-12)
            row = batch.rows[id].iloc[k]
            assert row["delta"] == pytest.approx(by_record.max(), rel=1e-9)
            assert row["epsilon"] == 2 * row["delta"]
            assert 0 < row["delta_mcse"] < row["delta"]
            assert row["bound_median"] == pytest.approx(np.median(by_record) / by_record.max(), rel=1e-9)
            assert row["bound_q2.5"] == pytest.approx(np.quantile(by_record, 0.025) / by_record.max(), rel=1e-9)
            assert row["bound_spread"] == pytest.approx(1 - by_record.min() / by_record.max(), rel=1e-9)
            assert row["draws"] == 200


def test_who_shares_a_fit_shares_its_synthetic_data(scenario):
    rows = run_batch(scenario, [0, 1]).rows
    useful = ["mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg", "rhat_max", "seed"]
    weighted, truncated = (rows[id] for id in ("Weighted", "truncated_0.4_1.8"))
    assert (weighted[useful] == truncated[useful]).to_numpy().all()
    assert (weighted["delta"] != truncated["delta"]).all()
    assert (weighted["guarantee"] != truncated["guarantee"]).all()


def values_of(batch, id):
    return batch.sample[id]["values"]["value"].to_numpy()


def sets_of(batch, id):
    return batch.sample[id]["sets"][list(UTILITY)].to_numpy()


def test_utility_is_that_of_the_first_synthetic_data_set(scenario):
    batch = run_batch(scenario, [0, 1])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        expected = utility_columns(batch.data.x[0], values_of(batch, id))
        row = batch.rows[id].iloc[0]
        assert [row[name] for name in expected] == list(expected.values())
        assert sets_of(batch, id)[0] == pytest.approx(list(statistics(values_of(batch, id)).values()))


def test_only_the_single_sample_keeps_its_synthetic_data(scenario):
    together, alone, without = (run_batch(scenario, batch) for batch in ([1, 0], [0], [1, 2]))
    assert values_of(together, "Weighted").shape == (60,)
    assert sets_of(together, "Weighted").shape == (12, 4)
    for name, part in together.sample["Weighted"].items():
        assert part.equals(alone.sample["Weighted"][name])
    assert without.sample["Weighted"] == {}


@pytest.mark.parametrize("n_sets", [1, 2, 50])
def test_the_first_synthetic_data_set_does_not_depend_on_how_many_there_are(tmp_path, n_sets):
    """Apart from the last digit: a matrix product of one row is summed in another order than one of many."""
    few = run_batch(small_paper(tmp_path, synthetic_sets=n_sets).scenarios["skewed_n60"], [0])
    many = run_batch(small_paper(tmp_path, synthetic_sets=200).scenarios["skewed_n60"], [0])
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        assert values_of(few, id) == pytest.approx(values_of(many, id), rel=1e-12)
        assert sets_of(few, id).shape == (n_sets, 4)
        assert sets_of(few, id) == pytest.approx(sets_of(many, id)[:n_sets], rel=1e-12)
        columns = ["seed", "delta", "mean", "median", "q15", "q90", "ecdf_max", "ecdf_avg"]
        assert few.rows[id][columns].to_numpy() == pytest.approx(many.rows[id][columns].to_numpy(), rel=1e-12)


def test_synthetic_data_are_predictions_from_one_draw_each(scenario):
    """Standardised with the draw that they come from, they are standard normal; found by trying every draw."""
    batch = run_batch(scenario, [0])
    y = np.log(values_of(batch, "Unweighted"))
    draws = batch.fits["Unweighted"][0].draws
    family = FAMILIES["lognormal_regression"]
    generator = Address.of(scenario.key, 0).generator("synthesize", scenario.synthesizers["Unweighted"].words)
    chosen = generator.permutation(200)[:12]
    expected = family.predict(generator, batch.data.records(0), take(draws, chosen))
    assert (np.log(expected[0]) == y).all()
    noise = (y - batch.data.design[0] @ draws["beta"][chosen[0]]) / draws["sigma"][chosen[0]]
    # 60 standard normals: their sum of squares is chi-squared with 60 degrees of freedom, here within its 1e-6 limits
    assert 18 < noise @ noise < 130


def test_synthesizers_do_not_share_random_numbers(scenario):
    batch = run_batch(scenario, [0])
    values = [values_of(batch, id) for id in ("Unweighted", "Weighted", "averaged_0.4_1.8")]
    noise = np.array([np.log(value) - np.log(value).mean() for value in values])
    # the predictor is common, so correlated they are; equal noise would make them all but identical
    assert (np.corrcoef(noise)[np.triu_indices(3, 1)] < 0.95).all()


def test_centres_are_further_columns_and_change_no_other(tmp_path):
    plain = run_batch(small_paper(tmp_path).scenarios["skewed_n60"], [0, 1])
    batch = run_batch(small_paper(tmp_path, centre_sets=150).scenarios["skewed_n60"], [0, 1])
    for id, table in batch.rows.items():
        assert tuple(table.columns) == (*REPLICATE_COLUMNS, *CENTRES)
        kept = [name for name in REPLICATE_COLUMNS if name != "seconds"]
        assert table[kept].equals(plain.rows[id][kept])
    assert (sets_of(plain, "Weighted") == sets_of(batch, "Weighted")).all()
    mean, beyond = batch.rows["Unweighted"].loc[1, ["mean_centre", "q90_centre"]]
    # The logs are nearly normal around the fitted line; with 150 sets of 60 a centre is within a fifth of its own value.
    draws = batch.fits["Unweighted"][1].draws
    expected = np.exp(batch.data.design[1] @ draws["beta"].T + draws["sigma"] ** 2 / 2).mean()
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
    batch = run_batch(replace(scenario, coefficient=True), [0, 1])
    for k, row in batch.rows["Unweighted"].iterrows():
        slope = batch.fits["Unweighted"][k].draws["beta"][:, -1]
        assert row["coefficient"] == pytest.approx(slope.mean())
        assert row["coefficient_low"] < row["coefficient"] < row["coefficient_high"]
    assert "coefficient" not in run_batch(scenario, [0]).rows["Unweighted"]


def test_a_scenario_can_request_the_error_of_area_means(scenario):
    """Records with equal predictors are an area: means by a loop over the distinct predictors."""
    batch = run_batch(scenario, [0])
    data = replace(batch.data, design=np.round(batch.data.design))  # so that records share their predictors
    job = as_passed(replace(scenario, by_area=True).measure_job("Unweighted"))
    rows, sample = measure.measure_batch(job, data, batch.fits["Unweighted"])
    x, synthetic, design = data.x[0], sample["values"]["value"].to_numpy(), data.design[0]
    areas = [(design == row).all(axis=1) for row in {tuple(row) for row in design}]
    assert 1 < len(areas) < len(x)
    squares = [(synthetic[area].mean() - x[area].mean()) ** 2 for area in areas]
    assert rows["area_error"].item() == pytest.approx(np.sqrt(np.mean(squares)) / x.mean())


GINI = """
import numpy as np
from formalsynth.core.utility import utility

@utility("gini", label="Gini coefficient", meaning="0: all values are equal.")
def gini(x):
    n = len(x)
    return 2 * np.arange(1, n + 1) @ np.sort(x) / (n * x.sum()) - (n + 1) / n
"""


def test_an_own_statistic_is_a_column_of_every_data_set_and_changes_no_other(scenario, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(GINI)
    load([str(path)])
    try:
        asked = replace(scenario, utility=("gini",))
        before, after = (collected(given, run_batch(given, [0, 1]))["replicates"] for given in (scenario, asked))
        ok = after["status"] == "ok"
        assert after.loc[ok, "gini"].between(0, 1, inclusive="neither").all()
        assert after.loc[~ok, "gini"].isna().all()
        pd.testing.assert_frame_equal(before.drop(columns="seconds"), after.drop(columns=["gini", "seconds"]))
    finally:
        forget_own()
