"""Downloading data files, from addresses on this machine."""

import hashlib
from dataclasses import replace

import pytest
from formalsynth import datasets
from formalsynth.datasets import TABLES, DataError, Dataset, fetch

CONTENT = b"1,2\n"


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A registered file that is published at a file address."""
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)
    source = tmp_path / "published.csv"
    source.write_bytes(CONTENT)
    one = Dataset("copy.csv", 1, hashlib.sha256(CONTENT).hexdigest(), "nowhere", str, source.as_uri())
    monkeypatch.setattr(datasets, "TABLES", {**TABLES, "served": one})
    return one


def test_a_file_is_downloaded_once(served, tmp_path):
    folder = tmp_path / "resources"
    assert fetch("served", folder) == "copy.csv: downloaded"
    assert (folder / "copy.csv").read_bytes() == CONTENT
    assert fetch("served", folder) == "copy.csv: there already"


def test_another_file_is_refused_and_nothing_stays(served, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "TABLES", {"served": replace(served, sha256="0" * 64)})
    with pytest.raises(DataError, match="sha256 of the download"):
        fetch("served", tmp_path / "resources")
    assert not (tmp_path / "resources" / "copy.csv").exists()


def test_an_address_out_of_reach_is_a_sentence(served, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "TABLES", {"served": replace(served, url=(tmp_path / "absent").as_uri())})
    with pytest.raises(DataError, match="put the file into"):
        fetch("served", tmp_path / "resources")


def test_a_file_without_an_address_says_where_it_is_published(served, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "TABLES", {"served": replace(served, url="")})
    assert "to be fetched by hand (nowhere)" in fetch("served", tmp_path / "resources")
