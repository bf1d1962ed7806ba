"""Study for a CSV file, and check of the file against its declarations."""

import re
from pathlib import Path

import incomes
import pandas as pd
import pytest
import yaml

from formalsynth.settings.messages import ConfigError
from formalsynth_release.command import main
from formalsynth_release.study import read_declared


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with income.csv in it, where commands are given."""
    incomes.incomes().to_csv(tmp_path / "income.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def inspected(*more):
    return main(["inspect", "income.csv", "--outcome", "income", *more])


def test_nothing_is_inferred_that_has_to_be_declared(folder, capsys):
    assert inspected() == 0
    with pytest.raises(ConfigError) as error:
        read_declared(folder / "studies" / "income")
    for key in (
        "rows",
        "protected",
        "neighbours",
        "outside_bounds",
        "missing",
        "columns.income.lower",
        "columns.region.categories",
    ):
        assert f"schema.yaml: {key}: is not filled in yet" in str(error.value)
    assert "fill in the 17 values marked DECLARE" in capsys.readouterr().out
    assert main(["check", "studies/income"]) == 1


def test_all_columns_are_synthesized_but_those_that_may_name_somebody(folder):
    table = incomes.incomes()
    table["number"] = range(3000)
    table.to_csv("income.csv", index=False)
    inspected()
    columns = yaml.safe_load(Path("studies/income/schema.yaml").read_text())["columns"]
    given = {name: column.get("release") for name, column in columns.items()}
    undecided, synthesized = (
        dict.fromkeys(["person", "number"], "DECLARE"),
        dict.fromkeys(["age", "region", "sector"], "synthesized"),
    )
    assert given == {"income": None} | undecided | synthesized


def test_numbers_of_persons_in_several_rows_and_codes_between_the_bounds_are_asked_about(folder):
    table = incomes.incomes()
    table["pid"] = [k // 2 for k in range(3000)]
    table["grade"] = [(99, -1)[k % 40 == 0] if k % 8 == 0 else k % 101 for k in range(3000)]
    table = table[:400]
    table.to_csv("income.csv", index=False)
    inspected()
    questions = Path("studies/income/confidential/questions.txt").read_text()
    assert "- pid: has 200 different whole numbers in 400 rows; do they name persons?" in questions
    assert "as the file writes it: recode: { '99': '' }." in questions
    assert (questions.count("do they name persons"), questions.count("is in many rows")) == (1, 1)
    assert yaml.safe_load(Path("studies/income/schema.yaml").read_text())["columns"]["pid"]["release"] == "DECLARE"


@pytest.mark.parametrize("format", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M"])
def test_dates_are_asked_about(folder, format):
    table = incomes.incomes()
    table["day"] = pd.date_range("2001-01-01", periods=3000).strftime(format)
    table.to_csv("income.csv", index=False)
    inspected()
    questions = Path("studies/income/confidential/questions.txt").read_text()
    assert "- day: contains dates. A release has their year" in questions
    assert questions.count("contains dates") == 1
    column = yaml.safe_load(Path("studies/income/schema.yaml").read_text())["columns"]["day"]
    assert (column["type"], column["date"], column.get("format", "DECLARE")) == ("whole", "DECLARE", "DECLARE")
    assert ("format" in column) == (format != "%Y-%m-%d")


def test_a_rule_about_several_keys_names_them(folder, capsys):
    inspected()
    incomes.declare("studies/income", incomes.DECLARED | {"schema.yaml": incomes.DECLARED["schema.yaml"] | {
        "columns.income.may_be_missing": True}})  # fmt: skip
    assert main(["check", "studies/income"]) == 1
    assert capsys.readouterr().err.startswith("studies/income/schema.yaml: columns.income.may_be_missing needs missing: refuse, ")


def test_what_is_confidential_is_for_its_owner_only(folder):
    inspected()
    main(["check", "studies/income"])
    paths = list(Path("studies").rglob("*"))
    assert len(paths) == 5
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_the_values_of_violations_are_in_a_confidential_file_alone(folder, capsys):
    inspected()
    incomes.declare("studies/income", {"schema.yaml": incomes.DECLARED["schema.yaml"] | {"outside_bounds": "refuse"}})
    capsys.readouterr()
    assert main(["check", "studies/income"]) == 1
    out = capsys.readouterr().out
    assert "not between the declared bounds 1000 and 500000" in out
    lines = (folder / "studies/income/confidential/CONFIDENTIAL-violations.csv").read_text().splitlines()
    assert lines[0] == "row,column,rule,value"
    value = lines[1].split(",")[-1]
    assert float(value) > 500_000
    assert value not in out


def test_a_declared_file_passes_with_its_warnings(folder, capsys):
    inspected()
    incomes.declare("studies/income")
    capsys.readouterr()
    assert main(["check", "studies/income"]) == 0
    out = capsys.readouterr().out
    assert "65 of 3000 rows are left out, as declared" in out
    assert out.splitlines()[-1] == "The file can be used with these changes. Next: formalsynth plan studies/income"


@pytest.mark.parametrize(("changes", "problem"), [
    ({}, None), ({"sets": 0}, "release.yaml: sets: given 0"),
    ({"rows": "DECLARE"}, "release.yaml: rows: is not filled in yet"),
    ({"ceiling": 5, "budget": 2}, "ceiling has to be at most budget"),
    ({"licence": "DECLARE"}, "release.yaml: licence: is not filled in yet"), (None, "release.yaml: is missing"),
])  # fmt: skip
def test_a_check_names_what_a_release_would_be_refused_for(folder, capsys, changes, problem):
    inspected()
    incomes.declare("studies/income", incomes.DECLARED | {"release.yaml": incomes.DECLARED["release.yaml"] | (changes or {})})
    if changes is None:
        Path("studies/income/release.yaml").unlink()
    capsys.readouterr()
    assert main(["check", "studies/income"]) == 0
    lines = capsys.readouterr().out.splitlines()
    refused = [line for line in lines if "a release would be refused:" in line]
    assert ("Next: correct what a release would be refused for" in lines[-1]) == (problem is not None)
    assert len(refused) == (problem is not None)
    assert all(problem in line for line in refused), refused


def test_questions_list_categories_as_they_are_declared_and_columns_without_a_choice(folder):
    text = (folder / "income.csv").read_text().splitlines()
    more = [f"{line},{k % 3},{'NO' if k % 2 else 'DE'},same," for k, line in enumerate(text[1:])]
    (folder / "income.csv").write_text("\n".join([f"{text[0]},wave,land,constant,empty", *more]) + "\n")
    assert inspected() == 0
    questions = (folder / "studies/income/confidential/questions.txt").read_text()
    listed = [yaml.safe_load(text) for text in re.findall(r"the file has (\[.*?\])\. Which categories", questions)]
    assert {"0", "1", "2"} in [set(listing) for listing in listed]
    assert {"NO", "DE"} in [set(listing) for listing in listed]
    needed = "a release needs at least two public categories. Suppress it, unless you know more of them."
    assert f"constant: has the same value in every row, and {needed}" in questions
    assert "empty: has no value. Suppress it: a release would have invented values." in questions
    columns = yaml.safe_load((folder / "studies/income/schema.yaml").read_text())["columns"]
    assert columns["empty"] == {"type": "category", "release": "suppressed"}


def test_an_outcome_that_is_not_there_and_a_study_that_is(folder, capsys):
    assert main(["inspect", "income.csv", "--outcome", "wage"]) == 1
    assert "allowed: person, income, age, region, sector" in capsys.readouterr().err
    inspected()
    assert inspected() == 1
    assert "already exists" in capsys.readouterr().err


def test_no_confidential_table_holds_a_formula(folder):
    table = incomes.incomes()
    values = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-5", "+7", "plain"]
    table.loc[: len(values) - 1, "region"] = values
    table.to_csv("income.csv", index=False)
    inspected()
    incomes.declare("studies/income")
    assert main(["check", "studies/income"]) == 1
    written = pd.read_csv(folder / "studies/income/confidential/CONFIDENTIAL-violations.csv", dtype=str)
    expected = ["'=1+1", "'@SUM(A1)", "'+cmd|' /C calc'!A0", "'-2+3", "-5", "+7", "plain"]
    assert written.sort_values("row", key=lambda rows: rows.astype(int))["value"].tolist() == expected
