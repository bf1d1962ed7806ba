"""Downloading data files, from addresses on this machine."""

import hashlib
from dataclasses import replace

import pytest
from formalsynth.core.data_files import FILES, Dataset
from formalsynth.core.text import DataError
from formalsynth.steps.fetch import fetch, main

FILES.find()
CONTENT = b"1,2\n"


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A registered file that is published at a file address."""
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)
    source = tmp_path / "published.csv"
    source.write_bytes(CONTENT)
    dataset = Dataset("copy.csv", 1, hashlib.sha256(CONTENT).hexdigest(), "nowhere", str, source.as_uri())
    with FILES.trial():
        FILES.add("served", dataset, __name__)
        yield dataset


def changed(dataset, **changes):
    """Register the file a second time, with something changed; the name that it has."""
    FILES.add("changed", replace(dataset, **changes), __name__)
    return "changed"


def test_a_file_is_downloaded_once(served, tmp_path):
    folder = tmp_path / "resources"
    assert fetch("served", folder) == "copy.csv: downloaded"
    assert (folder / "copy.csv").read_bytes() == CONTENT
    assert fetch("served", folder) == "copy.csv: already there"


def test_another_file_is_refused_and_nothing_stays(served, tmp_path):
    name = changed(served, sha256="0" * 64)
    with pytest.raises(DataError, match="sha256 of the download"):
        fetch(name, tmp_path / "resources")
    assert not (tmp_path / "resources" / "copy.csv").exists()


def test_an_address_out_of_reach_is_a_sentence(served, tmp_path):
    name = changed(served, url=(tmp_path / "absent").as_uri())
    with pytest.raises(DataError, match="put the file into"):
        fetch(name, tmp_path / "resources")


def test_the_message_about_a_file_without_an_address_names_its_publication(served, tmp_path):
    assert "has to be downloaded by hand (nowhere)" in fetch(changed(served, url=""), tmp_path / "resources")


def test_the_command_fetches_every_registered_file(served, tmp_path, monkeypatch, capsys):
    """Files of papers are fetched too; a failure is reported, and the other files follow."""
    with FILES.trial():
        for name in FILES:
            monkeypatch.setitem(FILES._entries, name, replace(FILES[name], url="" if name != "served" else served.url))
        FILES.add("unreachable", replace(served, file="other.csv", url=(tmp_path / "absent").as_uri()), __name__)
        monkeypatch.setattr("sys.argv", ["fetch", str(tmp_path / "resources")])
        assert main() == 1
    output = capsys.readouterr().out
    assert len(output.splitlines()) == len(FILES) + 1
    assert "adult.data: has to be downloaded by hand" in output
    assert "copy.csv: downloaded" in output
    assert "other.csv" in output
