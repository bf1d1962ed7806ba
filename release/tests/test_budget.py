"""The ledger of a file: what was spent is never forgotten, by an empty file, a power cut or a command that deletes."""

import errno
import fcntl
import json
import os
import pickle
import re
import shutil
import stat
import time
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from formalsynth.core.text import DataError
from formalsynth_release.budget import (
    FILE,
    change_budget,
    check_head,
    finish,
    head,
    only_release,
    overlapping,
    purge,
    read_comparisons,
    read_history,
    read_ledger,
    record_comparison,
    spent,
    spent_elsewhere,
    spent_since,
    start,
    table,
)
from formalsynth_release.command import main
from formalsynth_release.hash_chain import BudgetEntry, LedgerEntry, OpenedEntry, OutcomeEntry, added, head_of
from formalsynth_release.same_rows import content_of, known_as, ledgers_folder

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
    started = start(tmp_path, ENTRY, budget=1)
    written = [name for name in calls if name not in ("file", "folder")]
    assert len(written) == 2 and written[1] == "budget.jsonl"  # the copy among all ledgers first
    for name in written:
        place = calls.index(name)
        assert (calls[place - 1], calls[place + 1]) == ("file", "folder")
    calls.clear()
    finish(tmp_path, started.place, "released")
    assert calls[:3] == ["file", written[0], "folder"]
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


@pytest.mark.parametrize("inside", ["release/crossing.yaml", "study/schema.yaml", "income.csv"])
def test_purge_deletes_no_file_release_or_study(income_study, inside, capsys):
    path = income_study / "confidential" / inside
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("kept")
    if inside == "income.csv":
        schema = income_study / "schema.yaml"
        schema.write_text(re.sub("(?m)^file: .*$", "file: confidential/income.csv", schema.read_text()))
    assert main(["purge", str(income_study)]) == 1
    assert "would be deleted, and is no output of this study; nothing was deleted: move it away" in capsys.readouterr().err
    assert path.read_text() == "kept"


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
        assert start(tmp_path, entry(0.1), 1.0).place == place
    with pytest.raises(DataError, match="1 of the budget of 1 for all releases from the file is already spent"):
        start(tmp_path, entry(0.1), 1.0)
    assert len(read_ledger(tmp_path)) == 10


def test_an_outcome_changes_one_entry_and_keeps_its_epsilon(tmp_path):
    for _ in range(2):
        start(tmp_path, entry(), 5.0)
    finish(tmp_path, 0, "stopped")
    assert [(line.outcome, line.epsilon) for line in read_ledger(tmp_path)] == [("stopped", 1.0), ("started", 1.0)]


def test_the_message_counts_new_entries_only(tmp_path):
    start(tmp_path, entry(2.0), 5.0)
    assert spent_since(tmp_path, 1) == "No more epsilon is spent."
    assert spent_since(tmp_path / "other", 0) == "No epsilon is spent."
    assert spent_since(tmp_path, 0).startswith("An epsilon of 2 counts as spent")


def test_the_table_names_kinds_that_do_not_add_up():
    nothing = "This study has no release yet. formalsynth check shows whether other studies have released the same rows."
    assert table([], declared=3.0) == [nothing, "Spent by this study: 0 of 3."]
    mixed = table([entry(), entry(neighbours="add_remove", guarantee="DP (add/remove)")])[-1]
    assert mixed == "Together: 2. For a replaced row, an epsilon for add_remove counts twice."
    assert "not one guarantee" in table([entry(), entry(guarantee="asymptotic DP (local eps_x)")])[-1]


def test_the_table_has_the_budgets_of_the_ledger():
    budgets = [BudgetEntry(date="2026-11-01", budget=4), BudgetEntry(date="2026-11-02", budget=8, reason="a second wave")]
    lines = table([*budgets, entry()], declared=8)
    assert lines[:2] == ["2026-11-01  budget 4: declared", "2026-11-02  budget 8: a second wave"]
    assert lines[-1] == "Together: 1 of 8."
    assert table([*budgets, entry()], declared=9)[-1] == (
        "Together: 1 of 8. The budget in release.yaml, 9, differs from the recorded one, so a release would be refused."
    )


def test_the_table_follows_the_order_of_the_ledger(tmp_path):
    """A comparison after a release did not affect it."""
    start(tmp_path, entry(1.0), 3.0, content_of(ROWS))
    record_comparison(tmp_path, ["A"], content_of(ROWS))
    start(tmp_path, entry(0.5), 3.0, content_of(ROWS))
    lines = table(read_history(tmp_path))
    assert ["budget 3" in lines[0], "at most 1 " in lines[1], "compared" in lines[2], "at most 0.5 " in lines[3]] == [True] * 4


def test_a_check_names_rows_that_are_not_those_of_earlier_releases(tmp_path):
    start(tmp_path, entry(1.0), 3.0, content_of(ROWS))
    assert overlapping(tmp_path, content_of(ROWS)) == []
    changed = overlapping(tmp_path, content_of(ROWS + "1"))
    assert "these are not the rows of this study's earlier releases, but their epsilon of 1 still counts" in changed


