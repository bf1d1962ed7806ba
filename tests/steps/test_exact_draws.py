"""Exact draws in place of Stan's."""

import numpy as np
import pytest
import small_study
from oracles import posterior
from scipy import stats
from small_study import SETTINGS, as_passed, audited_tables, small_paper

from formalsynth.core.registry import load
from formalsynth.settings.messages import ConfigError
from formalsynth_workflow.steps.fit import fit_batch
from formalsynth_workflow.steps.simulate import simulate_batch

AUDIT = small_study.AUDIT | {"random": 0}


def scenario_of(folder, **changes):
    return small_paper(folder, exact=True, **changes).scenarios["skewed_n60"]


def test_draws_are_of_the_posterior_in_closed_form(tmp_path):
    scenario = scenario_of(tmp_path)
    assert scenario.program_of("Unweighted") == ""
    job = as_passed(scenario.fit_job("Unweighted", SETTINGS.model_copy(update={"draws": 4000})))
    load(job.modules)
    data = simulate_batch(scenario.simulate_job("0000-0002"))
    for k, fit in enumerate(fit_batch(job, data, {})):
        records = data.records(k)
        exact = posterior(records.design, np.log(records.x), np.ones(60))
        for uniforms in exact.uniforms(fit.draws).T:
            assert stats.kstest(uniforms, "uniform").pvalue > 1e-6
        assert fit.diagnostics["ess_bulk_min"] > 2000
        assert fit.diagnostics["rhat_max"] < 1.02


def test_the_bound_is_the_claim_of_the_audit(tmp_path):
    tables = audited_tables(scenario_of(tmp_path, audit=AUDIT))
    claimed = tables["audit"].groupby(["replicate", "synthesizer"])["claimed"].first()
    epsilon = tables["replicates"].set_index(["replicate", "synthesizer"])["epsilon"]
    assert len(claimed) == 6
    assert epsilon[claimed.index].to_numpy() == pytest.approx(claimed.to_numpy(), rel=1e-6)


def test_a_strict_mechanism_claims_its_parameter_where_nothing_is_clipped(tmp_path, monkeypatch):
    """Shares that are uniform have bounded log-likelihoods, so the bound on these data is far below half of epsilon."""
    strict = {"Censor_uw": {"mechanism": "censored_unweighted", "parameters": {"epsilon": 20}, "colours": ["#c081e7"]}}
    shown = {"figures": {}, "tables": {}}
    monkeypatch.setattr(small_study, "PAPER", small_study.PAPER | {"synthesizers": strict} | shown)
    audit = AUDIT | {"outcome": {"low": 0.001, "high": 0.999, "points": 2}, "predictors": [], "synthesizers": ["Censor_uw"]}
    uniform = {"name": "beta", "shape1": 1, "shape2": 1}
    tables = audited_tables(scenario_of(tmp_path, family="beta", population=uniform, synthesizers=["Censor_uw"], audit=audit))
    rows = tables["replicates"][tables["replicates"]["synthesizer"] == "Censor_uw"]
    assert rows["epsilon"].tolist() == [20, 20, 20]
    assert rows["affected"].tolist() == [0, 0, 0]
    assert rows["delta"].between(0.5, 9).all()
    claims = tables["audit"].groupby("neighbour")[["claimed", "claimed_larger"]].agg(["min", "max"])
    assert {kind: set(row) for kind, row in zip(claims.index, claims.to_numpy(), strict=True)} == {
        "same": {20}, "remove": {20}, "add": {20}, "replace": {40},
    }  # fmt: skip


def test_a_family_without_an_exact_posterior_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"exact: .*no exact posterior is known for family gamma_regression"):
        small_paper(tmp_path, exact=True, family="gamma_regression")
