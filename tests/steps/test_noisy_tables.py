"""A run of noisy tables from config to the tables of a batch, with Stan and the audit, as the workflow runs it."""

import pytest
from small_study import AUDIT, PAPER, RUN, audited_tables, run_batch

from formalsynth.core.registry import forget_own
from formalsynth.settings.messages import ConfigError
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.plan.load import plan_of, read_plan

TABLES = {
    "mechanism": "noisy_tables",
    "parameters": {"epsilon": 2, "low": 0.05, "high": 8000, "bins": 12, "x_low": -1, "x_high": 5, "x_bins": 6},
    "colours": ["#123456"],
}


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
    plan = planned(tmp_path, audit=AUDIT | {"replicates": 1, "synthesizers": ["tables"]})
    assert plan.programs() == ["linear_regression", "noisy_tables"]
    scenario = plan.papers["small"].scenarios["skewed_n300"]
    assert {id: scenario.program_of(id) for id in scenario.synthesizers} == {
        "Unweighted": "linear_regression", "tables": "noisy_tables",
    }  # fmt: skip
    batch = run_batch(scenario, [0, 1], {id: compiled(scenario.program_of(id)) for id in scenario.synthesizers})
    tables = audited_tables(scenario, batch)
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


PROGRAM = """
data { int<lower=0> n; vector[n] x; vector<lower=0>[n] weights; }
parameters { real mu; }
model { mu ~ normal(0, 9); for (i in 1:n) target += weights[i] * normal_lpdf(x[i] | mu, 1); }
generated quantities { vector[n] log_lik; vector[n] x_rep; MORE }
"""


@pytest.mark.parametrize(
    ("more", "lower", "message"),
    [("", 0, "generate vector\\[n\\] log_cdf"), ("vector[n] log_cdf;", 1, "bins from 0.05 to 8000 inside the declared bounds")],
)
def test_programs_without_a_distribution_function_or_with_other_bounds_are_refused(tmp_path, more, lower, message):
    import yaml

    (tmp_path / "own.stan").write_text(PROGRAM.replace("MORE", more), encoding="utf-8")
    population = {"name": "lognormal_on_normal", "predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 1}
    scenario = {
        "family": {"stan": "own.stan", "lower": lower}, "population": population, "n": 50, "replicates": 2,
        "synthesizers": ["tables"],
    }  # fmt: skip
    study = tmp_path / "own.yaml"
    study.write_text(yaml.safe_dump({"title": "Own", "synthesizers": {"tables": TABLES}, "scenarios": {"s": scenario}}))
    try:
        with pytest.raises(ConfigError, match=message):
            plan_of(REPOSITORY / "config", papers=[], study=str(study))
    finally:
        forget_own()
