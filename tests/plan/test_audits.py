"""The audit that a scenario asks for: its input, and invalid entries that are refused before any job starts."""

import pytest

from formalsynth.audit.exact import EXACT as REGISTER
from formalsynth.settings.messages import ConfigError
from formalsynth_workflow.plan.audits import EXACT

AUDIT = {
    "outcome": {"low": 0.01, "high": 1e4, "points": 4, "log": True},
    "predictors": [{"low": -2, "high": 6, "points": 2}],
    "replicates": 20,
}


@pytest.fixture(scope="module")
def job_of(plan_of):
    """Input of the audit of the simulation, and the warnings of the plan."""

    def job_of(batch="0000-0014", scale="paper", **changes):
        plan = plan_of("range", scale, **{"scenarios.simulation.audit": AUDIT | changes, "scenarios.simulation.batch_size": 15})
        scenario = next(scenario for scenario in plan.papers["range"].scenarios.values() if scenario.name == "simulation")
        return scenario.audit_job(batch, plan.config.sampler), plan.warnings

    return job_of


def test_the_plan_finds_the_exact_posteriors_that_the_audit_registers():
    REGISTER.find()
    assert {name: REGISTER.module(name) for name in REGISTER} == EXACT


def test_the_first_data_sets_are_audited_with_every_synthesizer_and_what_it_is_built_on(job_of):
    job, warnings = job_of()
    assert job.replicates == tuple(range(15))
    assert job_of("0015-0029")[0].replicates == tuple(range(15, 20))
    assert job_of("0030-0044")[0] is None
    assert job.outcomes == pytest.approx((0.01, 1, 100, 10000))
    assert job.predictors == ((-2, 6),)
    assert job.audited == tuple(synthesizer.id for synthesizer in job.synthesizers)
    assert "formalsynth.audit.exact_linear" in job.modules
    assert warnings == []


def test_only_what_is_named_is_audited_and_its_parents_run(job_of):
    job, _ = job_of(synthesizers=["averaged"])
    assert [synthesizer.id for synthesizer in job.synthesizers] == ["Unweighted", *job.audited]
    assert len(job.audited) == 2


def test_a_small_scale_has_a_coarse_grid(job_of):
    job, _ = job_of(scale="smoke", attack=1000)
    assert len(job.outcomes) == 2
    assert job.search.attack < 1000
    assert job.replicates == (0, 1)


def test_whole_numbers_are_tried_once(plan_of):
    audit = {"outcome": {"low": 0, "high": 3, "points": 9, "whole": True}}
    plan = plan_of("reweight", **{"scenarios.mixture.audit": audit})
    scenario = next(scenario for scenario in plan.papers["reweight"].scenarios.values() if scenario.name == "mixture")
    assert scenario.audit.outcomes == (0, 1, 2, 3)
    assert "outcome" in plan.warnings[-1]


def test_shares_can_be_evenly_spaced_as_log_odds(plan_of):
    audit = {"outcome": {"low": 0.1, "high": 0.9, "points": 3, "logit": True}}
    plan = plan_of("censor", **{"scenarios.simulation.audit": audit | {"synthesizers": ["Unweighted"]}})
    scenario = next(scenario for scenario in plan.papers["censor"].scenarios.values() if scenario.name == "simulation")
    assert scenario.audit.outcomes == pytest.approx((0.1, 0.5, 0.9))
    audit["outcome"] |= {"high": 0.99, "points": 4}
    plan = plan_of("censor", **{"scenarios.simulation.audit": audit | {"synthesizers": ["Unweighted"]}})
    scenario = next(scenario for scenario in plan.papers["censor"].scenarios.values() if scenario.name == "simulation")
    odds = [x / (1 - x) for x in scenario.audit.outcomes]
    assert [odds[k + 1] / odds[k] for k in range(3)] == pytest.approx([891 ** (1 / 3)] * 3)


def test_ranges_that_leave_out_data_are_a_warning(job_of):
    (warning,) = job_of(outcome={"low": 5, "high": 50})[1]
    assert warning.startswith("range: Section 4.1 (simulation): the audit declares 5 to 50 for the outcome, and ")


def gamma(plan_of, **changes):
    """The audit of a regression whose posterior is not known exactly."""
    audit = {"outcome": {"low": 0.01, "high": 100}, "predictors": AUDIT["predictors"]} | changes
    changed = {"scenarios.simulation.audit": audit, "scenarios.simulation.family": "gamma_regression"}
    plan = plan_of("range", "smoke", **changed)
    scenario = next(scenario for scenario in plan.papers["range"].scenarios.values() if scenario.name == "simulation")
    return scenario.audit_job("0000-0000", plan.config.sampler), plan.config.sampler


def test_an_audit_without_exact_posteriors_gets_the_sampler(plan_of):
    job, sampler = gamma(plan_of)
    assert job.sampler == sampler
    assert "formalsynth_workflow.steps.sampling" in job.modules
    assert job.search.deltas == (0.001,)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"attack": 100}, "an attack"), ({"streams": 5}, "mixtures"), ({"deltas": [1e-3, 1e-5]}, "at least 0.001")],
)
def test_what_draws_alone_do_not_tell_is_refused(plan_of, changes, words):
    with pytest.raises(ConfigError, match=words):
        gamma(plan_of, **changes)
