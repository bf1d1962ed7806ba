"""Captions: what, how much, of which data and with which guarantee."""

import re

import numpy as np
import pandas as pd
import pytest
from made_up_displays import figure_of, rows_of, scenario_of, table_display, tidy_of

from formalsynth.core.model import DATA
from formalsynth_workflow.show.captions import MANY, caption, failures, group_of, not_drawn
from formalsynth_workflow.show.display import NOT_SYNTHETIC, Panel


def test_the_whole_caption_of_a_figure_word_for_word():
    frames = [Panel(title=f"ε = {k}", ids=(id,), epsilon=k) for k, id in ((5, "A"), (4, "B"))]
    display = figure_of(
        scenarios=[scenario_of("first", n=n) for n in (20, 40)], frames=frames, where={"epsilon": 5}, line="half_epsilon",
        subject="Bounds.", note="Chosen", number="3b",
    )  # fmt: skip
    assert caption(display) == (
        "Figure 3b. Bounds. Somebody (2026), Section 1; 3 replicates of n = 20, 40; frames: ε = 5, ε = 4 "
        "(simulated data); scale paper. Guarantees: kind A: label A; kind B: label B. "
        "Dots: values; line across them: median. Dashed line: ε / 2. Chosen.\n"
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("replicates", "; 3 replicates of n = 20 ("),
        ("details", "; 3 replicates of n = 20 ("),
        ("records", "; one sample of n = 20 ("),
        ("values", "; one sample of n = 20 ("),
        ("draws", "; posterior draws from one sample of n = 20 ("),
        ("sets", "; 12 synthetic data sets from one sample of n = 20 ("),
    ],
)
def test_a_caption_has_the_size_of_the_data(table, words):
    assert words in caption(figure_of(table=table))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"line": 0.95}, "Dashed line: 0.95."),
        ({"line": "population"}, "Dashed line: the value in the simulated population."),
        ({"kind": "scatter", "x": "weight", "line": "delta"}, "Dashed lines: Δ, the largest bound."),
        ({"kind": "line", "x": "epsilon", "value": "tstr"}, "Guarantees: kind A: label A; kind B: label B."),
        ({"place": "Section 4.4"}, "Somebody (2026), Section 4.4;"),
    ],
)
def test_a_caption_explains_lines_and_has_the_place(entry, words):
    assert words in caption(figure_of(**entry))


def test_an_exact_calculation_has_no_error_bars_in_its_caption(plan_of):
    """Figures 2 and 3 of the zcdp paper are curves that nothing random enters."""
    paper = plan_of("zcdp").papers["zcdp"]
    for number in ("2", "3"):
        text = caption(paper.figure(number, "paper"))
        assert "error" not in text
        assert "means" not in text
        assert "1 replicate of n = 1000 (exact calculation without data); scale" in text
        assert "error" not in paper.original(number).alt()
    assert "Points: means; bars: two standard errors." in caption(paper.figure("4", "paper"))


def test_a_caption_has_the_ranges_of_printed_points_and_ours(plan_of):
    figure = plan_of("reps").papers["reps"].figure("1", "paper")
    rows = [("Uniform_0.5", 0.75, 0.604), ("Uniform_0.5", 0.79, 0.604), ("REPS_0.5", 0.78, 0.569), ("Removal_4", 0.7815, 0.734)]
    table = pd.DataFrame(rows, columns=["synthesizer", "value", "printed_low"]).assign(scenario="simulated_n5000")
    ranges = figure.figure.printed_range(table)
    assert ranges == "TSTR AUROC: 0.57 to 0.73 printed, 0.77 to 0.78 ours"
    text = caption(figure, printed_range=ranges)
    assert f" {ranges}. Methods use the same seeds" in text
    assert "the printed points can be compared in direction, not in level" in text
    assert figure.figure.printed_range(table.drop(columns="printed_low")) == ""


