"""The ledger of a source: entries are only added, epsilon adds up over all files, and nothing that was spent is forgotten."""

import os
import pickle
import shutil
import stat
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_release import a_schema

from formalsynth.core.text import DataError
from formalsynth_release.budget import budget, change_budget, finish, record, spent, start
from formalsynth_release.command import main
from formalsynth_release.ledger import ComparisonEntry, CrossingEntry, ReleaseEntry, ledgers_folder, read_ledger
from formalsynth_release.same_rows import content_of, sketch_of
from formalsynth_release.study import Declared


def table(seed=1, rows=300):
    """Text of a file with an id, a column of many values and two of few."""
    generator = np.random.default_rng(seed)
    return pd.DataFrame({
        "id": [f"P{seed}-{k}" for k in range(rows)], "income": generator.integers(10_000, 99_999, rows),
        "age": generator.integers(18, 80, rows), "sex": generator.choice(["f", "m"], rows),
    }).astype(str)  # fmt: skip


def study(folder, name="one", source="people", **changes):
    """Study of a source."""
    return Declared(name, folder / name, a_schema(source=source, **changes))


def begin(declared, epsilon=1.0, limit=3.0, rows=None):
    """Start a release."""
    return start(declared, epsilon, limit, content_of(table() if rows is None else rows))


def releases(source="people"):
    """Entries of the releases of a source."""
    return read_ledger(source).of(ReleaseEntry)


def test_declared_files_of_one_source_share_their_budget(tmp_path):
    begin(study(tmp_path, "one"))
    begin(study(tmp_path, "two"), rows=table(seed=2))
    over = r"two/release.yaml: ceiling: given 2; 2 of the budget of 3 .* the source people is already"
    with pytest.raises(DataError, match=over):
        begin(study(tmp_path, "two"), 2.0, rows=table(seed=2))
    begin(study(tmp_path, "three"), rows=table(seed=3))
    assert spent(releases()) == 3.0
    begin(study(tmp_path, "four", "others"), 3.0, rows=table(seed=4))


def test_a_budget_may_be_spent_to_its_end_whatever_the_outcomes(tmp_path):
    declared = study(tmp_path)
    for place in range(10):
        assert len(begin(declared, 0.1, 1.0).of(ReleaseEntry)) == place
        finish(declared, place, ("released", "stopped")[place % 2])
    with pytest.raises(DataError, match="1 of the budget of 1 for all releases"):
        begin(declared, 0.1, 1.0)


def corrected(rows):
    """One cell less wrong."""
    return rows.assign(income=["54321", *rows["income"][1:]])


COARSE = pd.DataFrame(np.random.default_rng(1).integers(0, 9, (300, 8)).astype(str)).add_prefix("c")
COPIES = {
    "the same": lambda rows: rows,
    "one changed cell": corrected,
    "without the id": lambda rows: rows.drop(columns="id"),
    "without the id, and a changed cell": lambda rows: corrected(rows).drop(columns="id"),
    "without the id, and two changed cells": lambda rows: corrected(rows).drop(columns="id").assign(age=["99", *rows["age"][1:]]),
    "other ids": lambda rows: rows.assign(id=np.arange(len(rows)).astype(str)),
    "another order": lambda rows: rows.iloc[::-1, ::-1],
    "names and numbers": lambda rows: rows.assign(income=[f"{int(v):,}.00" for v in rows["income"]]).rename(columns=str.upper),
    "half of the rows": lambda rows: rows[::2],
    "more rows": lambda rows: pd.concat([rows, table(seed=2)]),
    "a coarser age": lambda rows: rows.assign(age=rows["age"].str[0]).drop(columns="id"),
    "coarse columns, one dropped": lambda rows: COARSE.drop(columns="c3"),
    "incomes alone, one changed": lambda rows: corrected(rows)[["income", "sex"]],
}


@pytest.mark.parametrize("kind", COPIES)
def test_a_second_budget_for_the_same_people_is_refused(tmp_path, kind):
    begin(study(tmp_path, "one"), rows=COARSE if "coarse columns" in kind else table())
    rows, again = COPIES[kind](table()).reset_index(drop=True), study(tmp_path, "two", "more")
    with pytest.raises(DataError, match="may be of the same people as a file of the source people"):
        begin(again, rows=rows)
    assert releases("more") == []
    begin(study(tmp_path, "three", "people"), rows=rows)
    begin(study(tmp_path, "two", "more", other_people=True), rows=rows)


