"""The ledger of a file: what was spent is never forgotten, by an empty file, a power cut or a command that deletes."""

import os
import stat

import pytest
from formalsynth.cli.main import main
from formalsynth.core.text import DataError
from formalsynth.custodian.budget import (
    LedgerEntry,
    finish,
    read_comparisons,
    read_ledger,
    record_comparison,
    spent,
    spent_since,
    start,
    table,
)

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


def entry(epsilon=1.0, **changes):
    values = {
        "date": "2026-11-23", "synthesizer": "Histogram", "guarantee": "DP (replace-one)", "neighbours": "replace", "sets": 5,
        "epsilon": epsilon, "outcome": "started",
    }  # fmt: skip
    return LedgerEntry(**values | changes)


def test_epsilon_adds_up_whatever_the_outcome():
    ledger = [entry(1.5, outcome="released"), entry(0.5, outcome="stopped"), entry(0.25)]
    assert spent(ledger) == 2.25
    assert spent([]) == 0
    assert spent([entry(1.7e308), entry(1.7e308)]) == float("inf")


def test_a_budget_may_be_spent_to_its_end_and_no_further(tmp_path):
    for place in range(10):
        assert start(tmp_path, entry(0.1), 1.0) == place
    with pytest.raises(DataError, match="of the budget of 1 for all releases from the file 1 is spent"):
        start(tmp_path, entry(0.1), 1.0)
    assert len(read_ledger(tmp_path)) == 10


def test_an_outcome_changes_one_entry_and_keeps_its_epsilon(tmp_path):
    for _ in range(2):
        start(tmp_path, entry(), 5.0)
    finish(tmp_path, 0, "stopped")
    assert [(line.outcome, line.epsilon) for line in read_ledger(tmp_path)] == [("stopped", 1.0), ("started", 1.0)]


def test_the_message_counts_new_entries_only(tmp_path):
    start(tmp_path, entry(2.0), 5.0)
    assert spent_since(tmp_path, 1) == "No epsilon is spent."
    assert spent_since(tmp_path, 0).startswith("An epsilon of 2 counts as spent")


def test_the_table_names_kinds_that_do_not_add_up():
    assert table([], 3.0) == ["Nothing was released from this file yet.", "Together: 0 of 3."]
    assert table([entry(), entry(neighbours="add_remove", guarantee="DP (add/remove)")], None)[-1] == "Together: 2."
    assert "not one guarantee" in table([entry(), entry(guarantee="asymptotic DP (local eps_x)")], None)[-1]


def test_the_ledger_is_private(tmp_path):
    start(tmp_path, entry(), 5.0)
    path = tmp_path / "confidential" / "budget.jsonl"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_comparisons_between_releases_change_no_entry_of_a_release(tmp_path):
    record_comparison(tmp_path, ["A"])
    assert start(tmp_path, entry(0.5), 2.0) == 0
    record_comparison(tmp_path, ["A", "B"])
    assert start(tmp_path, entry(1.0), 2.0) == 1
    finish(tmp_path, 1, "released")
    finish(tmp_path, 0, "stopped")
    assert [(line.epsilon, line.outcome) for line in read_ledger(tmp_path)] == [(0.5, "stopped"), (1.0, "released")]
    assert [line.compared for line in read_comparisons(tmp_path)] == [("A",), ("A", "B")]
    assert spent_since(tmp_path, 1).startswith("An epsilon of 1 counts as spent")
    with pytest.raises(DataError, match=r"file 1\.5 is spent"):
        start(tmp_path, entry(1.0), 2.0)
