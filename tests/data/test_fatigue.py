"""The fatigue data: the printed statistics, and files that are not what they should be."""

import numpy as np
import pytest

from formalsynth.core.data_files import load
from formalsynth.data.fatigue import read_fatigue

ROWS = ["stress,cycle", "276.05,11500", "308.84,10000", "324.62,8000.5"]


def test_the_nineteen_rows_have_the_printed_statistics(fatigue):
    """Range paper, Table 1, row Data."""
    x = fatigue.x
    assert len(x) == 19
    assert round(x.mean()) == 57771
    assert np.median(x) == 15616
    assert round(np.quantile(x, 0.9)) == 165385


def test_the_design_is_quadratic_in_log_stress(fatigue):
    constant, log_stress, square = fatigue.design.T
    assert (constant == 1).all()
    assert square == pytest.approx(log_stress**2)
    assert len(np.unique(log_stress)) > 3


def test_rows_are_left_out_by_their_printed_number(fatigue, repository):
    whole = load("fatigue", repository / "resources").x
    assert len(whole) == 22
    assert fatigue.x.tolist() == [value for row, value in enumerate(whole, start=1) if row not in (1, 13, 22)]


def test_the_cycles_alone_are_those_of_the_same_rows(fatigue, repository):
    alone = load("fatigue_cycles", repository / "resources", [1, 13, 22])
    assert (alone.x == fatigue.x).all()
    assert (alone.design == np.ones((19, 1))).all()


def written(tmp_path, rows):
    path = tmp_path / "fatigue.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_columns_are_read_by_name(tmp_path):
    records = read_fatigue(written(tmp_path, ROWS))
    assert records.x.tolist() == [11500, 10000, 8000.5]
    assert records.design.shape == (3, 3)
