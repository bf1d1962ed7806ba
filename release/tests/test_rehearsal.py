"""The rehearsal of a release: what is declared never stops it after epsilon is spent, and contradictions stop it before."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import incomes
import numpy as np
import pandas as pd
import pytest

from formalsynth_release.budget import read_ledger
from formalsynth_release.command import main

pytestmark = pytest.mark.usefixtures("small_pool")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A declared study, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    return incomes.declared_study()


def test_declared_text_is_never_html_nor_another_line(study):
    text = "Incomes <script>alert(1)</script>\n# Heading <img src=x onerror=alert(1)>\n```python\nimport os\n```"
    keys = ("title", "intended_use", "region", "licence", "curator.name", "curator.contact")
    incomes.declare(study, {"release.yaml": dict.fromkeys(keys, text), "schema.yaml": {"protected": text}})
    assert main(["release", "studies/income"]) == 0
    for name in ("README.md", "LEGAL.md", "metadata.json", "datapackage.json"):
        written = Path("releases/income", name).read_text()
        assert "alert(1)" in written
        assert "<" not in written
        assert "\n# Heading" not in written
    assert json.loads(Path("releases/income/datapackage.json").read_text())["title"] == " ".join(text.split())


def test_suppressed_columns_of_numbers_and_words_stop_no_release(study, capsys):
    table, generator = pd.read_csv("income.csv", dtype=str, keep_default_na=False), np.random.default_rng(1)
    words = ["README", "sha256", "columns", "synthetic", "rows", "the", "Incomes", "teaching", "North", "2026", "3000", "50"]
    table["household"] = np.arange(len(table)).astype(str)
    table["weight"] = generator.permutation(np.arange(1000, 1000 + len(table)) * 10).astype(str)
    table["note"] = [words[k] if k < len(words) else f"note{k}" for k in range(len(table))]
    table.to_csv("income.csv", index=False)
    suppressed = {"type": "whole", "release": "suppressed"}
    columns = {"columns.household": suppressed, "columns.weight": suppressed}
    columns["columns.note"] = {"type": "category", "release": "suppressed"}
    incomes.declare(study, {"schema.yaml": columns})
    assert main(["release", "studies/income"]) == 0, capsys.readouterr().err
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 0, capsys.readouterr().err


CONTRADICTIONS = {
    "no number of rows": ({"schema.yaml": {"neighbours": "add_remove"}, "release.yaml": {"rows": ...}}, "rows: is missing"),
    "no number of rows where rows are dropped": ({"release.yaml": {"rows": ...}}, "rows: is missing"),
    "too many noisy numbers": (
        {
            "schema.yaml": {
                "pairs": [["person", "region"]],
                "columns.person.release": "synthesized",
                "columns.person.categories": [f"P{k:06d}" for k in range(3000)],
            }
        },
        "pairs: person with region: needs 15000 noisy numbers",
    ),
    "an analysis of another column": ({"release.yaml": {"analyses.means": ["hours"]}}, "analyses: means: hours is not one of"),
}


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_what_contradicts_itself_stops_a_release_before_epsilon_is_spent(study, kind, capsys):
    changes, part = CONTRADICTIONS[kind]
    incomes.declare(study, changes)
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert part in error
    assert error.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []
    assert not Path("releases").exists()


BROKEN = {
    "a library": ("formalsynth_release.tables.noisy_counts",),
    "the public side": ("formalsynth_release.public.subprocess.Popen",),
    "a picture": ("formalsynth_release.rehearsal.compute_release",),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_fails_on_made_up_rows_costs_nothing(study, kind, monkeypatch, capsys):
    incomes.declare(study, {"release.yaml": {"figure": True}})

    def fail(*_, **__):
        raise OSError(5, "Input/output error", kind)

    for name in BROKEN[kind]:
        monkeypatch.setattr(name, fail)
    assert main(["release", "studies/income"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []


def test_more_rows_than_anybody_can_verify_cost_nothing(study, monkeypatch, capsys):
    monkeypatch.setattr("formalsynth_release.rehearsal.MOST_RELEASED", 100)
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "rows in each of 5 sets; allowed: at most 100 together" in error
    assert error.splitlines()[-1] == "No epsilon is spent."


def test_a_study_without_room_for_the_crossing_costs_nothing(study, capsys, small_disk):
    """Its disk has room for a ledger, and not for what crosses."""
    shutil.rmtree(study / "confidential", ignore_errors=True)
    (study / "confidential").symlink_to(small_disk(60))
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "confidential: has no space for" in error
    assert error.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []


def test_a_disk_without_room_for_all_rows_costs_nothing(study, monkeypatch, capsys):
    incomes.declare(study, {"release.yaml": {"sets": 20}})  # of about 70,000 bytes each
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100_000))
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "releases: has space for 0 MB, but the release needs about 2 MB" in error
    assert error.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []
