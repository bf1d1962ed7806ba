"""Real data: how files are found, checked and loaded."""

import gzip
import hashlib
import json

import numpy as np
import pytest

from formalsynth.core import data_files
from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, SHIPPED, Dataset, find, load, load_columns, load_counts, opened
from formalsynth.core.text import DataError
from formalsynth_workflow.plan.model import find_all

find_all()
ROWS = ["stress,cycle", "276.05,11500", "308.84,10000", "324.62,8000.5"]


def test_an_absent_file_is_named(tmp_path):
    assert find("sdr2017", tmp_path) is None
    with pytest.raises(DataError, match=r"EPSD17\.DAT: not found in .* nor in FORMALSYNTH_DATA"):
        load("sdr2017", tmp_path)


def test_a_users_own_file_comes_before_the_repositorys(tmp_path, monkeypatch):
    """The data folder first, except if it is that of the repository."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "fatigue.csv").write_text("\n".join(ROWS))
    monkeypatch.setenv("FORMALSYNTH_DATA", str(there))
    assert find("fatigue", here) == here / "fatigue.csv"
    (here / "fatigue.csv").unlink()
    assert find("fatigue", here) == find("fatigue", SHIPPED) == there / "fatigue.csv"
    (there / "fatigue.csv").unlink()
    assert find("fatigue", here) == SHIPPED / "fatigue.csv"


def test_own_code_does_not_read_the_repositorys_files(tmp_path, monkeypatch):
    """A file of the same name may be another."""
    monkeypatch.setitem(FILES._modules, "fatigue", str(tmp_path / "own.py"))
    assert find("fatigue", "nowhere") is None


@pytest.mark.parametrize("name", sorted({entry.file: name for name, entry in FILES.items() if entry.licence}.values()))
def test_the_repository_contains_the_published_files(name):
    """As its description states; only the survey's records are missing."""
    described = json.loads((SHIPPED / "datapackage.json").read_text())["resources"]
    path = find(name, "nowhere")
    (entry,) = (entry for entry in described if entry["path"] == path.name)
    assert entry["hash"] == f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    with opened(path) as file:
        assert hashlib.file_digest(file, "sha256").hexdigest() == FILES[name].sha256
    with opened(path) as file:
        rows = len([line for line in file if line.strip()])
    assert entry["rows"] == FILES[name].rows == rows - (path.suffix == ".csv" or "test" in path.name)
    assert entry["sources"] and entry["licenses"]
    assert path.stat().st_size < 500_000


def test_only_the_records_of_the_survey_are_missing():
    assert {entry.file for entry in FILES.values() if not entry.licence} == {"EPSD17.DAT"}
    assert len(json.loads((SHIPPED / "datapackage.json").read_text())["resources"]) == 5


@pytest.mark.parametrize("content", [b"", b"no gzip", gzip.compress(b"x" * 999)[:-12]], ids=["empty", "text", "cut off"])
def test_a_damaged_compressed_file_is_named(tmp_path, monkeypatch, content):
    monkeypatch.setattr(data_files, "SHIPPED", tmp_path)
    (tmp_path / "adult.data.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"adult\.data\.gz: (cannot be read: \w+|sha256 is)"):
        load_columns("adult_training", "nowhere")


def test_a_file_that_is_not_the_published_one_is_refused(tmp_path):
    (tmp_path / "fatigue.csv").write_text("\n".join(ROWS))
    sha256 = hashlib.sha256("\n".join(ROWS).encode()).hexdigest()
    with pytest.raises(DataError, match=rf"fatigue\.csv: sha256 is {sha256}, the published file has {FILES['fatigue'].sha256}"):
        load("fatigue", tmp_path)


@pytest.fixture
def registered(tmp_path):
    """Register a file of the data folder under its name; what its reader makes of it is given."""

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


def test_every_registered_file_names_its_content():
    held = {"fatigue": "records", "sdr2017": "records", "sdr2017_margins": "counts", "adult_training": "columns"}
    assert {name: FILES[name].holds for name in held} == held
