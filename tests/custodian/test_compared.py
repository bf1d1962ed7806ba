"""Comparison of candidates on the file: recorded in the ledger, so that the texts of a release state it even after a purge."""

import contextlib
from pathlib import Path

import incomes
import pytest
from formalsynth.cli.main import main
from formalsynth.custodian import budget, compare
from formalsynth.custodian.assemble import crossing_of
from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.schema import read_declared, read_release
from formalsynth.custodian.sources import declarations_of
from formalsynth.custodian.synthetic_sets import Crossed
from formalsynth.custodian.texts import ReleaseFacts, texts_of
from small_release import typed_incomes

COMPARED = "Candidates were compared on the file before this release"


@pytest.fixture
def study(income_study, monkeypatch):
    """Declared study with candidates that need no sampler."""
    histogram = {"mechanism": "perturbed_histogram", "parameters": {"epsilon": 1, "low": 1000, "high": 500_000, "bins": 50}}
    changes = {
        "synthesizers": {"Histogram": histogram, "Coarse": histogram | {"parameters": histogram["parameters"] | {"bins": 9}}},
        "scenarios.income.synthesizers": ["Histogram", "Coarse"], "internal_audit": False,
    }  # fmt: skip
    incomes.declare(income_study, {"study.yaml": changes})
    monkeypatch.setattr(compare, "compiled", lambda *_: contextlib.nullcontext(Path("none")))
    return income_study


def legal_text(folder):
    """Text for the legal team of a release of the study."""
    declared, config = read_declared(folder), read_release(folder)
    setup = read_study(declared)
    public = declarations_of(declared, config, setup, setup.expanded.synthesizers["Histogram"])
    numbers = Crossed(2935, 5, as_is=typed_incomes()[["age", "region", "sector"]])
    return texts_of(ReleaseFacts(crossing_of(declared, public, numbers, "2026-11-22", "none"), public, False))["LEGAL.md"]


def test_a_release_states_a_comparison_whose_report_was_purged(study, capsys):
    assert main(["compare", str(study)]) == 0
    assert main(["purge", str(study)]) == 0
    assert {path.name for path in (study / "confidential").iterdir()} == {"budget.jsonl", ".ledger.lock"}
    assert [entry.compared for entry in budget.read_comparisons(study)] == [("Histogram", "Coarse")]
    assert COMPARED in legal_text(study)
    capsys.readouterr()
    assert main(["budget", str(study)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{budget.today()}  compared on the file, which no epsilon covers: Histogram, Coarse"
    assert lines[1:3] == [
        "This study has no release yet. formalsynth check shows whether other studies have released the same rows.",
        "Spent by this study: 0 of 3.",
    ]


def test_a_dry_run_is_not_a_comparison_on_the_file(study):
    assert main(["plan", str(study)]) == 0
    assert budget.read_comparisons(study) == []
    assert COMPARED not in legal_text(study)


def test_a_report_without_an_entry_counts_as_a_comparison(study):
    (study / compare.REPORT).write_text("a report of an older version")
    assert COMPARED in legal_text(study)


def test_a_damaged_ledger_stops_a_comparison(study, capsys):
    (study / budget.FILE).write_text("{")
    assert main(["compare", str(study)]) == 1
    assert "is damaged" in capsys.readouterr().err
    assert not (study / compare.REPORT).exists()