@pytest.mark.parametrize(
    ("second", "third", "table", "words"),
    [
        ({}, {}, "replicates", "; 3 replicates of n = 20 (First), 30 (Second), 40 (Third) (simulated data);"),
        ({"replicates": 1}, {}, "replicates", "; 3 replicates of n = 20 (First), 40 (Third); 1 replicate of n = 30 (Second) ("),
        (
            {"synthetic_sets": 5},
            {},
            "sets",
            "one sample of n = 20 (First), 40 (Third); 5 synthetic data sets from one sample of n = 30",
        ),
        ({"data": ""}, {"data": ""}, "replicates", "(First: simulated data; Second, Third: real data); scale"),
        ({"stand_in": True, "label": ""}, {}, "replicates", "; second: STAND-IN: simulated to replace missing records); scale"),
        ({"file": "fatigue"}, {"stand_in": True}, "sets", "; Second: file fatigue; Third: STAND-IN"),
    ],
)
def test_a_caption_has_the_numbers_and_data_of_each_scenario(second, third, table, words):
    scenarios = [scenario_of("first"), scenario_of("second", n=30, **second), scenario_of("third", n=40, **third)]
    assert words in caption(figure_of(scenarios=scenarios, table=table))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, " (simulated data);"),
        ({"data": ""}, "n = 20 (First: real data); scale"),
        ({"data": "", "label": ""}, "n = 20 (first: real data); scale"),
        ({"file": "fatigue"}, " (file fatigue);"),
        ({"stand_in": True}, " (STAND-IN: simulated to replace missing records);"),
    ],
)
def test_a_caption_has_the_kind_of_data(fields, words):
    assert words in caption(figure_of(scenarios=[scenario_of("first", **fields)]))
    assert words in caption(table_display(scenarios=[scenario_of("first", **fields)], statistics=["mean"])).replace(
        "12 synthetic data sets from one sample of ", ""
    )


@pytest.mark.parametrize("value", ["delta", "affected"])
def test_a_table_lists_the_guarantees_whatever_it_shows(value):
    text = caption(table_display(ids=(DATA, "A"), kind="spread", value=value, statistics=["min"]))
    assert text.startswith("Table 1. Numbers. ")
    assert "Guarantees: kind A: label A." in text


def test_confidential_data_alone_have_no_guarantee():
    assert "Guarantee" not in caption(figure_of(ids=(DATA,)))


PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")


@pytest.mark.parametrize("key", PAPERS)
def test_every_shipped_caption_names_guarantee_sizes_and_data(plan_of, key):
    """Also where the frames' titles have the budget."""
    paper = plan_of(key).papers[key]
    displays = [paper.figure(number, "paper") for number in paper.figures]
    displays += [paper.table(number, "paper") for number in paper.tables]
    assert displays
    for display in displays:
        text = caption(display)
        guarantees = text.partition("Guarantees")[2]
        many = len({display.looks[id].label for id in set(display.ids) - set(NOT_SYNTHETIC)}) > MANY
        for id in set(display.ids) - set(NOT_SYNTHETIC):
            assert f"{display.looks[id].guarantee}: " in guarantees, (key, display.number)
            label = display.looks[id].label
            assert (group_of(label) if many else label) in guarantees
        for scenario in display.scenarios:
            audited = display.table != "audit" or scenario.audited
            assert bool(re.search(rf"\bn = [^;]*\b{scenario.n}\b", text)) == bool(audited), (key, display.number)
            if display.table in ("replicates", "details") and not getattr(display, "parts", None):
                assert f"{scenario.replicates} replicate" in text
        assert re.search(r"replicates? of n|data sets? of n|one sample of n", text)
        assert re.search(r"simulated data|exact calculation|STAND-IN|file [a-z]|published counts|real data", text), (
            key,
            display.number,
        )


def test_a_sentence_of_two_parts_of_a_sheet_is_there_once(plan_of):
    text = caption(plan_of("reweight").papers["reweight"].figure("10", "paper"))
    assert text.count("Salaries are drawn from the margin published") == 1
    assert "bootstrap distribution" in text


def test_no_shipped_caption_calls_real_data_simulated(plan_of):
    text = caption(plan_of("reps").papers["reps"].figure("3", "paper"))
    assert "(Simulated: simulated data; Breast Cancer, Adult, German Credit: real data)" in text


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ([], ""),
        ([0], "Failed and left out: label A (1 of 3 replicates)"),
        ([0, 1, 2], "Failed and left out: label A (no result at all)"),
    ],
)
def test_a_caption_lists_the_replicates_that_failed(lost, words):
    rows = rows_of(scenario_of("first"), ids=(DATA, "A", "B")).assign(status="ok")
    rows.loc[(rows["synthesizer"] == "A") & rows["replicate"].isin(lost), "status"] = "failed"
    display = figure_of(ids=(DATA, "A", "B"), subject="Bounds")
    assert failures(display, [rows]) == words
    assert (f" {words}." in caption(display, words)) == bool(words)


