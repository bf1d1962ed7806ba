"""Studies: the same rows however the replicates are grouped, and what their settings mean."""

import itertools

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from formalsynth.core.synthesizer import ScenarioKey
from formalsynth.core.words import GUARANTEES
from formalsynth_workflow.jobs.inputs import ArmChoice, StudyJob
from formalsynth_workflow.papers.zcdp import study_accounting, study_coverage, study_means, study_unknown, words  # noqa: F401
from formalsynth_workflow.steps.study import run_study
from formalsynth_workflow.study import STUDIES

NAMES = ("means", "accounting", "unknown", "coverage")
SETTINGS = {
    "means": {"d": 4, "rho": 0.5},
    "accounting": {"d": 4, "delta": 1e-5, "low": 10, "high": 1e6, "points": 26},
    "unknown": {"d": 4, "delta": 1e-5, "low": 10, "high": 1e4, "points": 4},
    "coverage": {"d": 4},
}
RULES = ("t_f", "t_s", "t_ppd")


def plain_arms(study):
    return [ArmChoice(id=name.title(), arm=name, parameters={}) for name in STUDIES[study].arms]


def sets(name, m, n_syn):
    return ArmChoice(id=f"{name}_{m}_{n_syn}", arm=name, parameters={"m": m, "n_syn": n_syn})


COVERAGE = [
    *(sets(f"{k}_{r}", m, n) for k in ("plugin", "bayes") for r in RULES for m in (2, 5, 20) for n in (100, 300, 10_000)),
    *(sets(f"{kind}_t_ppd", 1, n_syn) for kind in ("plugin", "bayes_one_step") for n_syn in (100, 300)),
]


def run(study, replicates, arms=None, **changes):
    key = ScenarioKey(paper="zcdp", paper_id=4, scenario=f"{study}_n1000", number=NAMES.index(study) + 1, n=1000, root=1)
    chosen = arms or (COVERAGE if study == "coverage" else plain_arms(study))
    settings = SETTINGS[study] | changes
    return run_study(
        StudyJob(
            key=key,
            modules=(),
            study=study,
            settings=settings,
            arms=tuple(chosen),
            data_folder="",
            files={},
            replicates=tuple(replicates),
        )
    )


@pytest.mark.parametrize("study", ["means", "coverage"])
def test_grouping_of_replicates_changes_no_number(study):
    together = run(study, [0, 1, 2]).rows
    apart = pd.concat([run(study, [k]).rows for k in range(3)])
    key = ["replicate", "synthesizer"]
    pd.testing.assert_frame_equal(together.sort_values(key).reset_index(drop=True), apart.sort_values(key).reset_index(drop=True))


@pytest.mark.parametrize("study", ["means", "coverage"])
def test_other_arms_change_no_number(study):
    everything = run(study, [0, 1]).rows
    chosen = (COVERAGE if study == "coverage" else plain_arms(study))[2:4]
    some = run(study, [0, 1], chosen).rows
    same = everything[everything["synthesizer"].isin([arm.id for arm in chosen])]
    pd.testing.assert_frame_equal(
        *(table.sort_values(["replicate", "synthesizer"]).reset_index(drop=True) for table in (some, same))
    )


def test_every_arm_has_a_row_for_each_replicate():
    rows = run("coverage", [0, 1]).rows
    assert rows.groupby("replicate")["synthesizer"].nunique().eq(len(COVERAGE)).all()
    assert not rows.duplicated(["replicate", "synthesizer"]).any()
    assert rows["status"].eq("ok").all()
    assert rows["guarantee"].eq("zCDP").all()


def test_a_rule_that_needs_more_data_sets_is_left_out():
    rows = run("coverage", [0], [sets("plugin_t_f", 1, 100), sets("plugin_t_s", 1, 100)]).rows
    assert list(rows["synthesizer"]) == ["plugin_t_s_1_100"]


def test_rules_look_at_the_same_synthetic_data():
    rows = run("coverage", [0]).rows
    point = rows.pivot_table(index=["synthesis", "m", "n_syn"], columns="rule", values="point").dropna(subset=["T_s", "T_PPD"])
    assert len(point) == 18
    np.testing.assert_array_equal(point["T_s"], point["T_PPD"])


