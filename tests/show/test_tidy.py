"""Tidy tables of figures: rows and their order, and the columns of each kind, from collected tables with known answers."""

import numpy as np
import pandas as pd
import pytest
from made_up_displays import FIRST, STRICT, audit_of, figure_of, rows_of, scenario_of, tidy_of

from formalsynth.core.two_samples import two_samples
from formalsynth_workflow.show.display import Panel, Printed
from formalsynth_workflow.show.tidy import figure_table

SCENARIO = scenario_of("first")
FRAMES = [Panel(title=f"ε = {k:g}", ids=(id,), epsilon=k) for k, id in ((5.0, "A"), (4.0, "B"))]


def test_rows_are_in_the_order_of_synthesizers_and_then_of_sizes():
    sizes = [scenario_of("first", n=40), scenario_of("first", n=20)]
    display = figure_of(ids=("B", "A"), scenarios=sizes)
    tidy = figure_table(display, [rows_of(scenario) for scenario in sizes])
    order = tidy[["synthesizer", "n"]].drop_duplicates().to_numpy().tolist()
    assert order == [["B", 20], ["B", 40], ["A", 20], ["A", 40]]
    assert list(tidy) == ["paper", "scenario", "n", "replicate", "synthesizer", "value", "panel", "label", "line", "guarantee"]
    assert tidy["label"].tolist() == ["label B"] * 6 + ["label A"] * 6
    assert tidy["guarantee"].tolist() == ["kind B"] * 6 + ["kind A"] * 6
    small, large = rows_of(sizes[1])["delta"].tolist(), rows_of(sizes[0])["delta"].tolist()
    assert tidy["value"].tolist() == [*small[3:], *large[3:], *small[:3], *large[:3]]


def test_only_privacy_numbers_have_a_guarantee():
    assert "guarantee" not in figure_table(figure_of(value="mean"), [rows_of(SCENARIO, mean=1.0)])


def test_several_columns_are_a_frame_each_next_to_the_frames_of_a_parameter():
    display = figure_of(value=["q15", "speed"], frames=FRAMES, kind="violin")
    tidy = figure_table(display, [rows_of(SCENARIO, q15=1.0, speed=2.0)])
    assert tidy["panel"].unique().tolist() == ["ε = 5, 15 % quantile", "ε = 5, speed", "ε = 4, 15 % quantile", "ε = 4, speed"]
    assert tidy.groupby("panel")["value"].unique().map(list).tolist() == [[1.0], [2.0]] * 2


@pytest.mark.parametrize(
    ("line", "expected"), [("none", [np.nan] * 2), ("half_epsilon", [2.5, 2.0]), ("population", [0.7] * 2), (0.95, [0.95] * 2)]
)
def test_each_frame_has_the_place_of_its_dashed_line(line, expected):
    display = figure_of(frames=FRAMES, line=line, truths={"delta": 0.7}, where={"epsilon": 5})
    tidy = figure_table(display, [rows_of(SCENARIO)])
    np.testing.assert_array_equal(tidy.groupby("panel", sort=False)["line"].first(), expected)


def test_only_requested_rows_and_the_points_of_lines():
    scenario = scenario_of("first", replicates=4)
    rows = rows_of(scenario, x=[1.0, 2.0, 1.0, 2.0] * 2, part=["a", "a", "b", "b"] * 2, alone=0.25)
    fields = {"kind": "line", "x": "x", "rows": {"part": "a"}, "reference": "alone", "reference_label": "no release"}
    tidy = figure_table(figure_of(scenarios=[scenario], at={"A": 1.0, "B": 2.0}, **fields), [rows, pd.DataFrame({"other": [1]})])
    assert tidy[["x", "at", "common"]].to_numpy().tolist() == [[1, 1, 0.25], [2, 1, 0.25], [1, 2, 0.25], [2, 2, 0.25]]
    tidy = figure_table(figure_of(kind="line", at={"A": 1.0, "B": None}), [rows_of(SCENARIO)])
    assert "at" not in tidy
    assert tidy.groupby("synthesizer")["x"].first().dropna().to_dict() == {"A": 1.0}


def test_failed_rows_have_their_reason():
    rows = rows_of(SCENARIO).assign(reason="R-hat")
    rows.loc[rows["replicate"] > 0, "reason"] = None
    assert "reason" not in figure_table(figure_of(), [rows])
    rows.loc[rows["replicate"] == 0, "delta"] = np.nan
    tidy = figure_table(figure_of(), [rows])
    assert tidy["reason"].fillna("").tolist() == ["R-hat", "", ""] * 2


