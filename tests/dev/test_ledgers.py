"""Ledgers side by side: which verdicts agree, and which have changed."""

import pandas as pd
import pytest

from dev.ledgers import ABSENT, changes, main


def ledger(note="", **verdicts):
    """A ledger with these verdicts."""
    return pd.DataFrame([{"id": id, "estimate": "5.1", "verdict": verdict, "note": note} for id, verdict in verdicts.items()])


@pytest.fixture
def written(tmp_path):
    """Write ledgers and return their paths."""

    def written(*ledgers):
        paths = [tmp_path / f"run{k}.csv" for k in range(len(ledgers))]
        for path, table in zip(paths, ledgers, strict=True):
            table.to_csv(path, index=False)
        return [str(path) for path in paths]

    return written


def test_what_changed_is_listed_with_the_reason_and_nothing_else():
    before = ledger("old", a="reproduced", b="reproduced", c="direction only")
    after = ledger("new", a="reproduced", b="not reproduced", d="reproduced")
    changed = changes(before, after)
    assert changed["id"].tolist() == ["b", "c", "d"]
    assert changed["before"].tolist() == ["reproduced (5.1)", "direction only (5.1)", ABSENT]
    assert changed["after"].tolist() == ["not reproduced (5.1)", ABSENT, "reproduced (5.1)"]
    assert changed["why"].tolist() == ["new", "old", "new"]


def test_an_estimate_may_move_as_long_as_the_verdict_stays():
    assert changes(ledger(a="reproduced"), ledger(a="reproduced").assign(estimate="4.9")).empty


def test_a_claim_without_an_estimate_has_its_verdict_alone():
    absent = ledger(a="data absent").assign(estimate=None)
    assert changes(absent, ledger(a="reproduced"))["before"].tolist() == ["data absent"]


def test_changes_are_a_table_in_markdown(written, capsys):
    paths = written(ledger(a="reproduced", b="reproduced"), ledger("one | two", a="reproduced", b="refuted"))
    assert main(["changes", *paths]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| id | before | after | why |"
    assert lines[2:] == ["| b | reproduced (5.1) | refuted (5.1) | one \\| two |"]
    assert main(["changes", paths[0], paths[0]]) == 0
    assert capsys.readouterr().out == "No verdict has changed.\n"


def test_agreement_is_the_share_of_verdicts_that_all_have(written, capsys):
    verdicts = {f"c{k}": "reproduced" for k in range(50)}
    paths = written(ledger(**verdicts), ledger(**verdicts | {"c7": "direction only"}), ledger(**verdicts))
    assert main(["agree", *paths]) == 0
    out = capsys.readouterr().out
    assert out.startswith("49 of 50 (98.0%) of the verdicts are the same in 3 ledgers\n")
    assert [line for line in out.splitlines() if line.startswith("| c")] == ["| c7 | reproduced | direction only | reproduced |"]
    assert main(["agree", *paths, "--least", "0.99"]) == 1


def test_only_steady_verdicts_have_to_agree_if_steadiness_is_given(written, tmp_path, capsys):
    paths = written(ledger(a="reproduced", b="reproduced"), ledger(a="reproduced", b="refuted"))
    steady = tmp_path / "steadiness.csv"
    pd.DataFrame({"id": ["a", "b"], "stays": [1.0, 0.6]}).to_csv(steady, index=False)
    assert main(["agree", *paths]) == 1
    capsys.readouterr()
    assert main(["agree", *paths, "--steady", str(steady)]) == 0
    out = capsys.readouterr().out
    assert "1 of 1 (100.0%) of the steady ones" in out
    assert "| b | reproduced | refuted |" in out


def test_a_claim_that_a_ledger_lacks_agrees_with_nothing(written, capsys):
    assert main(["agree", *written(ledger(a="reproduced", b="reproduced"), ledger(a="reproduced"))]) == 1
    assert f"| b | reproduced | {ABSENT} |" in capsys.readouterr().out


@pytest.mark.parametrize("names", [["a.csv"], ["a.csv", "b.csv"]])
def test_too_few_ledgers_and_missing_ones_are_reported(names, capsys):
    assert main(["agree", *names]) == 2
    assert capsys.readouterr().err


def test_a_table_that_is_no_ledger_is_named(written, tmp_path, capsys):
    other = tmp_path / "table2.csv"
    other.write_text("x,y\n1,2\n")
    (path,) = written(ledger(a="reproduced"))
    assert main(["agree", str(path), str(other)]) == 2
    assert f"a ledger cannot be read: {other} has no columns id and verdict" in capsys.readouterr().err