def test_accounting_is_the_printed_rho_in_the_setting_of_figure_1():
    details = run("accounting", [0]).details
    plugin = details[(details["route"] == "plugin") & (details["conversion"] == "exact")]
    assert np.interp(15625, plugin["n_syn"], plugin["rho"]) == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(("study", "key", "curves"), [("accounting", "route", 3), ("unknown", "form", 3)])
def test_curves_are_details_under_a_row_for_each_arm(study, key, curves):
    """Three curves for each arm: by conversion, or for mean, variance and total."""
    outcome, arms = run(study, [0]), plain_arms(study)
    assert list(outcome.rows["synthesizer"]) == [arm.id for arm in arms]
    assert outcome.rows["replicate"].eq(0).all()
    assert (outcome.details["synthesizer"] == outcome.details[key].str.title()).all()
    points = outcome.details["n_syn"].unique()
    assert len(outcome.details) == curves * len(points) * len(arms)
    assert (points == np.round(points)).all() and (np.diff(points) > 0).all()
    assert points[0] == SETTINGS[study]["low"] and points[-1] == SETTINGS[study]["high"]


def test_chosen_curves_are_a_part_of_all():
    """A scenario may ask for one route alone."""
    arms = plain_arms("accounting")[:1]
    some, everything = run("accounting", [0], arms, variance=1e-4), run("accounting", [0], variance=1e-4)
    same = everything.details[everything.details["synthesizer"] == arms[0].id].reset_index(drop=True)
    pd.testing.assert_frame_equal(some.details, same)
    assert same["variance"].eq(1e-4).all()


def test_exact_densities_come_with_the_first_replicate_alone():
    first, later = run("means", [0, 1]), run("means", [1])
    assert later.details.empty
    for _, curve in first.details.groupby("synthesizer"):
        assert np.trapezoid(curve["density"], curve["x"]) == pytest.approx(1, abs=1e-4)
    gaussian = first.details[first.details["synthesizer"] == "Gaussian_Mechanism"]
    assert gaussian["density"].max() == pytest.approx(stats.norm(0, 0.008).pdf(0))


def test_arms_say_what_they_are():
    sources = ("plugin", "bayes", "bayes_one_step")
    assert list(STUDIES["coverage"].arms) == [f"{kind}_{rule}" for kind, rule in itertools.product(sources, RULES)]
    for study in NAMES:
        for arm in STUDIES[study].arms.values():
            assert arm.meaning
            assert arm.guarantee in GUARANTEES
            assert list(arm.parameters.model_fields) == (["m", "n_syn"] if study == "coverage" else [])


@pytest.mark.parametrize(
    ("study", "changes", "key"),
    [
        ("coverage", {"d": ...}, "d"),
        ("coverage", {"d": 0}, "d"),
        ("coverage", {"e": 1}, "e"),
        ("coverage", {"level": 1}, "level"),
        ("means", {"rho": -1}, "rho"),
        ("means", {"m": 1.5}, "m"),
        ("accounting", {"delta": 1}, "delta"),
        ("accounting", {"low": 0}, "low"),
        ("unknown", {"high": 10}, "high"),
    ],
)
def test_settings_that_make_no_sense_are_refused(study, changes, key):
    settings = {name: value for name, value in (SETTINGS[study] | changes).items() if value is not ...}
    with pytest.raises(ValidationError) as error:
        STUDIES[study].settings.model_validate(settings)
    assert {problem["loc"] for problem in error.value.errors()} == {(key,)}


@pytest.mark.parametrize("parameters", [{"m": 1}, {"m": 0, "n_syn": 10}, {"m": 2, "n_syn": 1}, {"m": 2.5, "n_syn": 10}])
def test_arms_of_coverage_need_numbers_of_sets_and_records(parameters):
    with pytest.raises(ValidationError):
        STUDIES["coverage"].arms["bayes_t_f"].parameters.model_validate(parameters)