@pytest.mark.parametrize("stand_ins", [(), ("first", "second"), ("second",), ("first",)])
def test_the_rows_of_each_stand_in_are_marked(stand_ins):
    scenarios = [scenario_of(name, stand_in=name in stand_ins) for name in ("first", "second")]
    tidy = figure_table(figure_of(scenarios=scenarios), [rows_of(scenario) for scenario in scenarios])
    expected = ["STAND-IN" if id.partition("_")[0] in stand_ins else "" for id in tidy["scenario"]]
    assert (list(tidy["data"]) == expected) if stand_ins else ("data" not in tidy)


def test_printed_values_are_only_in_the_rows_of_their_cells():
    assert "printed_low" not in figure_table(figure_of(), [rows_of(SCENARIO)])
    cells = [Printed(scenario=SCENARIO.id, column=column, id="B", low=1.0, high=3.0) for column in ("delta", "weight")]
    tidy = figure_table(figure_of(printed=cells[:1]), [rows_of(SCENARIO)])
    assert tidy.loc[tidy["synthesizer"] == "A", ["printed_low", "printed_high"]].isna().all(axis=None)
    assert (tidy.loc[tidy["synthesizer"] == "B", ["printed_low", "printed_high"]] == [1.0, 3.0]).all(axis=None)
    assert "printed_x" not in tidy
    display = figure_of(printed=cells, kind="line", x="weight", at={"A": 1.0, "B": 2.0})
    assert figure_table(display, [rows_of(SCENARIO, weight=0.5)])["printed_x"].dropna().tolist() == [1.0] * 3


def test_a_figure_has_the_printed_values_of_the_config(plan_of):
    """Tables give values and intervals, claims values and limits; a figure of another column has none."""
    reps, reweight, censor = (plan_of(key, "paper").papers[key] for key in ("reps", "reweight", "censor"))
    values = {(cell.id, cell.column): (cell.low, cell.high) for cell in reps.figure("1", "paper").printed}
    assert values["REPS_4", "tstr"] == (0.72, 0.72)
    assert values["REPS_4", "domias_printed_top_advantage"] == (0.728, 0.728)
    intervals = {(cell.id, cell.column): (cell.low, cell.high) for cell in reweight.figure("5", "paper").parts["b"].printed}
    assert intervals["CW", "median"] == (98.7, 102.4)
    limits = {cell.id: (cell.low, cell.high) for cell in censor.figure("10", "paper").printed}
    assert limits["Unweighted"] == (7.5, 15) and limits["Weighted_e_3"] == (1.5, 1.5)
    assert censor.figure("3", "paper").printed == ()


def test_exact_densities_are_below_the_values_of_their_synthesizers():
    details = rows_of(SCENARIO, ids=("A", "C"), count=2).drop(columns="delta").assign(x=0.5, density=[0.2, 0.3, 0.4, 0.5])
    display = figure_of(kind="density", exact=True)
    assert display.figure.tables() == ["replicates", "details"]
    tidy = figure_table(display, [rows_of(SCENARIO), details])
    exact = tidy[tidy["density"].notna()]
    assert exact[["synthesizer", "x", "density"]].to_numpy().tolist() == [["A", 0.5, 0.2], ["A", 0.5, 0.3]]
    assert exact["value"].isna().all()
    columns = details.assign(column=["delta", "other"] * 2)
    assert figure_table(display, [rows_of(SCENARIO), columns])["density"].dropna().tolist() == [0.2]


def test_a_sheet_has_the_tables_of_its_parts_each_from_what_it_reads():
    part = {"scenario": ["first"], "value": "mean", "synthesizers": ["A", "B"]}
    display = figure_of(kind="sheet", value="", synthesizers=[], parts={"a": part, "b": part | {"table": "sets", "value": "q15"}})
    assert display.figure.tables() == ["replicates", "sets"]
    assert display.figure.columns() == ["mean", "q15"]
    tidy = figure_table(display, [rows_of(SCENARIO, mean=1.0), rows_of(SCENARIO, mean=2.0, q15=3.0)])
    assert tidy.groupby("part")["value"].unique().map(list).to_dict() == {"a": [1.0], "b": [3.0]}
    own = tidy[tidy["part"] == "a"].drop(columns=["part"])
    pd.testing.assert_frame_equal(own, figure_table(display.parts["a"], [rows_of(SCENARIO, mean=1.0)]))


def test_a_frontier_is_at_the_audited_epsilon_and_for_strict_mechanisms_at_the_claimed_one():
    display = figure_of(kind="frontier", value="ecdf_max", looks={"B": STRICT})
    rows = rows_of(SCENARIO, count=5, ecdf_max=0.1, audited=99.0)
    tidy = tidy_of(display, rows, audit_of(SCENARIO))
    assert len(tidy) == 6  # three of five data sets were audited
    assert tidy["x"].tolist() == [1, 2, 3, 2, 2, 2]
    assert tidy["claimed"].tolist() == [1] * 3 + [2] * 3
    assert tidy["line"].unique() == pytest.approx([two_samples(20)["ecdf_max"]])


def test_the_audited_epsilon_of_a_budget_is_at_delta_0_for_strict_mechanisms():
    display = figure_of(kind="budgets", table="audit", value=["claimed", "audited"], rows=FIRST, looks={"B": STRICT})
    tidy = tidy_of(display, audit_of(SCENARIO))
    largest = tidy.groupby(["panel", "synthesizer", "replicate"])["value"].max()
    assert largest["audited"].to_dict() == {
        ("A", 0): 5, ("A", 1): 10, ("A", 2): 15, ("B", 0): 3 * 10, ("B", 1): 3 * 20, ("B", 2): 3 * 30,
    }  # fmt: skip
    assert largest["claimed"].unique().tolist() == [1, 2]


def test_an_exceedance_has_the_sample_sizes_across():
    display = figure_of(kind="exceedance", table="audit", value=["audited", "claimed"], rows=FIRST)
    tidy = tidy_of(display, audit_of(SCENARIO))
    assert (tidy["x"] == 20).all()
    assert tidy["panel"].unique().tolist() == ["audited", "claimed"]


def test_a_trade_off_has_the_claims_and_the_first_attack():
    rows = {"candidate": "error rates"}
    display = figure_of(kind="trade_off", table="audit", value="error", panels="synthesizer", rows=rows)
    tidy = tidy_of(display, audit_of(SCENARIO))
    assert tidy.groupby("replicate")["attacked"].unique().map(list).tolist() == [
        pytest.approx(attacked) for attacked in ([0.3, 0.6], [0.6, 1.2], [0.9, 1.8])
    ]
    first = tidy.iloc[1]
    assert (first["x"], first["value"], first["delta"], first["claimed"], first["claimed_larger"]) == (0.01, 0.99**2, 1e-3, 1, 3)


@pytest.mark.parametrize("kind", ["contraction", "spread"])
def test_the_limit_law_is_that_of_its_synthesizer_alone(kind):
    scenarios = [scenario_of("first", n=n) for n in (100, 1000)]
    display = figure_of(scenarios=scenarios, kind=kind, law="Beta(0.5, 3)", law_of="A")
    tidy = tidy_of(display, *map(rows_of, scenarios))
    law = tidy.loc[tidy["law_median"].notna(), ["synthesizer", "n", "law_median", "law_sd"]].drop_duplicates()
    assert law[["synthesizer", "n"]].to_numpy().tolist() == [["A", 100], ["A", 1000]]
    assert law[["law_median", "law_sd"]].iloc[0].tolist() == pytest.approx([1.391, 0.318], abs=2e-3)
    assert tidy["law_sd"].isna().equals(tidy["law_median"].isna())
    assert "law_sd" not in figure_table(figure_of(scenarios=scenarios, kind=kind), [rows_of(scenarios[0])])


def test_utility_is_at_the_guaranteed_epsilon():
    display = figure_of(kind="guaranteed", value="ecdf_avg", looks={"A": STRICT | {"epsilon": 0.5}})
    tidy = tidy_of(display, rows_of(SCENARIO, ecdf_avg=0.1))
    assert tidy.loc[tidy["synthesizer"] == "A", "x"].tolist() == [0.5] * 3
    assert tidy.loc[tidy["synthesizer"] == "B", "x"].isna().all()
    assert tidy["line"].unique() == pytest.approx([two_samples(20)["ecdf_avg"]])


def test_the_shipped_figure_of_guaranteed_mechanisms_has_their_epsilon_for_one_record(plan_of):
    looks = plan_of("cost").papers["cost"].figure("12", "paper").looks
    epsilon = {id: look.epsilon for id, look in looks.items()}
    assert epsilon["tables_0.5"] == 0.5 and epsilon["Censor_uw_5"] == 5 and epsilon["centred_1"] == 1
    assert epsilon["PH_wide_2"] == 1 and epsilon["PH_wide_1"] == 0.5  # its parameter is for a replaced record
    assert epsilon["distance_1"] == pytest.approx(0.95)
    assert {id for id, value in epsilon.items() if value is None} == {"Unweighted", "LW", "averaged_0.4_1.8"}
