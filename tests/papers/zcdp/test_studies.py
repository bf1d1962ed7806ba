"""Studies of the zcdp paper: what their rows and curves are."""

import numpy as np
import pandas as pd
import pytest
from papers.studies import SETTINGS, arm, arms_of, run
from scipy import stats


def test_every_arm_has_a_row_for_each_replicate():
    rows = run("coverage", [0, 1]).rows
    assert rows.groupby("replicate")["synthesizer"].nunique().eq(len(arms_of("coverage"))).all()
    assert not rows.duplicated(["replicate", "synthesizer"]).any()
    assert rows["status"].eq("ok").all()
    assert rows["guarantee"].eq("zCDP").all()


def test_a_rule_that_needs_more_data_sets_is_left_out():
    rows = run("coverage", [0], [arm(name, m=1, n_syn=100) for name in ("plugin_t_f", "plugin_t_s")]).rows
    assert list(rows["synthesizer"]) == ["plugin_t_s_1_100"]


def test_rules_look_at_the_same_synthetic_data():
    rows = run("coverage", [0]).rows
    point = rows.pivot_table(index=["synthesis", "m", "n_syn"], columns="rule", values="point").dropna(subset=["T_s", "T_PPD"])
    assert len(point) == 27
    np.testing.assert_array_equal(point["T_s"], point["T_PPD"])


def test_accounting_is_the_printed_rho_in_the_setting_of_figure_1():
    details = run("accounting", [0]).details
    plugin = details[(details["route"] == "plugin") & (details["conversion"] == "exact")]
    assert np.interp(15625, plugin["n_syn"], plugin["rho"]) == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize(("study", "key", "curves"), [("accounting", "route", 3), ("unknown", "form", 3)])
def test_curves_are_details_under_a_row_for_each_arm(study, key, curves):
    """Three curves for each arm: by conversion, or for mean, variance and total."""
    outcome, arms = run(study, [0]), arms_of(study)
    assert list(outcome.rows["synthesizer"]) == [arm.id for arm in arms]
    assert outcome.rows["replicate"].eq(0).all()
    assert (outcome.details["synthesizer"] == outcome.details[key]).all()
    points = outcome.details["n_syn"].unique()
    assert len(outcome.details) == curves * len(points) * len(arms)
    assert (points == np.round(points)).all() and (np.diff(points) > 0).all()
    assert points[0] == SETTINGS[study]["low"] and points[-1] == SETTINGS[study]["high"]


def test_chosen_curves_are_a_part_of_all():
    """A scenario may ask for one route alone."""
    arms = arms_of("accounting")[:1]
    some, everything = run("accounting", [0], arms, variance=1e-4), run("accounting", [0], variance=1e-4)
    same = everything.details[everything.details["synthesizer"] == arms[0].id].reset_index(drop=True)
    pd.testing.assert_frame_equal(some.details, same)
    assert same["variance"].eq(1e-4).all()


def test_exact_densities_come_with_the_first_replicate_alone():
    first, later = run("means", [0, 1]), run("means", [1])
    assert later.details.empty
    for _, curve in first.details.groupby("synthesizer"):
        assert np.trapezoid(curve["density"], curve["x"]) == pytest.approx(1, abs=1e-4)
    gaussian = first.details[first.details["synthesizer"] == "gaussian_mechanism"]
    assert gaussian["density"].max() == pytest.approx(stats.norm(0, 0.008).pdf(0))