def test_a_caption_lists_the_values_that_are_not_drawn():
    display = figure_of(kind="ecdf", log=True)
    rows = rows_of(scenario_of("first"), delta=[0.0, 0.0, 0.0, np.inf, 1.0, 2.0])
    assert not_drawn(display, tidy_of(display, rows)) == "Not drawn: label A: no value above 0"
    assert not_drawn(figure_of(log=True), tidy_of(display, rows)).startswith("Not drawn: label A: no value above 0; label B")
    display = figure_of()
    assert not_drawn(display, tidy_of(display, rows)) == "Not drawn: label B: 1 of 3: infinite"
    assert not_drawn(display, tidy_of(display, rows.assign(delta=1.0))) == ""


def test_a_synthesizer_without_rows_of_the_single_sample_failed_there():
    rows = rows_of(scenario_of("first"), ids=("B",))
    assert failures(figure_of(table="values"), [rows]) == "Failed and left out: label A (no result at all)"
    assert failures(figure_of(table="details"), [rows]) == ""


@pytest.mark.parametrize(
    ("label", "group"),
    [
        ("Censor_w, ε = 5", "Censor_w"),
        ("PH, ε = 3 (replace)", "PH"),
        ("Declared scale 10", "Declared scale"),
        ("Range-averaged (0.4, 1.8)", "Range-averaged"),
        ("LW, min-max, times 0.5", "LW"),
        ("(0.4, 1.8) avg", "(0.4, 1.8) avg"),
        ("Capped at 2", "Capped"),
        ("Unweighted", "Unweighted"),
    ],
)
def test_a_label_without_its_setting_names_a_group(label, group):
    assert group_of(label) == group


def test_many_labels_are_named_by_group():
    ids = tuple(f"LW, c = {k}" for k in range(MANY + 1))
    text = caption(figure_of(ids=ids))
    assert text.count("label LW") == MANY + 1  # kinds of guarantee of their own
    looks = {id: look.model_copy(update={"guarantee": "kind"}) for id, look in figure_of(ids=ids).looks.items()}
    text = caption(figure_of(ids=ids).model_copy(update={"looks": looks}))
    assert f"Guarantees, with the number of settings: kind: label LW ({MANY + 1})." in text


UNIT = "Bounds and uncentred clipping depend on the unit of the outcome: "


@pytest.mark.parametrize(
    ("key", "number", "unit"),
    [
        ("range", "2", "that of the data"),
        ("range", "3", ""),  # utility only
        ("reweight", "7", "1000"),
        ("cost", "12", "that of the data"),
        ("cost", "5", ""),  # counts
        ("zcdp", "2", ""),
    ],
)
def test_a_caption_with_epsilon_has_the_unit_that_it_depends_on(plan_of, key, number, unit):
    text = caption(plan_of(key).papers[key].figure(number, "paper"))
    assert text.partition(UNIT)[2].partition(". ")[0] == unit


@pytest.mark.parametrize(("number", "ranges"), [("3", True), ("4", False), ("12", False)])
def test_a_caption_with_audited_ranges_names_what_their_guarantee_is_for(plan_of, number, ranges):
    text = caption(plan_of("cost").papers["cost"].figure(number, "paper"))
    assert ("Guarantees of ranges (| R) are for moves inside ranges that are not public" in text) is ranges


def test_the_unit_in_a_caption_is_that_of_the_config():
    for unit, words in ((1.0, "that of the data.\n"), (509_000.0, "509000.\n"), (None, "")):
        text = caption(table_display(scenarios=[scenario_of("first", fitted_unit=unit)], statistics=["epsilon"]))
        assert text.partition(UNIT)[2] == words


LONGEST = 225
"""Words of the longest caption: the description, before the finding is put in front."""


@pytest.mark.parametrize("key", PAPERS)
def test_no_shipped_caption_is_a_list_of_names(plan_of, key):
    paper = plan_of(key).papers[key]
    words = {number: len(caption(paper.figure(number, "paper")).split()) for number in paper.figures}
    assert {number: count for number, count in words.items() if count > LONGEST} == {}
    for number in paper.figures:
        guarantees = caption(paper.figure(number, "paper")).partition("Guarantees")[2].partition(". ")[0]
        assert len(guarantees.split()) <= 60, (key, number)
