"""The ledger of a file: what was spent is never forgotten, by an empty file, a power cut or a command that deletes."""

import os
import stat

import pytest
from formalsynth.cli.main import main
from formalsynth.custodian.budget import LedgerEntry, finish, read_ledger, start
from formalsynth.data.files import DataError

ENTRY = LedgerEntry(
    date="2026-01-02", synthesizer="Histogram", guarantee="DP", neighbours="replace", sets=5, epsilon=1, outcome="started"
)


@pytest.mark.parametrize("content", ["", "\n", "   \n\n"])
def test_a_ledger_without_entries_is_damaged_and_not_fresh(tmp_path, content):
    start(tmp_path, ENTRY, budget=1)
    (tmp_path / "confidential" / "budget.jsonl").write_text(content)
    with pytest.raises(DataError, match="is damaged; nothing is released"):
        start(tmp_path, ENTRY, budget=1)
    assert (tmp_path / "confidential" / "budget.jsonl").read_text() == content


@pytest.mark.parametrize("there", [True, False])
def test_a_ledger_that_is_a_link_is_refused(tmp_path, there):
    other, confidential = tmp_path / "other", tmp_path / "own" / "confidential"
    if there:
        start(other, ENTRY, budget=3)
    confidential.mkdir(parents=True)
    (confidential / "budget.jsonl").symlink_to(other / "confidential" / "budget.jsonl")
    with pytest.raises(DataError, match="is a link"):
        start(tmp_path / "own", ENTRY, budget=3)
    assert (confidential / "budget.jsonl").is_symlink()


def test_an_empty_ledger_stops_a_release(income_study, capsys):
    (income_study / "confidential" / "budget.jsonl").touch()
    for command in ("release", "budget"):
        assert main([command, str(income_study)]) == 1
        assert "budget.jsonl: is damaged; nothing is released" in capsys.readouterr().err


def test_an_entry_is_on_the_disk_before_anything_is_drawn(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.rename

    def synced(descriptor):
        calls.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def replaced(path, target):
        calls.append(target.name)
        replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr("pathlib.Path.replace", replaced)
    place = start(tmp_path, ENTRY, budget=1)
    assert calls[:3] == ["file", "budget.jsonl", "folder"]
    calls.clear()
    finish(tmp_path, place, "released")
    assert calls[:3] == ["file", "budget.jsonl", "folder"]
    assert [entry.outcome for entry in read_ledger(tmp_path)] == ["released"]


def test_purge_does_not_follow_a_link(income_study, tmp_path, capsys):
    confidential, other = income_study / "confidential", tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("ten years of work")
    (confidential / "inner").symlink_to(other)
    assert main(["purge", str(income_study)]) == 0
    assert (other / "thesis.txt").is_file()
    confidential.rmdir()
    confidential.symlink_to(other)
    capsys.readouterr()
    assert main(["purge", str(income_study)]) == 1
    assert "confidential: is a link; nothing was deleted" in capsys.readouterr().err
    assert (other / "thesis.txt").is_file()
