"""A run of noisy tables from config to the tables of a batch, with Stan and the audit, as the workflow runs it."""

import shutil

import pytest
from formalsynth.core.registry import load
from formalsynth.plan.load import read_plan
from formalsynth.plan.messages import ConfigError
from formalsynth.steps.run import run_batch
from small_study import PAPER, RUN, SETTINGS, as_passed

TABLES = {
    "mechanism": "noisy_tables",
    "parameters": {"epsilon": 2, "low": 0.05, "high": 8000, "bins": 12, "x_low": -1, "x_high": 5, "x_bins": 6},
    "colours": ["#123456"],
}
AUDIT = {
    "outcome": {"low": 0.01, "high": 1e4, "points": 2, "log": True}, "predictors": [{"low": -2, "high": 6, "points": 2}],
    "each": 1, "random": 1, "refined": 1, "replicates": 1, "synthesizers": ["tables"],
}  # fmt: skip


def planned(folder, **changes):
    """A plan whose scenario has noisy tables."""
    import yaml

    scenario = PAPER["scenarios"]["skewed"] | {"synthesizers": ["Unweighted", "tables"], "n": 300, "replicates": 2} | changes
    paper = {
        **{key: PAPER[key] for key in ("id", "title", "authors")},
        "synthesizers": {"Unweighted": PAPER["synthesizers"]["Unweighted"], "tables": TABLES},
        "scenarios": {"skewed": scenario},
    }
    (folder / "papers").mkdir(exist_ok=True)
    (folder / "papers" / "small.yaml").write_text(yaml.safe_dump(paper, sort_keys=False), encoding="utf-8")
    return read_plan(RUN, folder)


def test_a_batch_has_noisy_tables_fitted_measured_and_audited(tmp_path, compiled):
    plan = planned(tmp_path, audit=AUDIT)
    assert plan.programs() == ["linear_regression", "noisy_tables"]
    scenario = plan.papers["small"].scenarios["skewed_n300"]
    assert scenario.public_programs == ["noisy_tables"]
    job = as_passed(scenario.batch_job("0000", SETTINGS))
    load(job.modules)
    program, folder = tmp_path / "noisy_tables", tmp_path / "batch"
    shutil.copy2(compiled("noisy_tables"), program)
    folder.mkdir()
    tables = run_batch(job, folder, compiled("linear_regression"), [program])
    rows = tables["replicates"][tables["replicates"].synthesizer == "tables"]
    assert rows.status.tolist() == ["ok", "ok"], rows.reason.tolist()
    assert (rows.epsilon == 2).all()
    assert rows.delta.isna().all()
    # the largest of 300 differences has a standard deviation near 0.03
    assert (rows.ecdf_max < 0.3).all()
    assert rows.ecdf_max.gt(0).all()
    worst = tables["audit"][tables["audit"].synthesizer == "tables"]
    assert set(worst.neighbour) == {"remove", "add", "replace"}
    exact = worst[worst.delta == worst.delta.min()]
    assert (worst.audited <= 4 + 1e-9).all()
    assert (exact.audited > 1.9).all()
    assert worst[worst.neighbour != "replace"].audited.max() <= 2 + 1e-9


@pytest.mark.parametrize(("changes", "message"), [({"exact": True}, "no noisy tables with exact: true")])
def test_scenarios_that_cannot_have_noisy_tables_are_refused(tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        planned(tmp_path, **changes)