def test_files_of_other_people_are_not_refused(tmp_path):
    """Some running numbers are the same."""
    for seed in range(1, 12):
        begin(study(tmp_path, f"s{seed}", f"source{seed}"), rows=table(seed).assign(number=np.arange(300) + seed % 3))
    for seed in (20, 21):
        begin(study(tmp_path, f"s{seed}", f"source{seed}"), rows=table(seed)[["sex"]].assign(old=["yes", "no"] * 150))
    with pytest.raises(DataError, match="of the source source1: all values of the column income are in both"):
        begin(study(tmp_path, "copy", "copy"), rows=table()[["income", "sex"]])


def test_nothing_of_the_file_is_in_a_ledger(tmp_path):
    begin(study(tmp_path))
    text = read_ledger("people").path.read_text()
    assert not any(f'"{value}"' in text for value in [*table()["income"], *table()["id"]])
    assert sketch_of(content_of(table()), b"one").rows != sketch_of(content_of(table()), b"two").rows
    key = ledgers_folder() / "key"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (key, read_ledger("people").path)} == {0o600}
    key.write_bytes(b"x" * 32)  # all hashes would be others
    with pytest.raises(DataError, match="key: is missing, damaged or replaced"):
        begin(study(tmp_path, "two", "more"))


def test_a_budget_is_declared_once_and_a_change_is_recorded(tmp_path):
    declared = study(tmp_path)
    with pytest.raises(DataError, match="the ledger has none until the first release"):
        change_budget(declared, 5, "more")
    begin(declared)
    with pytest.raises(DataError, match="budget: given 9; allowed: 3, as the ledger of the source people records"):
        begin(declared, limit=9.0)
    change_budget(declared, 9, "a second wave")
    assert begin(declared, limit=9.0).budgets == (3.0, 9.0)
    for wrong in (9, 0, float("nan"), 1.2345678):
        with pytest.raises(DataError, match="change"):
            change_budget(declared, wrong, "more")


def edited(change):
    """Change of the lines of a ledger."""

    def on(path):
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*change(lines), ""]))

    return on


EDITS = {
    "a smaller epsilon": edited(lambda lines: [line.replace('"epsilon":1.0', '"epsilon":0.1') for line in lines]),
    "not a number": edited(lambda lines: [line.replace('"epsilon":1.0', '"epsilon":NaN') for line in lines]),
    "a release less": edited(lambda lines: [line for line in lines if '"release"' not in line]),
    "the last entry less": edited(lambda lines: lines[:-1]),
    "two entries exchanged": edited(lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]]),
    "an entry twice": edited(lambda lines: [*lines, lines[-1]]),
    "another source": edited(lambda lines: [lines[0].replace("people", "others"), *lines[1:]]),
    "no object": edited(lambda lines: [*lines, "[]"]),
    "half a line": lambda path: path.write_text(path.read_text()[:-40]),
    "empty": lambda path: path.write_text(""),
    "lost": lambda path: path.unlink(),
    "a link": lambda path: (path.rename(path.with_suffix(".bak")), path.symlink_to(path.with_suffix(".bak"))),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("kind", EDITS)
def test_an_edited_ledger_stops_everything(tmp_path, kind):
    declared = study(tmp_path)
    begin(declared)
    finish(declared, 0, "released")
    before = read_ledger("people").path.read_bytes()
    EDITS[kind](read_ledger("people").path)
    for use in (lambda: begin(declared), lambda: change_budget(declared, 9, "more"), lambda: budget(declared)):
        with pytest.raises(DataError, match=r"people\.jsonl: (is damaged|does not begin with|is a link)"):
            use()
    path = ledgers_folder() / "people.jsonl"
    if path.is_dir():
        path.rmdir()
    path.unlink(missing_ok=True)
    path.write_bytes(before)
    begin(declared)


def test_a_rewritten_ledger_is_found_by_a_kept_head(tmp_path):
    """All hashes are right, and the study has lost the head that it kept."""
    declared = study(tmp_path)
    begin(declared)
    begin(declared)
    head = read_ledger("people").head
    assert "The head matches: no entry up to 5 has changed. Later entries: 0." in budget(declared, head)
    read_ledger("people").path.unlink()
    shutil.rmtree(declared.folder)
    begin(declared, 0.5)
    for kept in (head, head.replace("5:", "4:")):
        with pytest.raises(DataError, match=r"does not begin with the . entries that --head covers"):
            budget(declared, kept)
    with pytest.raises(DataError, match="--head: given 'x'"):
        budget(declared, "x")


def test_a_study_keeps_its_source(tmp_path):
    begin(study(tmp_path))
    with pytest.raises(DataError, match="source: given more; allowed: people, in whose ledger this study has entries"):
        begin(study(tmp_path, source="more", other_people=True))