def test_the_ledger_is_private(tmp_path):
    start(tmp_path, entry(), 5.0)
    path = tmp_path / "confidential" / "budget.jsonl"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_comparisons_between_releases_change_no_entry_of_a_release(tmp_path):
    record_comparison(tmp_path, ["A"])
    assert start(tmp_path, entry(0.5), 2.0).place == 0
    record_comparison(tmp_path, ["A", "B"])
    assert start(tmp_path, entry(1.0), 2.0).place == 1
    finish(tmp_path, 1, "released")
    finish(tmp_path, 0, "stopped")
    assert [(line.epsilon, line.outcome) for line in read_ledger(tmp_path)] == [(0.5, "stopped"), (1.0, "released")]
    assert [line.compared for line in read_comparisons(tmp_path)] == [("A",), ("A", "B")]
    assert spent_since(tmp_path, 1).startswith("An epsilon of 1 counts as spent")
    with pytest.raises(DataError, match=r"1\.5 of the budget of .* is already spent"):
        start(tmp_path, entry(1.0), 2.0)


def lines_of(folder):
    return (folder / "confidential" / "budget.jsonl").read_text().splitlines()


def put(folder, lines):
    (folder / "confidential" / "budget.jsonl").write_text("".join(f"{line}\n" for line in lines))


def three_releases(folder):
    """Ledger with three releases; its copy among all ledgers is lost, so that only hashes and a kept head can tell."""
    for epsilon in (0.5, 1.0, 0.25):
        finish(folder, start(folder, entry(epsilon), 5.0).place, "released", "ab" * 32)
    shutil.rmtree(os.environ["FORMALSYNTH_LEDGERS"])
    Path(os.environ["FORMALSYNTH_LEDGERS"]).mkdir()
    return lines_of(folder)


