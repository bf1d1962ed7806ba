"""Another budget, sensitive range, sample size or scaling constant in config is run and shown, without a change of code."""

import pandas as pd
import pytest
import yaml
from formalsynth.design import read_plan
from formalsynth.steps.show import figure_table


@pytest.fixture
def plan_with(repository, tmp_path):
    """The plan of one shipped paper after a change of its config."""

    def plan_with(key, change):
        run = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
        paper = yaml.safe_load((repository / "config" / "papers" / f"{key}.yaml").read_text(encoding="utf-8"))
        change(paper)
        (tmp_path / "papers").mkdir(exist_ok=True)
        (tmp_path / "papers" / f"{key}.yaml").write_text(yaml.safe_dump(paper), encoding="utf-8")
        return read_plan(run | {"papers": [key]}, tmp_path).papers[key]

    return plan_with


def test_another_budget_is_another_panel(plan_with):
    paper = plan_with("censor", lambda paper: paper["sweeps"].update(epsilon=[5, 4, 3, 2]))
    assert {"Weighted_e_2", "Censor_w_2", "Censor_uw_2", "PH_2"} <= set(paper.scenarios["simulation_n2000"].synthesizers)
    figure = paper.display("figures", "2", "paper")
    assert [one["title"] for one in figure.panels] == ["ε = 5", "ε = 4", "ε = 3", "ε = 2"]
    rows = [{"scenario": "simulation_n2000", "n": 2000, "replicate": 0, "synthesizer": id, "delta": 1.0} for id in figure.ids]
    table = figure_table(figure, [pd.DataFrame(rows).assign(paper="censor")])
    new = table[table["panel"] == "ε = 2"]
    assert new["synthesizer"].tolist() == ["Weighted", "Weighted_e_2", "Censor_w_2", "Censor_uw_2"]
    assert (new["line"] == 1.0).all()


def test_another_range_stands_beside_the_others(plan_with):
    paper = plan_with("range", lambda paper: paper["sweeps"]["range"].append({"a": 0.5, "b": 1.5}))
    shown = paper.display("figures", "2", "paper")
    assert shown.ids[-2:] == ["averaged_0.5_1.5", "truncated_0.5_1.5"]
    assert shown.looks["averaged_0.5_1.5"]["label"] == "(0.5, 1.5) avg"


def test_another_sample_size_and_scaling_constant_are_run(plan_with):
    paper = plan_with("range", lambda paper: paper["scenarios"]["contraction"]["n"].append(800))
    assert "contraction_n800" in paper.scenarios
    paper = plan_with("censor", lambda paper: paper["synthesizers"]["Weighted_scaled"]["parameters"].update(c=0.6))
    assert paper.scenarios["simulation_n2000"].synthesizers["Weighted_scaled"].parameters == {"c": 0.6}
