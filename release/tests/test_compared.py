"""Comparison with the file: recorded in the ledger, so that the texts of a release state it even after a purge."""

import incomes
import numpy as np
import pytest

from formalsynth_release import budget, compare, tables_compare
from formalsynth_release.assemble import crossing_of
from formalsynth_release.command import main
from formalsynth_release.declarations import checked_declarations
from formalsynth_release.records import made_up
from formalsynth_release.schema import read_declared, read_release
from formalsynth_release.tables import measured
from formalsynth_release.texts import ReleaseFacts, Sentences

COMPARED = "Noisy tables were compared with the file before this release"


@pytest.fixture
def study(income_study, monkeypatch, small_pool):
    """Declared study that is compared quickly."""
    monkeypatch.setattr(tables_compare, "FACTORS", (1.0,))
    monkeypatch.setattr(tables_compare, "DRAWS", 2)
    return income_study


def settings_text(folder):
    """Sentence of a release of the study on what its settings depend on."""
    declared = read_declared(folder)
    public = checked_declarations(declared, read_release(folder))
    tables = measured(declared.schema, made_up(declared.schema, np.random.default_rng(1)), 1.0)
    return Sentences(ReleaseFacts(crossing_of(declared, public, 2900, tables, "2026-11-22"), public, {})).settings


def test_a_release_states_a_comparison_whose_report_was_purged(study, capsys):
    assert COMPARED not in settings_text(study)
    assert main(["compare", str(study)]) == 0
    assert not any(part.isdigit() for part in capsys.readouterr().out.split())
    report = study / compare.REPORT
    assert report.stat().st_mode & 0o077 == 0
    assert "CONFIDENTIAL" in report.read_text()
    assert main(["purge", str(study)]) == 0
    assert {path.name for path in (study / "confidential").iterdir()} == {"budget.jsonl", ".ledger.lock"}
    assert [entry.compared for entry in budget.read_comparisons(study)] == [("tables",)]
    assert COMPARED in settings_text(study)
    capsys.readouterr()
    assert main(["budget", str(study)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{budget.today()}  compared on the file, which no epsilon covers: tables"
    assert lines[1:3] == [
        "This study has no release yet. formalsynth check shows whether other studies have released the same rows.",
        "Spent by this study: 0 of 3.",
    ]


def test_a_report_without_an_entry_counts_as_a_comparison(study):
    (study / compare.REPORT).write_text("a report of an older version")
    assert COMPARED in settings_text(study)


def test_a_damaged_ledger_stops_a_comparison(study, capsys):
    (study / budget.FILE).write_text("{")
    assert main(["compare", str(study)]) == 1
    assert "is damaged" in capsys.readouterr().err
    assert not (study / compare.REPORT).exists()


@pytest.mark.parametrize("rows", [0, 3])
def test_a_file_of_hardly_any_rows_is_compared(study, rows, capsys):
    table = incomes.incomes(60).iloc[:20].copy()
    table.loc[rows:, "income"] = ""
    table.loc[:, "sector"] = "private"
    table.assign(income=np.where(table["income"] == "", "", "2000")).to_csv("income.csv", index=False)
    incomes.declare(study, {"schema.yaml": {"rows": 20}, "release.yaml": {"rows": 20}})
    assert main(["compare", str(study)]) == 0, capsys.readouterr().err
