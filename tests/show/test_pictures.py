"""Marks of drawings: spreads by sample size, broken claims in bold, points next to each other, printed points apart."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.displays.display import Printed
from formalsynth.show.draw import drawing_of
from formalsynth.show.drawing import printed_handle
from formalsynth.show.figures.budgets import BROKEN
from formalsynth.show.figures.line import OURS, PRINTED_FRAME, dodged
from formalsynth.show.tidy import figure_table
from made_up_displays import figure_of, rows_of, scenario_of


def labels_of(axis):
    return [text.get_text() for text in axis.texts]


def test_a_spread_is_the_standard_deviation_at_each_sample_size():
    scenarios = [scenario_of("first", n=n, replicates=20) for n in (100, 400, 1600)]
    noise = np.random.default_rng(1).normal(size=20)
    tables = []
    for scenario in scenarios:
        table = rows_of(scenario)
        scale = np.where(table["synthesizer"] == "A", 1.0, 10 / np.sqrt(scenario.n))
        tables.append(table.assign(delta=3 + scale * np.tile(noise, 2)))
    display = figure_of(scenarios=scenarios, kind="spread", law="Beta(0.5, 3)", law_of="A")
    (axis,) = drawing_of(display, figure_table(display, tables)).axes
    drawn = [np.asarray(line.get_ydata(), float) / noise.std(ddof=1) for line in axis.lines if line.get_marker() == "o"]
    assert drawn[0] == pytest.approx([1, 1, 1])
    assert drawn[1] == pytest.approx([1, 0.5, 0.25])
    assert {"label A", "label B", "limit law of\nlabel A"} <= set(labels_of(axis))
    (law,) = [line for line in axis.lines if line.get_linestyle() == "--"]
    assert np.asarray(law.get_ydata(), float) == pytest.approx(np.pi / (4 * np.sqrt(6)), abs=0.01)


def test_a_spread_of_two_replicates_has_no_error_and_of_one_no_line():
    for replicates, lines in ((2, 2), (1, 0)):
        scenarios = [scenario_of("first", n=n, replicates=replicates) for n in (100, 400)]
        display = figure_of(scenarios=scenarios, kind="spread")
        tables = [rows_of(scenario, seed=scenario.n) for scenario in scenarios]
        (axis,) = drawing_of(display, figure_table(display, tables)).axes
        assert len([line for line in axis.lines if line.get_marker() == "o"]) == lines


def test_a_mechanism_whose_audit_exceeds_its_claim_is_bold():
    scenario = scenario_of("first", replicates=4)
    display = figure_of(scenarios=[scenario], kind="budgets", value=["claimed", "audited"], table="audit")
    table = rows_of(scenario).assign(neighbour="add", delta=0.001, releases=1, streams=1)
    table["claimed"] = 2.0
    table["audited"] = np.where(table["synthesizer"] == "A", 3.0, 2.0)  # as much as claimed is not more
    (axis,) = drawing_of(display, figure_table(display, [table])).axes
    looks = {name.get_text(): (name.get_fontweight(), name.get_color()) for name in axis.get_yticklabels()}
    assert looks["label A"] == ("bold", BROKEN)
    assert looks["label B"][0] == "normal"
    assert "bold red" in axis.get_xlabel()


def test_dodged_points_stay_within_their_place_and_in_their_order():
    across = pd.Series([1.0, 2.0, 4.0])
    for log, step in ((False, 1.0), (True, np.log(2))):
        moved = np.array([dodged(across, share, log) for share in (-1 / 3, 0, 1 / 3)])
        places = np.log(moved) if log else moved
        assert (np.diff(places, axis=0) > 0).all()
        assert np.ptp(places, axis=0) == pytest.approx([0.4 * step] * 3)
        assert moved[1] == pytest.approx(across.to_numpy())


def test_a_dodged_figure_has_no_lines():
    scenario = scenario_of("first", replicates=4)
    table = rows_of(scenario, weight=np.tile([0.0, 1.0], 4))
    for dodge, style in ((True, "None"), (False, "-")):
        display = figure_of(scenarios=[scenario], kind="line", x="weight", dodged=dodge)
        drawing = drawing_of(display, figure_table(display, [table]))
        assert drawing.axes[0].lines[0].get_linestyle() == style
        assert drawing.legends[0].get_lines()[0].get_linestyle() == style


def test_printed_points_of_a_result_have_a_frame_of_their_own_with_the_parameter_at_points():
    scenario = scenario_of("first", replicates=2)
    ids = ("A", "B")
    display = figure_of(ids=ids, scenarios=[scenario], kind="line", x="weight", at={"A": 0.5, "B": 4.0})
    looks = {id: look.model_copy(update={"label": "same"}) for id, look in display.looks.items()}
    printed = tuple(
        Printed(scenario=scenario.id, column=column, id=id, low=low, high=low)
        for column, id, low in (("delta", "A", 7.0), ("weight", "A", 5.0), ("delta", "B", 9.0), ("weight", "B", 6.0))
    )
    entry = display.figure.model_copy(update={"at": "epsilon"})
    display = display.model_copy(update={"figure": entry, "printed": printed, "looks": looks})
    drawing = drawing_of(display, figure_table(display, [rows_of(scenario, weight=np.tile([1.0, 2.0], 2))]))
    left, right = drawing.axes
    assert [axis.get_title(loc="left") for axis in drawing.axes] == [PRINTED_FRAME, OURS]
    assert sorted(left.lines[0].get_xdata()) == [5, 6]
    assert sorted(left.lines[0].get_ydata()) == [7, 9]
    assert {"ε = 0.5", "4"} <= set(labels_of(left))
    assert max(right.lines[0].get_xdata()) <= 2


def test_a_printed_interval_has_its_own_mark_in_the_legend():
    table = pd.DataFrame({"printed_low": [1.0, 2.0, np.nan], "printed_high": [1.0, 3.0, np.nan]})
    assert [handle.get_label() for handle in printed_handle(table, lines=False)] == ["printed", "printed range"]
    assert [handle.get_label() for handle in printed_handle(table[:1], lines=False)] == ["printed"]
    assert [handle.get_label() for handle in printed_handle(table[1:], lines=False)] == ["printed range"]
    assert printed_handle(table[2:], lines=False) == []
