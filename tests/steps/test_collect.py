"""Collect: batches into tables that do not depend on how they were batched."""

from dataclasses import replace

import numpy as np
import pytest
from formalsynth.design import DATA
from formalsynth.sampler import Fit
from formalsynth.steps import fit as fit_step
from formalsynth.steps.collect import bootstrap_sets, collect_replicates, collect_sample
from formalsynth.utility import STATISTICS, statistics
from small_study import ROOT, exact_sample, run_batch, small_paper


@pytest.fixture(autouse=True)
def exact(monkeypatch):
    monkeypatch.setattr(fit_step, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]


def collected(scenario, batches):
    """The collected replicates of some batches."""
    done = [run_batch(scenario, batch) for batch in batches]
    tables = [table for one in done for table in one[3].values()]
    return collect_replicates(scenario, ROOT, [one[0] for one in done], tables).drop(columns="seconds")


def test_there_is_a_row_for_every_replicate_and_synthesizer_in_the_order_of_the_design(scenario):
    table = collected(scenario, [[0, 1, 2]])
    ids = [DATA, *scenario.synthesizers]
    assert table["synthesizer"].tolist() == ids * 3
    assert table["replicate"].tolist() == [k for k in range(3) for _ in ids]
    assert set(table["status"]) == {"ok", "failed"}
    assert (table.loc[table["status"] == "failed", "synthesizer"] == "nothing").all()


@pytest.mark.parametrize("batches", [[[0], [1], [2]], [[0, 1], [2]], [[2], [1, 0]]])
def test_the_table_does_not_depend_on_the_batches(scenario, batches):
    assert collected(scenario, batches).to_csv() == collected(scenario, [[0, 1, 2]]).to_csv()


def test_the_confidential_data_have_their_own_rows(scenario):
    done = run_batch(scenario, [0, 1])
    table = collect_replicates(scenario, ROOT, [done[0]], list(done[3].values()))
    rows = table[table["synthesizer"] == DATA].reset_index(drop=True)
    for k in range(2):
        expected = statistics(done[0]["x"][k])
        assert [rows.loc[k, name] for name in expected] == list(expected.values())
    assert rows[["delta", "epsilon", "ecdf_max", "rhat_max"]].isna().to_numpy().all()
    assert rows["seed"].nunique() == 2


def test_the_single_samples_tables_hold_what_was_measured(scenario):
    data, fits, measures, _ = run_batch(scenario, [0, 1])
    tables = collect_sample(scenario, ROOT, data, fits, measures)
    records, values, sets = (tables[name] for name in ("records", "values", "sets"))
    ran = [id for id in scenario.synthesizers if id != "nothing"]
    assert records["synthesizer"].unique().tolist() == ran
    assert values["synthesizer"].unique().tolist() == [DATA, *ran]
    assert len(records) == 60 * len(ran)
    for id in ran:
        fit = scenario.synthesizers[id].fit
        of_id = records[records["synthesizer"] == id]
        assert of_id["record"].tolist() == list(range(60))
        assert (of_id["bound"].to_numpy() == measures[fit][f"by_record:{id}"][0]).all()
        assert (of_id["weight"].to_numpy() == fits[fit]["fit_weights"][0]).all()
        assert (values.loc[values["synthesizer"] == id, "value"].to_numpy() == measures[fit]["sample_values"][0]).all()
        assert (sets.loc[sets["synthesizer"] == id, list(STATISTICS)].to_numpy() == measures[fit]["sample_sets"][0]).all()
    assert (records.loc[records["synthesizer"] == "Weighted", "known"] == 0).all()
    known = records.loc[records["synthesizer"] == "averaged_0.4_1.8", "known"]
    assert (known.to_numpy() == fits["averaged_0.4_1.8"]["found:known"][0]).all()
    assert (values.loc[values["synthesizer"] == DATA, "value"].to_numpy() == data["x"][0]).all()
    assert sets.groupby("synthesizer")["set"].apply(list).map(lambda one: one == list(range(12))).all()


def test_a_synthesizer_that_failed_on_the_single_sample_is_absent_from_it(scenario, monkeypatch):
    monkeypatch.setattr(fit_step, "sample", lambda *given: Fit("failed", "no", seed=given[4]))
    data, fits, measures, _ = run_batch(scenario, [0, 1])
    tables = collect_sample(scenario, ROOT, data, fits, measures)
    assert tables["values"]["synthesizer"].unique().tolist() == [DATA]
    assert len(tables["records"]) == 0


def test_bootstrap_sets_are_resamples_of_the_single_sample(tmp_path):
    """Given the data, the mean of a resample has the data's mean and their variance over n."""
    scenario = replace(small_paper(tmp_path).scenarios["skewed_n60"], synthetic_sets=4000)
    data = run_batch(scenario, [1, 0])[0]
    x = data["x"][1]
    sets = dict(zip(STATISTICS, bootstrap_sets(scenario, ROOT, data).T, strict=True))
    error = x.std() / np.sqrt(60)
    assert abs(sets["mean"].mean() - x.mean()) < 5 * error / np.sqrt(4000)
    # the relative error of a standard deviation of nearly normal means is 1 / sqrt(2 * 4000), with room for their skewness
    assert sets["mean"].std() == pytest.approx(error, rel=5 * 1.5 / np.sqrt(2 * 4000))
    assert (sets["q90"] <= x.max()).all()
    assert (sets["q15"] >= x.min()).all()
