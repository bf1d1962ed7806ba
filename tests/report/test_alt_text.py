"""Alternative text of a figure: medians in their order, frame by frame."""

import pandas as pd
import pytest

from formalsynth_workflow.report.alt_text import alt_text


@pytest.fixture
def text_of(tmp_path):
    def text_of(**columns):
        path = tmp_path / "fig01.csv"
        pd.DataFrame(columns).to_csv(path, index=False)
        return alt_text(path)

    return text_of


def test_groups_are_listed_from_the_largest_median_to_the_smallest(text_of):
    text = text_of(label=["A", "A", "A", "B", "B", "C"], value=[1.0, 2.0, 99.0, 5.0, 7.0, None])
    assert text == "Medians, the largest first: B 6, A 2."


def test_frames_are_listed_separately_and_the_rest_is_counted(text_of):
    panels = [f"eps {k}" for k in range(5)]
    text = text_of(label=["A"] * 5, value=[1.0, 2.0, 3.0, 4.0, 5.0], panel=panels)
    assert text == "Medians, the largest first: eps 0: A 1; eps 1: A 2; eps 2: A 3; 2 more frames."
    text = text_of(label=["A"] * 2, value=[1.0, 2.0], part=["a", "b"], panel=["mean", "median"])
    assert text == "Medians, the largest first: a, mean: A 1; b, median: A 2."


def test_lines_are_described_from_their_first_point_to_their_last(text_of):
    text = text_of(label=["A"] * 3, value=[1.0, 9.0, 4.0], x=[10, 20, 30])
    assert text == "Medians, the largest first: A 1 to 4."
    assert text_of(label=["A"] * 2, value=[1.0, 3.0], x=[10, 20], at=[1, 2]) == "Medians, the largest first: A 2."


def test_a_table_without_values_has_no_text(text_of):
    assert text_of(label=["A"], value=[None]) == ""
    assert text_of(statistic=["mean"]) == ""
