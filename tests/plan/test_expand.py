"""Scales, fan-outs over sweeps, and parents in a plan, from config alone."""

import itertools

import pandas as pd
import pytest

from formalsynth.core.model import DATA
from formalsynth_workflow.show.tidy import figure_table

NOTHING_SHOWN = {"figures": {}, "tables": {}, "telling": [], "claims": []}
"""Without figures, tables and claims, which name ids that a change may take away."""


@pytest.fixture
def paper(plan_of, fatigue):
    """The range paper as it is shipped."""
    return plan_of("range").papers["range"]


@pytest.fixture
def paper_of(plan_of, fatigue):
    """A paper with some of its config changed."""
    return lambda key, **changes: plan_of(key, **changes).papers[key]


def test_the_shipped_config_is_the_papers_design(plan_of, paper):
    plan = plan_of("range")
    assert plan.skipped == []
    assert plan.programs() == ["linear_regression"]
    simulation = paper.scenarios["simulation_n2000"]
    assert (simulation.n, simulation.replicates, simulation.family) == (2000, 100, "lognormal_regression")
    contraction = [scenario for scenario in paper.scenarios.values() if scenario.name == "contraction"]
    assert [(scenario.id, scenario.n, scenario.replicates) for scenario in contraction] == [
        (f"contraction_n{n}", n, 100) for n in (200, 400, 1600, 6400)
    ]
    assert (paper.scenarios["fatigue"].n, paper.scenarios["fatigue"].replicates) == (19, 1)
    assert {"1", "2", "3", "4", "5", "15", "16", "19", "20"} <= set(paper.figures)
    assert 1 in paper.tables


def test_a_scale_makes_things_smaller_and_never_larger(plan_of, paper):
    small = plan_of("range", "smoke").papers["range"].scenarios
    assert len(paper.scenarios) == len(small)
    for full, less in zip(paper.scenarios.values(), small.values(), strict=True):
        assert less.replicates <= min(full.replicates, 2)
        assert less.synthetic_sets <= full.synthetic_sets
        assert less.n == (full.n if full.name.startswith("fatigue") else -(-full.n // 10))
        assert less.key.number == full.key.number


def test_synthesizers_fan_out_over_their_sweeps(paper):
    assert paper.expanded.groups["averaged"] == ["averaged_0.4_1.8", "averaged_0.6_1.2"]
    synthesizer = paper.scenarios["simulation_n2000"].synthesizers["truncated_0.6_1.2"]
    assert synthesizer.parameters == {"a": 0.6, "b": 1.2}
    assert (synthesizer.mechanism, synthesizer.parents, synthesizer.fit) == ("range_truncated", ("Unweighted",), "Weighted")


def test_a_longer_sweep_is_all_that_a_new_range_takes(paper_of):
    ranges = [{"a": 0.4, "b": 1.8}, {"a": 0.6, "b": 1.2}, {"a": 0.9, "b": 1.1}]
    paper = paper_of("range", **{"sweeps.range": ranges})
    assert paper.expanded.groups["averaged"][-1] == "averaged_0.9_1.1"
    assert "truncated_0.9_1.1" in paper.scenarios["fatigue"].synthesizers
    assert paper.expanded.looks["averaged_0.9_1.1"].label == "(0.9, 1.1) avg"
    shown = paper.figure("2", "paper")
    assert shown.ids[-2:] == ("averaged_0.9_1.1", "truncated_0.9_1.1")
    assert shown.looks["averaged_0.9_1.1"].label == "(0.9, 1.1) avg"


def test_several_sweeps_make_their_product(paper_of):
    changes = {
        "sweeps.c": [0.5, 1],
        "synthesizers.averaged.over": ["range", "c"],
        "synthesizers.averaged.id": "averaged_{a}_{b}_{c}",
    }
    ids = paper_of("range", **NOTHING_SHOWN | changes).expanded.groups["averaged"]
    assert ids == [f"averaged_{a}_{b}_{c}" for (a, b), c in itertools.product([(0.4, 1.8), (0.6, 1.2)], ["0.5", "1"])]


def test_random_streams_of_synthesizers_never_meet(paper, paper_of):
    # a range may be open above
    for changed in (paper, paper_of("range", **NOTHING_SHOWN | {"sweeps.range.0.b": float("inf")})):
        for scenario in changed.scenarios.values():
            words = [fitted.words for fitted in scenario.synthesizers.values() if fitted.fit == fitted.id]
            assert len(set(words)) == len(words)


def test_parents_come_before_their_children(paper):
    for scenario in paper.scenarios.values():
        ids = list(scenario.synthesizers)
        for synthesizer in scenario.synthesizers.values():
            needed = (*synthesizer.parents, synthesizer.fit)
            assert all(ids.index(id) <= ids.index(synthesizer.id) for id in needed)


def test_a_synthesizer_brings_what_it_builds_on(paper_of):
    paper = paper_of("range", **NOTHING_SHOWN | {"scenarios.simulation.synthesizers": ["truncated"]})
    scenario = paper.scenarios["simulation_n2000"]
    assert {id: synthesizer.fit for id, synthesizer in scenario.synthesizers.items()} == {
        "Unweighted": "Unweighted", "Weighted": "Weighted", "truncated_0.4_1.8": "Weighted", "truncated_0.6_1.2": "Weighted",
    }  # fmt: skip


def test_nested_lists_alternate(paper):
    order = paper.order([DATA, "Unweighted", ["averaged", "truncated"]])
    assert order == [DATA, "Unweighted", "averaged_0.4_1.8", "truncated_0.4_1.8", "averaged_0.6_1.2", "truncated_0.6_1.2"]


def test_another_budget_is_another_panel(paper_of):
    paper = paper_of("censor", **{"sweeps.epsilon": [5, 4, 3, 2], "claims": []})
    assert {"Weighted_e_2", "Censor_w_2", "Censor_uw_2", "PH_2"} <= set(paper.scenarios["simulation_n2000"].synthesizers)
    figure = paper.figure("2", "paper")
    assert [panel.title for panel in figure.panels] == ["ε = 5", "ε = 4", "ε = 3", "ε = 2"]
    rows = [{"scenario": "simulation_n2000", "n": 2000, "replicate": 0, "synthesizer": id, "delta": 1.0} for id in figure.ids]
    table = figure_table(figure, [pd.DataFrame(rows).assign(paper="censor")])
    new = table[table["panel"] == "ε = 2"]
    assert new["synthesizer"].tolist() == ["Weighted", "Weighted_e_2", "Censor_w_2", "Censor_uw_2"]
    assert (new["line"] == 1.0).all()


def test_another_sample_size_and_scaling_constant_are_run(paper_of):
    assert "contraction_n800" in paper_of("range", **{"scenarios.contraction.n": [200, 400, 800, 1600, 6400]}).scenarios
    paper = paper_of("censor", **{"synthesizers.Weighted_scaled.parameters.c": 0.6})
    assert paper.scenarios["simulation_n2000"].synthesizers["Weighted_scaled"].parameters == {"c": 0.6}