CHANGES = {
    "a smaller epsilon": lambda lines: [line.replace('"epsilon":1.0', '"epsilon":0.1') for line in lines],
    "another date": lambda lines: [lines[0].replace("20", "19", 1), *lines[1:]],
    "a release deleted": lambda lines: lines[:2] + lines[4:],
    "the first entry deleted": lambda lines: lines[1:],
    "two entries exchanged": lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
    "an entry twice": lambda lines: [*lines[:3], lines[2], *lines[3:]],
    "an outcome of no release": lambda lines: added(lines, OutcomeEntry(date="2026-11-23", release=7, outcome="stopped")),
    "opened again": lambda lines: added(lines, OpenedEntry(date="2026-11-23", ledger="0" * 32)),
    "an entry of another kind": lambda lines: [*lines[:-1], lines[-1].replace("outcome", "result", 1)],
    "a line of an earlier version": lambda lines: [*lines, ENTRY.model_dump_json()],
    "no object": lambda lines: [*lines, "[]"],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_ledger_is_damaged(tmp_path, change):
    put(tmp_path, CHANGES[change](three_releases(tmp_path)))
    with pytest.raises(DataError, match=r"budget\.jsonl: is damaged.*; nothing is released until it is intact"):
        start(tmp_path, entry(0.1), 5.0)


def test_a_kept_head_shows_what_hashes_alone_do_not(tmp_path):
    lines = three_releases(tmp_path)
    kept = head_of(lines)
    unchanged = "The saved head matches entry 8: no entry up to that point has been changed. Later entries: 0."
    assert check_head(tmp_path, kept) == unchanged
    start(tmp_path, entry(0.1), 5.0)
    assert check_head(tmp_path, kept).endswith("Later entries: 1.")
    shutil.rmtree(os.environ["FORMALSYNTH_LEDGERS"])
    Path(os.environ["FORMALSYNTH_LEDGERS"]).mkdir()
    put(tmp_path, lines[:4])
    with pytest.raises(
        DataError, match="the saved head covers 8 entries, but the ledger has only 4: entries were deleted, or this is an"
    ):
        check_head(tmp_path, kept)
    again = added([], OpenedEntry(date="2026-11-23", ledger="0" * 32))
    for _ in range(8):
        again = added(again, entry(0.01))
    put(tmp_path, again)
    with pytest.raises(DataError, match="entry 8, or one before it, does not match the saved head: the ledger was changed"):
        check_head(tmp_path, kept)
    with pytest.raises(DataError, match="--head: given '8'; allowed: a number of entries"):
        check_head(tmp_path, "8")


def test_either_copy_of_a_ledger_makes_up_for_the_other(tmp_path):
    start(tmp_path, entry(0.5), 5.0)
    older = lines_of(tmp_path)
    start(tmp_path, entry(1.0), 5.0)
    put(tmp_path, older)
    assert spent(read_ledger(tmp_path)) == 1.5
    shutil.rmtree(os.environ["FORMALSYNTH_LEDGERS"])
    Path(os.environ["FORMALSYNTH_LEDGERS"]).mkdir()
    assert spent(read_ledger(tmp_path)) == 0.5
    put(tmp_path, older[:1])
    start(tmp_path, entry(0.25), 5.0)
    newer = lines_of(tmp_path)
    put(tmp_path, older)
    with pytest.raises(DataError, match=r"differs from its copy .* and neither continues the other"):
        read_ledger(tmp_path)
    put(tmp_path, newer)
    assert spent(read_ledger(tmp_path)) == 0.25


ROWS = pd.DataFrame({"a": [str(number) for number in range(40)]})


def test_a_missing_ledger_is_restored_from_the_copy_of_its_study(tmp_path):
    study, other = tmp_path / "one", tmp_path / "two"
    start(study, entry(1.0), 3.0, content_of(ROWS))
    shutil.rmtree(study / "confidential")
    assert "A study in this folder had the ledger" in spent_elsewhere(study)[0]
    assert spent_elsewhere(other) == []
    started = start(study, entry(0.5), 3.0, content_of(ROWS))
    assert (started.place, [line.epsilon for line in started.earlier]) == (1, [1.0])
    assert spent(read_ledger(study)) == 1.5
    shutil.rmtree(study / "confidential")
    assert start(study, entry(0.5), 9.0, content_of(ROWS + "1")).earlier == (), "a new study of another file"


def test_another_ledger_in_the_place_of_a_study_is_refused(tmp_path):
    """With a larger budget, which nobody declared for these rows."""
    study, forged = tmp_path / "one", tmp_path / "two"
    start(study, entry(1.0), 1.0, content_of(ROWS))
    start(forged, entry(0.1), 1000.0, content_of(ROWS + "1"))
    put(study, lines_of(forged))
    with pytest.raises(DataError, match="is not the ledger of this study: restore it from its copy"):
        start(study, entry(5.0), 1000.0, content_of(ROWS))


def test_a_ledger_that_is_listed_and_missing_is_named_and_counts(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    start(first, entry(1.0), 1.0, content_of(ROWS))
    for path in Path(os.environ["FORMALSYNTH_LEDGERS"]).glob("*.jsonl"):
        if path.name != "files.jsonl":
            path.unlink()
    with pytest.raises(DataError, match="is listed but missing; nothing is released until it is restored"):
        start(second, entry(1.0), 1.0, content_of(ROWS))
    shutil.rmtree(first / "confidential")
    with pytest.raises(DataError, match="is listed but missing"):
        start(first, entry(1.0), 1.0, content_of(ROWS))


def test_a_ledger_of_other_rows_has_no_say_on_their_budget(tmp_path):
    """Copied into a new folder, or with another file named in its schema."""
    start(tmp_path / "one", entry(1.0), 1.0, content_of(ROWS))
    start(tmp_path / "two", entry(0.1), 100.0, content_of(ROWS + "1"))
    (tmp_path / "three" / "confidential").mkdir(parents=True)
    put(tmp_path / "three", lines_of(tmp_path / "two"))
    for name in ("two", "three"):
        with pytest.raises(DataError, match=r"budget: given 100; allowed: 1, as the file's ledger records"):
            start(tmp_path / name, entry(50.0), 100.0, content_of(ROWS))


def test_studies_of_the_same_rows_may_change_places(tmp_path):
    first, second = tmp_path / "one", tmp_path / "two"
    start(first, entry(1.0), 5.0, content_of(ROWS))
    start(second, entry(0.5), 5.0, content_of(ROWS))
    first.rename(tmp_path / "other")
    second.rename(first)
    assert [line.epsilon for line in start(first, entry(0.25), 5.0, content_of(ROWS)).earlier] == [0.5]


def test_equal_ledgers_of_an_earlier_version_stay_two(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "confidential").mkdir(parents=True)
        put(tmp_path / name, [entry(1.0, outcome="stopped").model_dump_json(exclude={"kind"})])
    start(tmp_path / "one", entry(1.0), 5.0, content_of(ROWS))
    assert spent(read_ledger(tmp_path / "one")) == 2.0
    assert spent(read_ledger(tmp_path / "two")) == 1.0


@pytest.mark.parametrize("inside", ["", "confidential"])
def test_a_folder_of_all_ledgers_inside_a_study_is_refused(tmp_path, monkeypatch, inside):
    (tmp_path / "one" / inside).mkdir(parents=True)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / "one" / inside))
    with pytest.raises(DataError, match=r"FORMALSYNTH_LEDGERS: .* is in the folder of a study"):
        start(tmp_path / "one", entry(1.0), 5.0)


def test_a_ledger_of_an_earlier_version_has_one_head(tmp_path):
    (tmp_path / "confidential").mkdir()
    put(tmp_path, [entry(0.5, outcome="released").model_dump_json(exclude={"kind"})])
    kept = head(tmp_path).split()[4].rstrip(".")
    assert head(tmp_path) == head(tmp_path)
    assert check_head(tmp_path, kept).startswith("The saved head matches entry 2")


def test_a_ledger_of_many_brackets_is_damaged(tmp_path):
    start(tmp_path, entry(1.0), 1.0)
    put(tmp_path, ["[" * 100_000])
    with pytest.raises(DataError, match="is damaged"):
        read_ledger(tmp_path)