def test_an_entry_is_on_the_disk_before_a_release_goes_on(tmp_path, monkeypatch):
    calls, fsync = [], os.fsync

    def synced(descriptor):
        calls.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    begin(study(tmp_path))
    written = [place for place, name in enumerate(calls) if name.endswith("people.jsonl")]
    assert written
    assert str(ledgers_folder()) in calls[written[-1] :]


def test_a_full_disk_changes_no_ledger(tmp_path, small_disk, monkeypatch):
    folder = small_disk(60)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(folder))
    declared = study(tmp_path)
    begin(declared)
    before = read_ledger("people").path.read_bytes()
    (folder / "full").write_bytes(b"x" * (shutil.disk_usage(folder).free - 4096))
    with pytest.raises(OSError, match="full"):
        begin(declared)
    assert read_ledger("people").path.read_bytes() == before


def test_two_releases_at_once_cannot_spend_the_same_rest(tmp_path, warm_python):
    """Six processes ask for 1 each of a budget of 3, in two studies of one source."""
    code = (
        "import pickle, sys, time; from pathlib import Path; from formalsynth_release.budget import start\n"
        "declared, content, ready, go = sys.argv[1:]; Path(ready).touch()\n"
        "while not Path(go).exists(): time.sleep(0.001)\n"
        "start(pickle.loads(bytes.fromhex(declared)), 1.0, 3.0, pickle.loads(bytes.fromhex(content)))"
    )
    content, go, programs = pickle.dumps(content_of(table(rows=30))).hex(), tmp_path / "go", []
    for number in range(6):
        declared, ready = pickle.dumps(study(tmp_path, f"study{number % 2}")).hex(), tmp_path / f"ready{number}"
        with open(tmp_path / f"errors{number}", "wb") as errors:
            programs.append(warm_python().start(code, [declared, content, ready, go], dict(os.environ), errors, errors))
    while not all((tmp_path / f"ready{number}").exists() for number in range(6)):
        time.sleep(0.01)
    go.touch()
    assert sorted(program.wait(60) for program in programs) == [0] * 3 + [1] * 3
    assert spent(releases()) == 3.0


def test_comparisons_and_crossings_change_no_release(tmp_path):
    declared = study(tmp_path)
    record(declared, ComparisonEntry, study="one")
    begin(declared)
    record(declared, CrossingEntry, release=0, sha256="ab" * 32)
    finish(declared, 0, "released")
    ledger = read_ledger("people")
    assert (ledger.crossing(0), ledger.outcome(0), len(ledger.of(ComparisonEntry))) == ("ab" * 32, "released", 1)
    lines = budget(declared)
    assert ["compared" in lines[0], "budget 3: declared" in lines[1], lines[2].endswith("(replace), released")] == [True] * 3
    assert lines[3] == "Spent by all releases from the source people: 1 of 3."


def test_neighbours_that_do_not_add_up_are_named(tmp_path):
    begin(study(tmp_path, "one"))
    begin(study(tmp_path, "two", neighbours="add_remove"), rows=table(2))
    assert "For a replaced row, an epsilon for add_remove counts twice." in budget(study(tmp_path, "one"))


@pytest.mark.parametrize("given", ["ledgers", "/nowhere/ledgers"])
def test_a_folder_of_ledgers_that_does_not_exist_is_refused(tmp_path, monkeypatch, given):
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", given)
    with pytest.raises(DataError, match=r"FORMALSYNTH_LEDGERS: given .*; allowed: the absolute path of an existing folder"):
        begin(study(tmp_path))


def test_a_group_may_share_the_ledgers(tmp_path, monkeypatch):
    shared = tmp_path / "office"
    shared.mkdir()
    shared.chmod(0o2770)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(shared))
    begin(study(tmp_path))
    assert stat.S_IMODE((shared / "people.jsonl").stat().st_mode) == 0o660


def test_the_command_changes_a_budget_and_checks_a_head(income_study, capsys):
    declared = Declared("income", income_study, a_schema(source="people"))
    begin(declared)
    head = read_ledger("people").head
    assert main(["budget", str(income_study), "--change", "5"]) == 1
    assert "--change and --reason: give both" in capsys.readouterr().err
    assert main(["budget", str(income_study), "--change", "5", "--reason", "a wave", "--head", head]) == 0
    printed = capsys.readouterr().out
    assert "budget 5: a wave" in printed
    assert "Later entries: 1." in printed
    assert Path(income_study, "confidential", "ledger.head").is_file()
