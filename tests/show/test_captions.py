"""Captions: what, how much, of which data and with which guarantee."""

import re

import numpy as np
import pandas as pd
import pytest
from made_up_displays import figure_of, rows_of, scenario_of, table_display, tidy_of

from formalsynth.core.model import DATA
from formalsynth_workflow.show.captions import MANY, caption, details, failures, group_of, not_drawn
from formalsynth_workflow.show.display import NOT_SYNTHETIC, Panel


def test_the_whole_caption_of_a_figure_word_for_word():
    frames = [Panel(title=f"ε = {k}", ids=(id,), epsilon=k) for k, id in ((5, "A"), (4, "B"))]
    display = figure_of(
        scenarios=[scenario_of("first", n=n) for n in (20, 40)], frames=frames, where={"epsilon": 5}, line="half_epsilon",
        subject="Bounds.", note="Chosen", number="3b", details="Computed.",
    )  # fmt: skip
    assert caption(display) == "Figure 3b. Bounds. Dashed line: ε / 2. Chosen.\n"
    assert details(display) == (
        "Somebody (2026), Section 1; 3 replicates of n = 20, 40 (simulated data); run at paper scale. "
        "Guarantee of label A: kind A; of label B: kind B. Computed.\n"
    )


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"table": "replicates"}, "; 3 replicates of n = 20 ("),
        ({"table": "details"}, "; 3 replicates of n = 20 ("),
        ({"table": "records"}, "; one sample of n = 20 ("),
        ({"table": "values"}, "; one sample of n = 20 ("),
        ({"table": "draws"}, "; posterior draws from one sample of n = 20 ("),
        ({"table": "sets"}, "; 12 synthetic data sets from one sample of n = 20 ("),
        ({"line": 0.95}, "Dashed line: 0.95."),
        ({"line": "population"}, "Dashed line: the value in the simulated population."),
        ({"kind": "scatter", "x": "weight", "line": "delta"}, "Dashed lines: Δ, the largest bound."),
        ({"kind": "line", "x": "epsilon", "value": "tstr"}, "Guarantee of label A: kind A; of label B: kind B."),
        ({"place": "Section 4.4"}, "Somebody (2026), Section 4.4;"),
    ],
)
def test_a_caption_has_the_size_of_the_data_lines_and_place(entry, words):
    display = figure_of(**entry)
    assert words in caption(display) + details(display)


BARS, RANGES = "Points: means; bars: two standard errors.", "Guarantees of ranges (given R) are for moves inside ranges"
UNIT = "The unit of the outcome is "


@pytest.mark.parametrize(
    ("key", "number", "present", "absent"),
    [
        ("zcdp", "2", ["1 replicate of n = 1000 (exact calculation without data); run at"], ["error", "means", UNIT]),
        ("zcdp", "3", ["1 replicate of n = 1000 (exact calculation without data); run at"], ["error", "means"]),
        ("zcdp", "4", [BARS], []),
        ("reweight", "10", ["bootstrap distribution"], []),
        ("reps", "3", ["(Simulated: simulated data; Breast Cancer, Adult, German Credit: real data)"], []),
        ("range", "2", [f"{UNIT}that of the data."], []),
        ("range", "3", [], [UNIT]),  # utility only
        ("reweight", "7", [f"{UNIT}1,000."], []),
        ("cost", "12", [f"{UNIT}that of the data."], [RANGES]),
        ("cost", "5", [], [UNIT]),  # counts
        ("cost", "3", [RANGES], []),
        ("cost", "4", [], [RANGES]),
        ("range", "21", ["a lower bound on what can be claimed", RANGES], []),  # records also join
    ],
)
def test_a_shipped_caption_has_what_its_figure_shows_and_nothing_else(plan_of, key, number, present, absent):
    display = plan_of(key).papers[key].figure(number, "paper")
    text = caption(display) + details(display)
    assert [words for words in present if text.count(words) != 1] == []
    assert [words for words in absent if words in text] == []