def test_one_release_of_a_study_is_under_way_at_a_time(tmp_path):
    with only_release(tmp_path):
        with pytest.raises(DataError, match="another release of this study is under way"), only_release(tmp_path):
            pass
        with pytest.raises(DataError, match="another release of this study is under way"):
            purge(tmp_path)
    with only_release(tmp_path):
        pass


def test_a_ledger_of_an_earlier_version_is_taken_over(tmp_path):
    former = [entry(0.5, outcome="released"), entry(1.0, outcome="stopped")]
    (tmp_path / "confidential").mkdir()
    texts = [line.model_dump_json(exclude={"kind"}) for line in former]
    put(tmp_path, [*texts, '{"date": "2026-01-03", "compared": ["A"]}'])
    assert read_ledger(tmp_path) == former
    with pytest.raises(DataError, match=r"1\.5 of the budget of 2 for all releases from the file is already spent"):
        start(tmp_path, entry(0.75), 2.0)
    assert start(tmp_path, entry(0.25), 2.0).earlier == tuple(former)
    assert spent(read_ledger(tmp_path)) == 1.75
    assert [line.compared for line in read_comparisons(tmp_path)] == [("A",)]


def test_a_budget_is_raised_by_an_entry_alone(tmp_path):
    with pytest.raises(DataError, match="the ledger has none until the first release"):
        change_budget(tmp_path, 3.0, "more waves")
    start(tmp_path, entry(1.0), 1.0)
    for budget in (5.0, 0.5):
        with pytest.raises(DataError, match=rf"budget: given {budget:g}; allowed: 1, as the file's ledger records"):
            start(tmp_path, entry(0.1), budget)
    change_budget(tmp_path, 3.0, "more waves")
    assert start(tmp_path, entry(1.0), 3.0).budgets == (1.0, 3.0)
    with pytest.raises(DataError, match="cannot be changed to 3: it is already 3"):
        change_budget(tmp_path, 3.0, "again")
    for number in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(DataError, match=r"--change: given .*; allowed: a number above 0"):
            change_budget(tmp_path, number, "no budget")


def test_a_budget_changed_in_one_study_does_not_stop_another(tmp_path):
    first, second, third = (tmp_path / name for name in ("one", "two", "three"))
    content = content_of(pd.DataFrame({"a": ["1", "2"]}))
    start(first, entry(1.0), 2.0, content)
    start(second, entry(0.5), 2.0, content)
    change_budget(first, 3.0, "more waves")
    assert start(first, entry(0.5), 3.0, content).budgets == (2.0, 3.0)
    with pytest.raises(DataError, match="2 of the budget of 2 for all releases from the file is already spent"):
        start(second, entry(0.5), 2.0, content)
    with pytest.raises(DataError, match="budget: given 4; allowed: 2 or 3, as the file's ledger records"):
        start(third, entry(0.5), 4.0, content)
    assert start(third, entry(0.5), 3.0, content).earlier == ()
    assert spent_elsewhere(second) == ["Other ledgers of the same rows: epsilon 2, which also counts here."]


def test_another_study_of_the_same_rows_does_not_start_at_zero(tmp_path):
    first, second, third = (tmp_path / name for name in ("one", "two", "three"))
    rows = pd.DataFrame({"a": [str(number) for number in range(40)], "b": ["x", "y"] * 20})
    other = rows.assign(a=rows["a"] + "1")
    start(first, entry(1.0), 2.0, content_of(rows))
    shutil.rmtree(first)  # and the ledger with it
    again = rows.sample(frac=1, random_state=1)[["b", "a"]]
    assert overlapping(second, content_of(again))[0].endswith("it records a spent epsilon of 1, which also counts here")
    started = start(second, entry(0.5), 2.0, content_of(again))
    assert (started.place, started.earlier) == (0, ())  # what is published does not depend on the other study
    with pytest.raises(DataError, match=r"1\.5 of the budget of 2 for all releases from the file is already spent"):
        start(second, entry(1.0), 2.0, content_of(again))
    with pytest.raises(DataError, match="budget: given 9; allowed: 2"):
        start(third, entry(1.0), 9.0, content_of(rows))
    assert start(third, entry(2.0), 2.0, content_of(other)).earlier == ()


def test_a_comparison_gives_a_study_no_budget_of_its_own(tmp_path):
    """Its ledger is listed for the rows from then on, and has no budget yet."""
    start(tmp_path / "one", entry(1.0), 1.0, content_of(ROWS))
    record_comparison(tmp_path / "two", ["tables"], content_of(ROWS))
    with pytest.raises(DataError, match="budget: given 1000; allowed: 1, as the file's ledger records"):
        start(tmp_path / "two", entry(500.0), 1000.0, content_of(ROWS))


