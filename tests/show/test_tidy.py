"""Tidy tables of figures: their rows and order, frames, dashed lines, guarantees, and the mark of stand-in data."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.displays.display import Panel, Printed
from formalsynth.show.tidy import figure_table
from made_up_displays import figure_of, rows_of, scenario_of


def test_rows_stand_in_the_order_of_synthesizers_and_then_of_sizes():
    sizes = [scenario_of("first", n=40), scenario_of("first", n=20)]
    display = figure_of(ids=("B", "A"), scenarios=sizes, frames=[Panel(title="", ids=("B", "A"), epsilon=None)])
    tidy = figure_table(display, [rows_of(scenario) for scenario in sizes])
    order = tidy[["synthesizer", "n"]].drop_duplicates().to_numpy().tolist()
    assert order == [["B", 20], ["B", 40], ["A", 20], ["A", 40]]
    assert list(tidy) == ["paper", "scenario", "n", "replicate", "synthesizer", "value", "panel", "label", "line", "guarantee"]


def test_several_columns_are_a_frame_each_next_to_the_frames_of_a_parameter():
    scenario = scenario_of("first")
    frames = [Panel(title=f"ε = {k}", ids=(id,), epsilon=k) for k, id in ((5, "A"), (4, "B"))]
    display = figure_of(scenarios=[scenario], value=["q15", "speed"], frames=frames, kind="violin")
    tidy = figure_table(display, [rows_of(scenario, q15=1.0, speed=2.0)])
    assert tidy["panel"].unique().tolist() == ["ε = 5, 15 % quantile", "ε = 5, speed", "ε = 4, 15 % quantile", "ε = 4, speed"]
    assert tidy.groupby("panel")["value"].unique().map(list).tolist() == [[1.0], [2.0]] * 2


@pytest.mark.parametrize(
    ("line", "expected"), [("none", [np.nan] * 2), ("half_epsilon", [2.5, 2.0]), ("population", [0.7] * 2), (0.95, [0.95] * 2)]
)
def test_each_frame_has_the_place_of_its_dashed_line(line, expected):
    scenario = scenario_of("first")
    frames = [Panel(title=f"ε = {k}", ids=(id,), epsilon=k) for k, id in ((5.0, "A"), (4.0, "B"))]
    display = figure_of(scenarios=[scenario], frames=frames, line=line, truths={"delta": 0.7}, where={"epsilon": 5})
    tidy = figure_table(display, [rows_of(scenario)])
    np.testing.assert_array_equal(tidy.groupby("panel", sort=False)["line"].first(), expected)


def test_only_the_rows_that_are_asked_for_and_the_points_of_lines():
    scenario = scenario_of("first", replicates=4)
    rows = rows_of(scenario, x=[1.0, 2.0, 1.0, 2.0] * 2, part=["a", "a", "b", "b"] * 2)
    display = figure_of(scenarios=[scenario], kind="line", x="x", rows={"part": "a"}, at={"A": 1.0, "B": 2.0})
    tidy = figure_table(display, [rows])
    assert tidy["x"].tolist() == [1.0, 2.0] * 2
    assert tidy["at"].tolist() == [1.0, 1.0, 2.0, 2.0]


def test_a_line_against_a_parameter_has_its_values_across():
    scenario = scenario_of("first")
    display = figure_of(scenarios=[scenario], kind="line", at={"A": 1.0, "B": None})
    tidy = figure_table(display, [rows_of(scenario)])
    assert "at" not in tidy
    assert tidy.groupby("synthesizer")["x"].first().dropna().to_dict() == {"A": 1.0}


def test_exact_densities_stand_below_the_values_of_their_synthesizers():
    scenario = scenario_of("first")
    details = rows_of(scenario, ids=("A", "C"), count=2).drop(columns="delta").assign(x=0.5, density=0.2)
    display = figure_of(scenarios=[scenario], kind="density", exact=True)
    assert display.figure.tables() == ["replicates", "details"]
    tidy = figure_table(display, [rows_of(scenario), details])
    assert tidy["density"].notna().sum() == 2
    assert tidy.loc[tidy["density"].notna(), "synthesizer"].tolist() == ["A", "A"]
    assert tidy.loc[tidy["density"].notna(), "value"].isna().all()


@pytest.mark.parametrize(
    ("stand_ins", "marks"),
    [
        ((), None),
        (("first", "second"), {"first": "STAND-IN", "second": "STAND-IN"}),
        (("second",), {"first": "", "second": "STAND-IN"}),
        (("first",), {"first": "STAND-IN", "second": ""}),
    ],
)
def test_the_rows_of_each_stand_in_are_marked_whichever_scenario_comes_first(stand_ins, marks):
    scenarios = [scenario_of(name, stand_in=name in stand_ins) for name in ("first", "second")]
    tidy = figure_table(figure_of(scenarios=scenarios), [rows_of(scenario) for scenario in scenarios])
    if marks is None:
        assert "data" not in tidy
    else:
        assert list(tidy)[-1] == "data"
        for name, mark in marks.items():
            assert tidy.loc[tidy["scenario"] == f"{name}_n20", "data"].unique().tolist() == [mark]


def test_a_table_without_the_column_is_left_out():
    scenario = scenario_of("first")
    tidy = figure_table(figure_of(scenarios=[scenario]), [pd.DataFrame({"other": [1.0]}), rows_of(scenario)])
    assert len(tidy) == 6


def test_printed_values_are_only_in_the_rows_of_their_cells():
    scenario = scenario_of("first", replicates=2)
    display = figure_of(scenarios=[scenario], kind="violin")
    assert "printed_low" not in figure_table(display, [rows_of(scenario)])
    printed = [Printed(scenario=scenario.id, column="delta", id="B", low=1.0, high=3.0)]
    tidy = figure_table(display.model_copy(update={"printed": tuple(printed)}), [rows_of(scenario)])
    assert tidy.loc[tidy["synthesizer"] == "A", ["printed_low", "printed_high"]].isna().all(axis=None)
    assert (tidy.loc[tidy["synthesizer"] == "B", ["printed_low", "printed_high"]] == [1.0, 3.0]).all(axis=None)
    assert "printed_x" not in tidy


def test_the_column_that_all_have_in_common_is_next_to_the_values():
    scenario = scenario_of("first", replicates=3)
    display = figure_of(scenarios=[scenario], kind="line", x="weight", reference="alone", reference_label="no release")
    tidy = figure_table(display, [rows_of(scenario, weight=0.5, alone=0.25)])
    assert (tidy["common"] == 0.25).all()
