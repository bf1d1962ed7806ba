"""Real data: the fatigue file, and files that are not what they should be."""

import hashlib

import numpy as np
import pytest
from formalsynth import datasets
from formalsynth.datasets import DataError, find, load, read_fatigue

ROWS = ["stress,cycle", "276.05,11500", "308.84,10000", "324.62,8000.5"]


@pytest.fixture
def no_real_data(monkeypatch):
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)


def test_the_nineteen_rows_have_the_printed_statistics(fatigue):
    """Range paper, Table 1, row Data."""
    x = fatigue["x"]
    assert len(x) == 19
    assert round(x.mean()) == 57771
    assert np.median(x) == 15616
    assert round(np.quantile(x, 0.9)) == 165385


def test_the_design_is_quadratic_in_log_stress(fatigue):
    constant, log_stress, square = fatigue["design"].T
    assert (constant == 1).all()
    assert square == pytest.approx(log_stress**2)
    assert len(np.unique(log_stress)) > 3


def test_rows_are_left_out_by_their_printed_number(fatigue, repository):
    whole = load("fatigue", repository / "resources")["x"]
    assert len(whole) == 22
    assert fatigue["x"].tolist() == [value for row, value in enumerate(whole, start=1) if row not in (1, 13, 22)]


@pytest.mark.usefixtures("no_real_data")
def test_an_absent_file_is_named(tmp_path):
    assert find("fatigue", tmp_path) is None
    with pytest.raises(DataError, match=r"fatigue\.csv: not found in .* nor in FORMALSYNTH_DATA"):
        load("fatigue", tmp_path)


def test_the_data_folder_comes_before_the_environment(tmp_path, monkeypatch):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "fatigue.csv").write_text("\n".join(ROWS))
    monkeypatch.setenv("FORMALSYNTH_DATA", str(there))
    assert find("fatigue", here) == here / "fatigue.csv"
    (here / "fatigue.csv").unlink()
    assert find("fatigue", here) == there / "fatigue.csv"


@pytest.mark.usefixtures("no_real_data")
def test_a_file_that_is_not_the_published_one_is_refused(tmp_path):
    (tmp_path / "fatigue.csv").write_text("\n".join(ROWS))
    found = hashlib.sha256("\n".join(ROWS).encode()).hexdigest()
    with pytest.raises(
        DataError, match=rf"fatigue\.csv: sha256 is {found}, the published file has {datasets.DATASETS['fatigue'].sha256}"
    ):
        load("fatigue", tmp_path)


def written(tmp_path, rows):
    path = tmp_path / "fatigue.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_columns_are_read_by_name(tmp_path):
    records = read_fatigue(written(tmp_path, ROWS))
    assert records["x"].tolist() == [11500, 10000, 8000.5]
    assert records["design"].shape == (3, 3)


@pytest.mark.parametrize("header", ["stress,cycles", "cycle,stress", "a,b"])
def test_other_columns_are_refused(tmp_path, header):
    with pytest.raises(DataError, match=r"fatigue\.csv: columns are .*, expected stress and cycle"):
        read_fatigue(written(tmp_path, [header, *ROWS[1:]]))


@pytest.mark.parametrize("row", ["0,100", "-1,100", "300,0", "300,-5", "300,", "abc,100", "inf,100", "300,nan", "300,inf"])
def test_impossible_values_are_refused(tmp_path, row):
    with pytest.raises(DataError, match=r"fatigue\.csv: stress and cycle must be positive numbers"):
        read_fatigue(written(tmp_path, [*ROWS, row]))