@pytest.mark.parametrize("first", ["a comparison", "a release"])
def test_a_budget_for_other_rows_ends_where_these_are_used(tmp_path, first):
    """A study of a made-up file with a large budget, in which another file is named later."""
    study = tmp_path / "two"
    start(tmp_path / "one", entry(1.0), 3.0, content_of(ROWS))
    start(study, entry(0.1), 100.0, content_of(ROWS + "1"))
    if first == "a comparison":
        record_comparison(study, ["tables"], content_of(ROWS))
    else:
        assert start(study, entry(0.5), 3.0, content_of(ROWS)).budgets == (100.0, 3.0)
    with pytest.raises(DataError, match="budget: given 100; allowed: 3, as the file's ledger records"):
        start(study, entry(50.0), 100.0, content_of(ROWS))
    assert start(study, entry(0.25), 3.0, content_of(ROWS)).budgets == (100.0, 3.0)


def test_equal_rows_count_together_whatever_format_one_of_their_files_had(tmp_path):
    """A file that was read in a wrong format first is listed under other rows, and later has those of another file."""
    plain = content_of(ROWS)
    right, wrong = (replace(content_of(rows), file="0" * 64) for rows in (ROWS, ROWS + "1"))
    start(tmp_path / "one", entry(1.0), 1.5, plain)  # of a list without files, or another file with these rows
    start(tmp_path / "two", entry(1.0), 100.0, wrong)
    for study in ("two", "three"):
        with pytest.raises(DataError, match=r"budget: given 100; allowed: 1\.5"):
            start(tmp_path / study, entry(1.0), 100.0, right)
        with pytest.raises(DataError, match=r"2 of the budget of 1\.5 for all releases from the file is already spent"):
            start(tmp_path / study, entry(1.0), 1.5, right)


def test_what_was_spent_on_a_file_in_two_formats_counts_for_another_file_of_its_rows(tmp_path):
    right, wrong = (replace(content_of(rows), file="0" * 64) for rows in (ROWS, ROWS + "1"))
    start(tmp_path / "one", entry(0.5), 1.5, wrong)
    start(tmp_path / "two", entry(1.0), 1.5, right)
    with pytest.raises(DataError, match=r"1\.5 of the budget of 1\.5 for all releases from the file is already spent"):
        start(tmp_path / "three", entry(1.0), 1.5, replace(right, file="1" * 64))


def test_another_declared_format_of_a_file_is_no_other_file(tmp_path):
    """Its encoding or its decimal point, read in another way, changes all rows and no byte."""
    first, again = (replace(content_of(rows), file="0" * 64) for rows in (ROWS, ROWS + "1"))
    start(tmp_path / "one", entry(1.0), 1.5, first)
    with pytest.raises(DataError, match=r"budget: given 100; allowed: 1\.5"):
        start(tmp_path / "two", entry(1.0), 100.0, again)
    with pytest.raises(DataError, match=r"1 of the budget of 1\.5 for all releases from the file is already spent"):
        start(tmp_path / "two", entry(1.0), 1.5, again)
    assert start(tmp_path / "other", entry(1.0), 100.0, replace(again, file="1" * 64)).budgets == (100.0,)


def test_what_cannot_be_listed_spends_nothing(tmp_path, monkeypatch):
    """The list of all files is long, and the disk may be too full for it, but not for a ledger."""

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    start(tmp_path / "other", entry(1.0), 100.0, content_of(ROWS + "1"))
    start(tmp_path / "one", entry(1.0), 3.0, content_of(ROWS))
    with monkeypatch.context() as patched:
        patched.setattr("formalsynth_release.budget.keep_known", full)
        for name in ("other", "new"):
            with pytest.raises(OSError, match="full"):
                start(tmp_path / name, entry(0.5), 3.0, content_of(ROWS))
    assert [spent(read_ledger(tmp_path / name)) for name in ("other", "new")] == [1.0, 0]
    with pytest.raises(DataError, match="budget: given 100; allowed: 3"):
        start(tmp_path / "other", entry(0.5), 100.0, content_of(ROWS))


@pytest.mark.parametrize("reason", ["a wave \udcff"])
def test_an_entry_that_nobody_could_read_again_is_not_written(tmp_path, reason):
    start(tmp_path, entry(1.0), 3.0)
    with pytest.raises(DataError, match="an entry was not written, because it could not be read back"):
        change_budget(tmp_path, 5.0, reason)
    assert start(tmp_path, entry(1.0), 3.0).place == 1


def test_another_ledger_under_the_name_of_a_listed_one_is_named(tmp_path):
    start(tmp_path / "one", entry(2.0), 3.0, content_of(ROWS))
    start(tmp_path / "other", entry(0.1), 3.0, content_of(ROWS + "1"))
    listed, other = (tmp_path / name / "confidential" / "budget.jsonl" for name in ("one", "other"))
    copy = next(path for path in Path(os.environ["FORMALSYNTH_LEDGERS"]).iterdir() if path.read_bytes() == listed.read_bytes())
    shutil.copy(other, copy)
    with pytest.raises(DataError, match=rf"{copy.name}: contains another ledger, .*; nothing is released until it is restored"):
        start(tmp_path / "two", entry(2.5), 3.0, content_of(ROWS))


