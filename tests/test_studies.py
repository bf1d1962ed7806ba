"""Studies: the same rows however the replicates are grouped, and what their settings mean."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth.config import ConfigError
from formalsynth.design import read_plan
from formalsynth.steps.study import run_study

CONFIG = Path(__file__).parents[1] / "config"


@pytest.fixture(scope="module")
def plan():
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"scale": "smoke", "papers": ["zcdp", "reps"]}
    return read_plan(run, CONFIG)


def scenario(plan, paper, name):
    return plan.papers[paper].of(name)[0]


@pytest.mark.parametrize("name", ["means", "coverage"])
def test_grouping_of_replicates_changes_no_number(plan, name):
    one = scenario(plan, "zcdp", name)
    together, _ = run_study(one, 1, [0, 1, 2], "")
    apart = pd.concat([run_study(one, 1, [k], "")[0] for k in range(3)])
    key = ["replicate", "synthesizer"]
    pd.testing.assert_frame_equal(together.sort_values(key).reset_index(drop=True), apart.sort_values(key).reset_index(drop=True))


def test_every_synthesizer_has_a_row_for_each_replicate(plan):
    one = scenario(plan, "zcdp", "coverage")
    rows, _ = run_study(one, 1, [0, 1], "")
    assert rows.groupby("replicate")["synthesizer"].nunique().eq(len(one.synthesizers)).all()
    assert not rows.duplicated(["replicate", "synthesizer"]).any()
    assert rows["status"].eq("ok").all()
    assert rows["guarantee"].eq("zCDP").all()


def test_rules_look_at_the_same_synthetic_data(plan):
    rows, _ = run_study(scenario(plan, "zcdp", "coverage"), 1, [0], "")
    point = rows.pivot_table(index=["synthesis", "m", "n_syn"], columns="rule", values="point").dropna(subset=["T_s", "T_PPD"])
    assert len(point) == 30
    np.testing.assert_array_equal(point["T_s"], point["T_PPD"])


def test_accounting_is_the_printed_rho_in_the_setting_of_figure_1(plan):
    _, details = run_study(scenario(plan, "zcdp", "accounting"), 1, [0], "")
    plugin = details[(details["route"] == "plugin") & (details["conversion"] == "exact")]
    assert np.interp(15625, plugin["n_syn"], plugin["rho"]) == pytest.approx(0.5, rel=1e-6)


def test_protection_gives_one_row_for_each_method_and_budget(plan):
    one = scenario(plan, "reps", "breast_cancer")
    rows, details = run_study(one, 1, [0], "")
    assert list(rows["synthesizer"]) == list(one.synthesizers)
    assert rows.set_index("synthesizer").loc["Non_private", "epsilon"] == np.inf
    assert rows["tstr"].between(0, 1).all()
    assert set(details["decile"]) == set(range(1, 11))
    assert rows["n"].lt(one.n).all(), "n is the number of training records"


def test_absent_data_skip_the_scenario_and_say_so(monkeypatch, tmp_path):
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"papers": ["reps"], "data_folder": str(tmp_path)}
    found = read_plan(run, CONFIG)
    assert not found.papers["reps"].of("adult")
    assert any("adult.data" in line for line in found.skipped)
    assert 3 not in found.papers["reps"].tables, "a table of a skipped scenario is not planned"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: coverage", "name: covrage", "scenarios.coverage.study.name: given 'covrage'; allowed: "),
        ("name: coverage, d: 4", "name: coverage", "scenarios.coverage.study: d is missing"),
        ("name: coverage, d: 4", "name: coverage, d: 4, e: 1", "scenarios.coverage.study: given 'e'; allowed: "),
        (
            "[Synthetic, Gaussian,",
            "[Synthetic, bayes_T_f,",
            "scenarios.means.synthesizers: given 'bayes_T_f'; allowed: another one: it is for the study coverage",
        ),
    ],
)
def test_bad_settings_name_the_key(tmp_path, old, new, message):
    (tmp_path / "papers").mkdir()
    text = (CONFIG / "papers" / "zcdp.yaml").read_text()
    assert old in text
    (tmp_path / "papers" / "zcdp.yaml").write_text(text.replace(old, new, 1))
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"papers": ["zcdp"]}
    with pytest.raises(ConfigError) as error:
        read_plan(run, tmp_path)
    assert message in str(error.value)


def test_bad_settings_of_the_experiments_name_the_key(tmp_path):
    (tmp_path / "papers").mkdir()
    text = (CONFIG / "papers" / "reps.yaml").read_text().replace("{ queries: 500 }", "{ queries: 1 }")
    (tmp_path / "papers" / "reps.yaml").write_text(text)
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"papers": ["reps"]}
    with pytest.raises(ConfigError, match=r"scenarios\.adult\.study\.settings\.queries"):
        read_plan(run, tmp_path)