def test_a_caption_has_the_ranges_of_printed_points_and_ours(plan_of):
    figure = plan_of("reps").papers["reps"].figure("1", "paper")
    rows = [("Uniform_0.5", 0.75, 0.604), ("Uniform_0.5", 0.79, 0.604), ("REPS_0.5", 0.78, 0.569), ("Removal_4", 0.7815, 0.734)]
    table = pd.DataFrame(rows, columns=["synthesizer", "value", "printed_low"]).assign(scenario="simulated_n5000")
    ranges = figure.figure.printed_range(table)
    assert ranges == "TSTR AUROC: 0.57 to 0.73 printed, 0.77 to 0.78 ours"
    text = caption(figure, printed_range=ranges)
    assert f" {ranges}. Settings missing" in text
    assert "compare directions, not levels" in text
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
        ({"data": ""}, {"data": ""}, "replicates", "(First: simulated data; Second, Third: real data); run at"),
        ({"stand_in": True, "label": ""}, {}, "replicates", "; second: STAND-IN: simulated to replace missing records); run at"),
        ({"file": "fatigue"}, {"stand_in": True}, "sets", "; Second: file fatigue; Third: STAND-IN"),
    ],
)
def test_a_caption_has_the_numbers_and_data_of_each_scenario(second, third, table, words):
    scenarios = [scenario_of("first"), scenario_of("second", n=30, **second), scenario_of("third", n=40, **third)]
    assert words in details(figure_of(scenarios=scenarios, table=table))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, " (simulated data);"),
        ({"data": ""}, "n = 20 (First: real data); run at"),
        ({"data": "", "label": ""}, "n = 20 (first: real data); run at"),
        ({"file": "fatigue"}, " (file fatigue);"),
        ({"stand_in": True}, " (STAND-IN: simulated to replace missing records);"),
    ],
)
def test_a_caption_has_the_kind_of_data(fields, words):
    assert words in details(figure_of(scenarios=[scenario_of("first", **fields)]))
    assert words in details(table_display(scenarios=[scenario_of("first", **fields)], statistics=["mean"])).replace(
        "12 synthetic data sets from one sample of ", ""
    )


def test_a_table_lists_the_guarantees_whatever_it_shows_but_confidential_data_have_none():
    for value in ("delta", "affected"):
        display = table_display(ids=(DATA, "A"), kind="spread", value=value, statistics=["min"])
        assert caption(display) == "Table 1. Numbers.\n"
        assert "Guarantee of label A: kind A." in details(display)
    assert "Guarantee" not in details(figure_of(ids=(DATA,)))


PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")
LONGEST = 60
"""Most words of a caption, before the finding is put in front."""


@pytest.mark.parametrize("key", PAPERS)
def test_every_shipped_caption_names_guarantee_sizes_and_data(plan_of, key):
    """Also where the frames' titles have the budget."""
    paper = plan_of(key).papers[key]
    displays = [paper.figure(number, "paper") for number in paper.figures]
    displays += [paper.table(number, "paper") for number in paper.tables]
    assert displays
    for display in displays:
        text, words = details(display), caption(display)
        guarantees = text.partition("Guarantee")[2]
        assert words.startswith(f"{display.NAME} {display.number}. ")
        assert len(words.split()) <= LONGEST, (key, words)
        assert len(guarantees.partition(". ")[0].split()) <= 60, (key, display.number)
        many = len({display.looks[id].label for id in set(display.ids) - set(NOT_SYNTHETIC)}) > MANY
        for id in set(display.ids) - set(NOT_SYNTHETIC):
            assert f": {display.looks[id].guarantee.replace('|', 'given')}" in guarantees, (key, display.number)
            label = display.looks[id].label
            assert (group_of(label) if many else label) in guarantees
        for scenario in display.scenarios:
            audited = display.table != "audit" or scenario.audited
            assert bool(re.search(rf"\bn = [^;]*\b{scenario.n}\b", text)) == bool(audited), (key, display.number)
            if display.table in ("replicates", "details") and not getattr(display, "parts", None):
                assert f"{scenario.replicates} replicate" in text
        assert re.search(r"replicates? of n|data sets? of n|one sample of n", text)
        assert re.search(r"simulated data|exact calculation|STAND-IN|file [a-z]|published counts|real data", text), text


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
    display = figure_of(kind="line", x="weight", log=True)
    rows = rows_of(scenario_of("first"), weight=1.0, delta=[0.0, 0.0, 0.0, np.inf, 1.0, 2.0])
    assert not_drawn(display, tidy_of(display, rows)) == "Not drawn: label A: no value above 0; label B: 1 of 3: infinite"
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
    text = details(figure_of(ids=ids))
    assert text.count("label LW") == MANY + 1  # kinds of guarantee of their own
    looks = {id: look.model_copy(update={"guarantee": "kind"}) for id, look in figure_of(ids=ids).looks.items()}
    text = details(figure_of(ids=ids).model_copy(update={"looks": looks}))
    assert f"Guarantee (number of settings) of label LW ({MANY + 1}): kind." in text


def test_the_unit_in_a_caption_is_that_of_the_config():
    for unit, words in ((1.0, "that of the data. "), (509_000.0, "509,000. "), (None, "")):
        text = details(table_display(scenarios=[scenario_of("first", fitted_unit=unit)], statistics=["epsilon"]))
        assert text.partition(UNIT)[2].partition("Bounds and uncentred clipping depend on it.\n")[0] == words