def test_a_missing_ledger_is_named_with_its_copy(tmp_path):
    start(tmp_path, entry(1.0), 3.0, content_of(ROWS))
    (tmp_path / "confidential" / "budget.jsonl").unlink()
    for use in (
        lambda: change_budget(tmp_path, 5.0, "a wave"),
        lambda: finish(tmp_path, 0, "stopped"),
        lambda: read_ledger(tmp_path, needed=True),
    ):
        with pytest.raises(DataError, match=r"budget\.jsonl: is missing: restore it from its copy .*[0-9a-f]{32}\.jsonl"):
            use()
    assert read_ledger(tmp_path) == []


@pytest.mark.parametrize("inside", ["one/confidential/ledgers", "two/confidential", "two/ledgers"])
def test_a_folder_of_all_ledgers_that_a_purge_would_delete_is_refused(tmp_path, monkeypatch, inside):
    (tmp_path / "two").mkdir()
    for name in ("schema.yaml", "release.yaml"):
        (tmp_path / "two" / name).touch()
    (tmp_path / inside).mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / inside))
    with pytest.raises(DataError, match=r"FORMALSYNTH_LEDGERS: .* is in the folder of a study"):
        start(tmp_path / "one", entry(1.0), 5.0)


def test_a_file_system_without_locks_is_named_before_anything_is_spent(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(DataError, match=r"\.release\.lock: cannot be locked \(Operation not supported\)"), only_release(tmp_path):
        pass
    with pytest.raises(DataError, match=r"\.ledger\.lock: cannot be locked"):
        start(tmp_path, entry(1.0), 3.0)
    assert read_ledger(tmp_path) == []


def test_a_lock_that_is_a_link_changes_no_other_file(tmp_path):
    other = tmp_path / "other"
    other.touch(mode=0o644)
    (tmp_path / ".release.lock").symlink_to(other)
    with pytest.raises(OSError, match="symbolic links"), only_release(tmp_path):
        pass
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_a_check_makes_the_key_under_the_lock_of_a_release(tmp_path, monkeypatch):
    """Two keys at once: the list of one would be of no use with the other."""
    made = []

    def make(folder, *rest):
        with open(folder / ".ledger.lock", "rb") as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made.append(known_as(folder, *rest))
        return made[-1]

    monkeypatch.setattr("formalsynth_release.budget.known_as", make)
    assert overlapping(tmp_path, content_of(ROWS)) == []
    assert len(made) == 1


def test_what_a_killed_process_left_is_removed(tmp_path):
    """Also the scratch folder of a ledger whose name, drawn once, no later process has."""
    places = [Path(os.environ["FORMALSYNTH_LEDGERS"]), tmp_path / "confidential"]
    for place in places:
        (place / f".{'ab' * 16}.jsonl.ab12.scratch").mkdir(parents=True)
        (place / f".{'ab' * 16}.jsonl.ab12.scratch" / ".lock").touch()
    start(tmp_path, entry(1.0), 3.0)
    assert [path.name for place in places for path in place.iterdir() if path.is_dir()] == []


def test_two_releases_at_once_cannot_spend_the_same_rest(tmp_path, warm_python):
    """Eight processes ask for 1 each of a budget of 3, in two studies of the same rows."""
    code = (
        "import pickle, sys, time; import pandas as pd; from pathlib import Path\n"
        "from formalsynth_release.budget import start; from formalsynth_release.same_rows import content_of\n"
        "study, wanted, ready, go = sys.argv[1:]; rows = content_of(pd.DataFrame({'a': ['1', '2', '3']})); Path(ready).touch()\n"
        "while not Path(go).exists(): time.sleep(0.001)\n"
        "start(Path(study), pickle.loads(bytes.fromhex(wanted)), 3.0, rows)"
    )
    wanted, go, programs = pickle.dumps(entry(1.0)).hex(), tmp_path / "go", []
    for number in range(8):
        study, ready = tmp_path / f"study{number % 2}", tmp_path / f"ready{number}"
        with open(tmp_path / f"errors{number}", "wb") as errors:
            given = [study, wanted, ready, go]
            programs.append(warm_python().start(code, given, dict(os.environ), errors, errors))
    while not all((tmp_path / f"ready{number}").exists() for number in range(8)):
        time.sleep(0.01)  # all of them ask at the same time
    go.touch()
    assert sorted(program.wait(60) for program in programs) == [0] * 3 + [1] * 5
    errors = [(tmp_path / f"errors{number}").read_text() for number in range(8)]
    assert all("DataError" in error for error in errors if error)
    assert spent(read_ledger(tmp_path / "study0")) + spent(read_ledger(tmp_path / "study1")) == 3.0


def test_the_command_prints_and_checks_a_head_and_changes_a_budget(income_study, capsys):
    start(income_study, entry(1.0), 3.0)
    assert main(["budget", str(income_study)]) == 0
    printed = capsys.readouterr().out
    kept = re.search(r"Head of the ledger: (3:[0-9a-f]{64})\. Ask the disclosure officer to keep this line", printed)[1]
    assert main(["budget", str(income_study), "--change", "5"]) == 1
    assert "--change and --reason: give both: the new budget, and why it changed" in capsys.readouterr().err
    assert main(["budget", str(income_study), "--change", "5", "--reason", "a wave", "--head", kept]) == 0
    unchanged = "The saved head matches entry 3: no entry up to that point has been changed. Later entries: 0."
    assert unchanged in capsys.readouterr().out
    assert start(income_study, entry(1.0), 5.0).budgets == (3.0, 5.0)


def _of_rows(seed):
    return content_of(pd.DataFrame({"a": [str(seed * 1000 + k) for k in range(30)]}))


@pytest.mark.parametrize("between", ["release", "compare", "another study"])
def test_a_file_in_between_does_not_raise_the_budget_of_rows(tmp_path, between):
    ours, others = _of_rows(1), _of_rows(2)
    start(tmp_path / "c", ENTRY, 1, ours)
    start(tmp_path / "d", ENTRY, 100, others)
    if between == "release":
        with pytest.raises(DataError, match="budget: given 100; allowed: 1,"):
            start(tmp_path / "c", ENTRY, 100, others)
    else:
        record_comparison(tmp_path / "c", ["x"], others)
    study = tmp_path / ("e" if between == "another study" else "c")
    with pytest.raises(DataError, match="budget: given 100; allowed: 1,"):
        start(study, ENTRY, 100, ours)


def test_a_ledger_of_former_rows_has_no_say_on_the_budget_of_others(tmp_path):
    ours, others = _of_rows(1), _of_rows(2)
    start(tmp_path / "a", ENTRY, 1, ours)
    for name in "bc":
        start(tmp_path / name, ENTRY, 100, others)
    with pytest.raises(DataError, match="budget: given 100; allowed: 1,"):
        start(tmp_path / "b", ENTRY, 100, ours)


def test_a_comparison_of_rows_with_a_budget_limits_the_first_one_of_its_study(tmp_path):
    ours, others = _of_rows(1), _of_rows(2)
    start(tmp_path / "d", ENTRY.model_copy(update={"epsilon": 0.5}), 1, ours)
    record_comparison(tmp_path / "a", ["x"], ours)
    with pytest.raises(DataError, match="budget: given 100; allowed: 1,"):
        start(tmp_path / "a", ENTRY, 100, others)


def test_a_ledger_from_elsewhere_is_not_said_to_be_of_other_rows(tmp_path, monkeypatch):
    start(tmp_path / "a", ENTRY, 1, _of_rows(1))
    (tmp_path / "office").mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / "office"))
    assert overlapping(tmp_path / "a", _of_rows(1)) == []


