"""Real data: how files are found, checked and loaded."""

import hashlib

import numpy as np
import pytest
from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, Dataset, find, load, load_columns, load_counts
from formalsynth.core.text import DataError

FILES.find()
ROWS = ["stress,cycle", "276.05,11500", "308.84,10000", "324.62,8000.5"]


@pytest.fixture
def no_real_data(monkeypatch):
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)


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
    sha256 = hashlib.sha256("\n".join(ROWS).encode()).hexdigest()
    with pytest.raises(DataError, match=rf"fatigue\.csv: sha256 is {sha256}, the published file has {FILES['fatigue'].sha256}"):
        load("fatigue", tmp_path)


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """Register a file of the data folder under its name; what its reader makes of it is given."""
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)

    def registered(name, content, **fields):
        (tmp_path / name).write_text("")
        FILES.add(name, Dataset(name, None, None, "nowhere", lambda path: content, **fields), __name__)
        return name

    with FILES.trial():
        yield registered


RECORDS = Records(np.arange(4.0), np.ones((4, 1)))


def test_rows_are_left_out_of_records(registered, tmp_path):
    records = load(registered("records.csv", RECORDS), tmp_path, [1, 3])
    assert records.x.tolist() == [1, 3]
    assert records.design.shape == (2, 1)


@pytest.mark.parametrize(("rows", "words"), [([2, 2], "allowed: different rows"), ([5], "from 1 to 4"), ([1, 2, 3], "1 records")])
def test_rows_that_cannot_be_left_out_are_refused(registered, tmp_path, rows, words):
    name = registered("records.csv", RECORDS)
    with pytest.raises(DataError, match=words):
        load(name, tmp_path, rows)


def test_a_file_without_records_is_not_loaded_as_records(registered, tmp_path):
    counts = {"AGE": (np.array([30.0]), np.array([5.0]))}
    name = registered("counts.csv", counts, holds="counts")
    assert load_counts(name, tmp_path) == counts
    assert load_columns(registered("columns.csv", {"a": np.array(["b"])}, holds="columns"), tmp_path)["a"].tolist() == ["b"]
    with pytest.raises(DataError, match=r"counts\.csv: contains counts, not records"):
        load(name, tmp_path)


@pytest.mark.usefixtures("no_real_data")
def test_counts_that_are_absent_are_none(tmp_path):
    assert load_counts("sdr2017_margins", tmp_path) is None


def test_every_registered_file_names_its_content():
    held = {"fatigue": "records", "sdr2017": "records", "sdr2017_margins": "counts", "adult_training": "columns"}
    assert {name: FILES[name].holds for name in held} == held
