"""Figure of utility against the guaranteed epsilon: where marks and names are."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.two_samples import two_samples
from formalsynth.show import draw
from formalsynth.show.captions import caption
from formalsynth.show.names import apart
from formalsynth.show.painter import PAINTERS
from formalsynth.show.style import CONTRAST, contrast, edge
from formalsynth.show.tidy import figure_table
from hypothesis import given
from hypothesis import strategies as st

PAINTERS.find()


@pytest.fixture(scope="module")
def paper(plan_of):
    return plan_of("cost").papers["cost"]


@pytest.fixture(scope="module")
def display(paper):
    return paper.figure("12", "paper")


@pytest.fixture(scope="module")
def table(paper, display):
    """Max-ECDF 0.1 for the first synthesizer, 0.2 for the second and so on, times 0.9, 1 and 1.1 in three replicates."""
    ids = [id for id in display.ids if id in display.looks]
    collected = []
    for scenario in display.scenarios:
        rows = [
            {
                "paper": "cost",
                "scenario": scenario.id,
                "n": scenario.n,
                "replicate": k,
                "synthesizer": id,
                "ecdf_max": factor * value,
            }
            for value, id in enumerate(ids, start=1)
            if id in paper.scenarios[scenario.id].synthesizers
            for k, factor in enumerate((0.9, 1.0, 1.1))
        ]
        collected.append(pd.DataFrame(rows))
    return figure_table(display, collected)


def test_the_axis_across_is_the_epsilon_for_one_record_added_or_removed(display, table):
    epsilon = table.groupby("synthesizer")["x"].first()
    assert epsilon["tables_0.5"] == 0.5 and epsilon["Censor_uw_5"] == 5 and epsilon["centred_1"] == 1
    assert epsilon["PH_wide_2"] == 1 and epsilon["PH_wide_1"] == 0.5  # its parameter is for a replaced record
    assert epsilon["distance_1"] == pytest.approx(0.95)
    assert {id for id, value in epsilon.items() if np.isnan(value)} == {"Unweighted", "LW", "averaged_0.4_1.8"}
    assert (table["line"] == two_samples(2000)["ecdf_max"]).all()


def test_mechanisms_are_named_once_in_each_frame_at_their_medians(display, table):
    drawing = draw.drawing_of(display, table)
    assert len(drawing.axes) == 2
    for axis in drawing.axes:
        names = [text.get_text() for text in axis.texts]
        assert len(names) == len(set(names))
        assert {"sampling error", "Noisy tables", "Minimum distance", "Histogram", "Risk weights"} <= set(names)
        assert len(names) - 3 <= 8  # without the words on the line and on both sides
        medians = table_median(table, "tables_0.2"), table_median(table, "tables_amounts_0.2")
        (line,) = [line for line in axis.lines if len(line.get_xdata()) == 3 and line.get_ydata()[0] in medians]
        assert np.exp(line.get_xdata()) == pytest.approx([0.2, 0.5, 1])
        # of one style: no powers of ten next to plain numbers
        assert all(label.get_text().replace(".", "").isdigit() for label in axis.get_yticklabels())
    assert [label.get_text() for label in drawing.axes[-1].get_xticklabels()] == ["0.2", "0.5", "1", "2", "5", ""]


def test_guarantees_that_assume_exact_draws_are_marked(display, table):
    """Censored posteriors are drawn by a sampler; tables, histograms and minimum distance need no draws of the records."""
    drawing = draw.drawing_of(display, table)
    of_posteriors = {display.looks[id].colour for id in ("Censor_uw_5", "centred_1")}
    squares = {line.get_color() for axis in drawing.axes for line in axis.lines if line.get_marker() == "s"}
    assert squares == {edge(colour) for colour in of_posteriors}
    assert "squares: if draws from the posterior are exact" in caption(display)
    assert "DP (add/remove) | exact draws: Censor_uw" in caption(display)


def table_median(table, id):
    return table[table["synthesizer"] == id]["value"].median()


def test_every_line_and_mark_can_be_seen_on_white(display, table):
    for axis in draw.drawing_of(display, table).axes:
        assert len(axis.lines) > 5
        assert {line.get_color() for line in axis.lines if contrast(line.get_color()) < CONTRAST} == set()


def test_the_caption_names_the_neighbours_and_the_cost_of_the_others(display):
    words = caption(display)
    assert "when one record is added or removed" in words
    assert "Replacing a record costs twice this ε" in words


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_names_are_apart_in_their_order_and_move_no_more_than_needed(heights):
    moved = np.array(apart(heights, 0.1))
    order = np.argsort(heights, kind="stable")
    assert (np.diff(moved[order]) >= 0.1 - 1e-9).all()
    assert moved.mean() == pytest.approx(np.mean(heights))
    if (np.diff(np.sort(heights)) >= 0.1).all():
        assert moved == pytest.approx(heights)