def test_a_list_that_has_lost_a_ledger_stops_other_studies(tmp_path):
    """Until the study of the ledger has listed its rows again."""
    start(tmp_path / "one", ENTRY, 2, _of_rows(1))
    (ledgers_folder() / "files.jsonl").write_text("")
    with pytest.raises(DataError, match=r"contains releases and is not in .*files\.jsonl, so their rows are not known"):
        start(tmp_path / "two", ENTRY, 2, _of_rows(1))
    overlapping(tmp_path / "one", _of_rows(1))
    start(tmp_path / "two", ENTRY, 2, _of_rows(1))
    with pytest.raises(DataError, match="2 of the budget of 2 for all releases from the file is already spent"):
        start(tmp_path / "two", ENTRY, 2, _of_rows(1))


def _copies():
    """Content of each file in the folder of all ledgers."""
    return {path: path.read_bytes() for path in ledgers_folder().iterdir()}


def _restore(copies):
    """Put the folder of all ledgers back to these files: later ones are gone."""
    for path in ledgers_folder().iterdir():
        path.write_bytes(copies[path]) if path in copies else path.unlink()


def test_a_folder_restored_from_before_a_study_is_complete_after_check_in_each(tmp_path):
    """Both studies have the rows; the restored list has one of them, with an older copy."""
    start(tmp_path / "one", ENTRY, 4, _of_rows(1))
    copies = _copies()
    start(tmp_path / "two", ENTRY, 4, _of_rows(1))
    start(tmp_path / "one", ENTRY, 4, _of_rows(1))
    _restore(copies)
    for name in ("two", "one"):
        overlapping(tmp_path / name, _of_rows(1))
    with pytest.raises(DataError, match="3 of the budget of 4 for all releases from the file is already spent"):
        start(tmp_path / "three", ENTRY.model_copy(update={"epsilon": 2}), 4, _of_rows(1))


def test_a_list_restored_from_before_the_present_file_of_a_study_has_it_again_after_check(tmp_path):
    start(tmp_path / "one", ENTRY, 4, _of_rows(1))
    copies = _copies()
    start(tmp_path / "one", ENTRY, 4, _of_rows(2))
    _restore(copies)
    overlapping(tmp_path / "one", _of_rows(2))
    with pytest.raises(DataError, match="budget: given 100; allowed: 4,"):
        start(tmp_path / "two", ENTRY, 100, _of_rows(2))


