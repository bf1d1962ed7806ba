"""The command ``formalsynth release``: the ledger is written first, seeds are refused, and nothing leaks on the way."""

from pathlib import Path

import incomes
import numpy as np
import pandas as pd
import pytest

from formalsynth.core.text import DataError
from formalsynth_release.budget import read_ledger
from formalsynth_release.command import main

SEEDS = ("root_seed", "seed", "random_state")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Declared study, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    return incomes.declared_study()


@pytest.mark.usefixtures("small_pool")
def test_a_release_is_made_once_and_counted(study, capsys):
    assert main(["release", "studies/income"]) == 0
    assert "All files were computed from releases/income/crossing.yaml" in capsys.readouterr().out
    folder = Path("releases/income")
    assert {path.name for path in folder.iterdir()} > {"LEGAL.md", "README.md", "MANIFEST.sha256", "synthetic_5.csv"}
    assert [entry.outcome for entry in read_ledger(study)] == ["released"]
    assert main(["release", "studies/income"]) == 1
    assert "a release is never overwritten" in capsys.readouterr().err
    assert main(["budget", "studies/income"]) == 0
    assert "Together: 1 of 3." in capsys.readouterr().out
    incomes.declare(study, {"release.yaml": {"ceiling": 2.5}})
    assert main(["release", "studies/income", "--to", "releases/again"]) == 1
    assert "1 of the budget of 3 for all releases from the file is already spent" in capsys.readouterr().err
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 0
    (folder / "README.md").write_text("seed: 7")
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 1


def test_a_release_warns_before_it_spends_of_persons_who_may_be_in_several_rows(study, capsys, monkeypatch):
    def stopped(*_):
        raise DataError("stopped")

    monkeypatch.setattr("formalsynth_release.release.rehearse", stopped)
    rows = pd.read_csv("income.csv", dtype=str, keep_default_na=False)
    rows.assign(person=rows["person"].iloc[np.arange(len(rows)) // 2].to_numpy()).to_csv("income.csv", index=False)
    incomes.declare(study, {"schema.yaml": {"protected": "citizen"}})
    assert main(["release", "studies/income"]) == 1
    said = capsys.readouterr().err
    assert "Warning (CONFIDENTIAL): person: looks like an identifier, and some values are in up to 2 rows. If it names a" in said
    assert "rows_each: 1 is false, and so is every epsilon" in said
    assert read_ledger(study) == []


@pytest.mark.parametrize("name", SEEDS)
def test_seeds_are_refused(study, name, capsys):
    incomes.declare(study, {"release.yaml": {name: 1}})
    assert main(["release", "studies/income"]) == 1
    assert f"release.yaml: {name}: given 1" in capsys.readouterr().err
    assert not Path("releases").exists()
    assert read_ledger(study) == []


def test_a_damaged_ledger_stops_every_release(study, capsys):
    (study / "confidential" / "budget.jsonl").write_text("{")
    assert main(["release", "studies/income"]) == 1
    assert "is damaged; nothing is released" in capsys.readouterr().err


def test_the_message_of_an_unexpected_error_is_left_out(study, capsys, monkeypatch):
    def fail(*_):
        raise KeyError("73519")

    monkeypatch.setattr("formalsynth_release.check.check_file", fail)
    assert main(["check", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "KeyError in check.py, line" in error
    assert "73519" not in error


ENTRY = (
    '{"date": "2026-01-02", "synthesizer": "Histogram", "guarantee": "DP", "neighbours": "replace", "sets": 5, "epsilon": %s, '
    '"outcome": "released"}\n'
)


@pytest.mark.parametrize("epsilon", ["NaN", "-5", '"1"', "null", "true", "Infinity"])
def test_a_ledger_that_holds_no_budget_stops_every_release(study, capsys, epsilon):
    """With NaN no budget is ever too small."""
    (study / "confidential" / "budget.jsonl").write_text(ENTRY % epsilon)
    for command in ("release", "budget"):
        assert main([command, "studies/income"]) == 1
        assert "is damaged; nothing is released" in capsys.readouterr().err
    assert not Path("releases/income").exists()


@pytest.mark.parametrize(
    "place", ["income.csv/below", "/dev/null/release", "x" * 300, "link", "studies/income/confidential/release"]
)
def test_a_place_that_cannot_be_costs_no_budget(study, capsys, place):
    Path("link").symlink_to("nowhere")
    assert main(["release", "studies/income", "--to", place]) == 1
    assert "unexpected error" not in capsys.readouterr().err
    assert read_ledger(study) == []


def test_names_in_the_output_of_a_command_are_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("\x1b[31mred.csv").write_text("income,age\n1,2\n")
    assert main(["inspect", "\x1b[31mred.csv", "--outcome", "income"]) == 1
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert "studies/\\x1b[31mred: given " in error


def test_purge_keeps_the_ledger(study, capsys):
    (study / "confidential" / "budget.jsonl").write_text("")
    assert main(["purge", "studies/income"]) == 0
    assert [path.name for path in (study / "confidential").iterdir()] == ["budget.jsonl"]
    assert "Deleted: questions.txt." in capsys.readouterr().out


def test_verify_is_the_command_that_computes_a_release_again(study, capsys):
    assert main(["verify", "releases/nowhere"]) == 1
    assert "releases/nowhere: is not a folder" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["gate", "releases/nowhere"])
    assert "invalid choice: 'gate'" in capsys.readouterr().err
