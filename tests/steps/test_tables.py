"""The tables of a scenario."""

import numpy as np
import pytest
from small_study import as_passed, collected, run_batch, small_paper

from formalsynth import posteriors
from formalsynth.core.model import DATA
from formalsynth.core.utility import UTILITY, statistics
from formalsynth.stan.fit import Fit
from formalsynth_workflow.steps.tables import bootstrap_sets

pytestmark = pytest.mark.usefixtures("exact")


def replicates(scenario, batch):
    """The rows of a batch."""
    return collected(scenario, batch)["replicates"].drop(columns="seconds")


def test_there_is_a_row_for_every_replicate_and_synthesizer_in_the_order_of_the_design(scenario):
    table = replicates(scenario, run_batch(scenario, [0, 2, 1]))
    ids = [DATA, *scenario.synthesizers]
    assert table["synthesizer"].tolist() == ids * 3
    assert table["replicate"].tolist() == [k for k in range(3) for _ in ids]
    assert set(table["status"]) == {"ok", "failed"}
    assert (table.loc[table["status"] == "failed", "synthesizer"] == "nothing").all()


def test_the_confidential_data_have_their_own_rows(scenario):
    batch = run_batch(scenario, [0, 1])
    table, data = replicates(scenario, batch), batch.data
    rows = table[table["synthesizer"] == DATA].reset_index(drop=True)
    for k in range(2):
        expected = statistics(data.x[k])
        assert [rows.loc[k, name] for name in expected] == list(expected.values())
    assert rows[["delta", "epsilon", "ecdf_max", "rhat_max"]].isna().to_numpy().all()
    assert rows["seed"].nunique() == 2


def test_the_centre_of_the_confidential_data_is_their_own_statistic(tmp_path):
    scenario = small_paper(tmp_path, centre_sets=5).scenarios["skewed_n60"]
    table = replicates(scenario, run_batch(scenario, [0, 1]))
    rows = table[table["synthesizer"] == DATA]
    for name in UTILITY:
        assert rows[f"{name}_centre"].tolist() == rows[name].tolist()


def test_the_single_samples_tables_hold_what_was_measured(scenario):
    batch = run_batch(scenario, [0, 1])
    tables = collected(scenario, batch)
    records, values, sets = (tables[name] for name in ("records", "values", "sets"))
    ran = [id for id in scenario.synthesizers if id != "nothing"]
    assert records["synthesizer"].unique().tolist() == ran
    assert values["synthesizer"].unique().tolist() == [DATA, *ran]
    assert len(records) == 60 * len(ran)
    for id in ran:
        fit = batch.fits[id][0]
        of_id = records[records["synthesizer"] == id]
        assert of_id["record"].tolist() == list(range(60))
        assert (of_id["bound"].to_numpy() == fit.by_record).all()
        assert (of_id["weight"].to_numpy() == fit.weights).all()
        for name, table in (("values", values), ("sets", sets)):
            part = batch.sample[id][name]
            assert (table.loc[table["synthesizer"] == id, list(part)].to_numpy() == part.to_numpy()).all()
    assert (records.loc[records["synthesizer"] == "Weighted", "known"] == 0).all()
    known = records.loc[records["synthesizer"] == "averaged_0.4_1.8", "known"]
    assert (known.to_numpy() == batch.fits["averaged_0.4_1.8"][0].outside_share).all()
    assert (values.loc[values["synthesizer"] == DATA, "value"].to_numpy() == batch.data.x[0]).all()
    assert sets.groupby("synthesizer")["set"].apply(list).map(lambda numbers: numbers == list(range(12))).all()


def test_a_synthesizer_that_failed_on_the_single_sample_is_absent_from_it(scenario, monkeypatch):
    monkeypatch.setattr(posteriors, "sample", lambda *given: Fit("failed", "no", seed=given[4]))
    tables = collected(scenario, run_batch(scenario, [0, 1]))
    assert tables["values"]["synthesizer"].unique().tolist() == [DATA]
    assert len(tables["records"]) == 0


def test_the_tables_of_the_single_sample_do_not_depend_on_its_place(scenario):
    first, last = (collected(scenario, run_batch(scenario, batch)) for batch in ([0, 1], [1, 0]))
    for name in ("records", "values", "sets", "draws"):
        assert first[name].equals(last[name])
        assert len(first[name])


def test_bootstrap_sets_are_resamples_of_the_single_sample(tmp_path):
    """Given the data, the mean of a resample has the data's mean and their variance over n."""
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    data = run_batch(scenario, [1, 0]).data
    x = data.x[1]
    job = as_passed(scenario.collect_job()).model_copy(update={"synthetic_sets": 4000})
    sets = dict(zip(UTILITY, bootstrap_sets(job, data).T, strict=True))
    error = x.std() / np.sqrt(60)
    assert abs(sets["mean"].mean() - x.mean()) < 5 * error / np.sqrt(4000)
    # the relative error of a standard deviation of nearly normal means is 1 / sqrt(2 * 4000), with room for their skewness
    assert sets["mean"].std() == pytest.approx(error, rel=5 * 1.5 / np.sqrt(2 * 4000))
    assert (sets["q90"] <= x.max()).all()
    assert (sets["q15"] >= x.min()).all()