def test_check_of_another_file_does_not_list_it(tmp_path):
    """A new file that is only checked in a study may have a study and a budget of its own."""
    start(tmp_path / "one", ENTRY, 1, _of_rows(1))
    overlapping(tmp_path / "one", _of_rows(2))
    assert start(tmp_path / "two", ENTRY, 5, _of_rows(2)).budgets == (5,)


@pytest.mark.parametrize("file", ["0" * 64, ""])
def test_two_ledgers_of_an_earlier_version_are_listed_again(tmp_path, file):
    """Also by version 0.3.0, which did not list the files themselves."""
    ours = replace(_of_rows(1), file=file)
    for name in ("one", "two"):
        start(tmp_path / name, ENTRY, 4, ours)
    _as_before(ledgers_folder())
    for name in ("one", "two"):
        overlapping(tmp_path / name, ours)
    with pytest.raises(DataError, match="2 of the budget of 4 for all releases from the file is already spent"):
        start(tmp_path / "three", ENTRY.model_copy(update={"epsilon": 3}), 4, _of_rows(1))


def test_check_does_not_raise_a_budget_by_listing_a_ledger(tmp_path):
    start(tmp_path / "other", ENTRY, 100, _of_rows(2))
    start(tmp_path / "one", ENTRY, 1, _of_rows(1))
    _as_before(ledgers_folder())
    overlapping(tmp_path / "one", _of_rows(1))
    overlapping(tmp_path / "other", _of_rows(1))  # its file was exchanged
    with pytest.raises(DataError, match="budget: given 100; allowed: 1,"):
        start(tmp_path / "other", ENTRY, 100, _of_rows(1))


def test_a_changed_budget_in_another_folder_of_ledgers_stops_nobody(tmp_path, monkeypatch):
    start(tmp_path / "one", ENTRY, 2, _of_rows(1))
    (tmp_path / "office").mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / "office"))
    change_budget(tmp_path / "one", 3, "more waves")
    start(tmp_path / "two", ENTRY, 2, _of_rows(2))
    overlapping(tmp_path / "one", _of_rows(1))
    with pytest.raises(DataError, match="1 of the budget of 3 for all releases from the file is already spent"):
        start(tmp_path / "three", ENTRY.model_copy(update={"epsilon": 3}), 3, _of_rows(1))


def test_a_long_reason_is_refused(tmp_path):
    start(tmp_path, ENTRY, 2)
    with pytest.raises(DataError, match="--reason: given 1001 letters; allowed: at most 1000"):
        change_budget(tmp_path, 3, "x" * 1001)


def _as_before(together):
    """Write the list as version 0.4.0 did, for which hashes of rows were others."""
    lines = [json.loads(line) for line in (together / "files.jsonl").read_text().splitlines()]
    older = {"rows": "0" * 32, "sample": [], "columns": []}
    lines = [{key: value for key, value in line.items() if key not in ("rule", "seal")} | older for line in lines]
    (together / "files.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_ledgers_of_an_earlier_version_are_named_until_they_are_listed_again(tmp_path):
    ours = replace(_of_rows(1), file="0" * 64)
    start(tmp_path / "one", ENTRY, 2, ours)
    _as_before(ledgers_folder())
    (sentence,) = overlapping(tmp_path / "two", _of_rows(1))
    assert "has 1 ledger of an earlier version, whose rows are not known to be others" in sentence
    assert overlapping(tmp_path / "one", ours) == []
    (sentence,) = overlapping(tmp_path / "two", _of_rows(1))
    assert sentence.startswith("these rows, or earlier rows of this study, have another ledger")
    with pytest.raises(DataError, match="budget: given 100; allowed: 2,"):
        start(tmp_path / "two", ENTRY, 100, _of_rows(1))


def test_a_lost_ledger_of_an_earlier_version_is_not_begun_again(tmp_path):
    start(tmp_path / "one", ENTRY, 2, _of_rows(1))
    _as_before(ledgers_folder())
    (tmp_path / "one" / FILE).unlink()
    with pytest.raises(DataError, match=r"is missing, and an earlier version listed a ledger for this folder: restore it from"):
        start(tmp_path / "one", ENTRY, 2, _of_rows(1))


def test_an_older_copy_of_a_ledger_is_renewed_and_what_it_allowed_is_named(tmp_path):
    start(tmp_path / "one", ENTRY, 2, _of_rows(1))
    copies = _copies()
    start(tmp_path / "one", ENTRY, 2, _of_rows(1))
    _restore(copies)
    start(tmp_path / "two", ENTRY, 2, _of_rows(1))
    assert spent_elsewhere(tmp_path / "one")[1].startswith("All together 3, MORE THAN THE BUDGET of 2: a ledger was lost")
    overlapping(tmp_path / "one", _of_rows(1))
    assert spent_elsewhere(tmp_path / "two")[1].startswith("All together 3, MORE THAN THE BUDGET of 2: a ledger was lost")
