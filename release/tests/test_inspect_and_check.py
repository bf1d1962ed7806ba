"""Study for a CSV file, and check of the file against its declarations."""

import re
import subprocess
import sys
from pathlib import Path

import incomes
import numpy as np
import pandas as pd
import pytest
import yaml

from formalsynth.settings.messages import ConfigError
from formalsynth_release.command import main
from formalsynth_release.study import read_declared

STUDY, VIOLATIONS = Path("studies/income"), "confidential/CONFIDENTIAL-violations.csv"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """A folder with income.csv in it, where commands are given."""
    monkeypatch.chdir(tmp_path)
    incomes.incomes().to_csv("income.csv", index=False)


def inspected(**columns):
    """Columns of the schema and questions of the study of incomes with more columns, of which a value may be for all rows."""
    incomes.incomes().assign(**columns).to_csv("income.csv", index=False)
    assert main(["inspect", "income.csv", "--outcome", "income"]) == 0
    schema, questions = ((STUDY / name).read_text() for name in ("schema.yaml", "confidential/questions.txt"))
    return yaml.safe_load(schema)["columns"], questions


def checked(capsys, expected=0, **changes):
    """Declare changes of the study, and return what a check with an exit code prints."""
    incomes.declare(STUDY, {f"{name}.yaml": keys for name, keys in changes.items()})
    capsys.readouterr()
    assert main(["check", str(STUDY)]) == expected
    return "".join(capsys.readouterr())


def test_nothing_is_inferred_that_has_to_be_declared(capsys):
    inspected()
    with pytest.raises(ConfigError) as error:
        read_declared(STUDY)
    columns = "columns.income.lower", "columns.region.categories"
    for key in ("rows", "protected", "neighbours", "outside_bounds", "missing", *columns):
        assert f"schema.yaml: {key}: is not filled in yet" in str(error.value)
    assert "fill in the 17 values marked DECLARE" in capsys.readouterr().out
    assert main(["check", str(STUDY)]) == 1


def test_all_columns_are_synthesized_but_those_that_may_name_somebody():
    columns, _ = inspected(number=range(3000))
    given = dict.fromkeys(("person", "number"), "DECLARE") | dict.fromkeys(("age", "region", "sector"), "synthesized")
    assert {name: column.get("release") for name, column in columns.items()} == {"income": None} | given


def test_numbers_of_persons_in_several_rows_and_codes_between_the_bounds_are_asked_about():
    rows = np.arange(3000)
    columns, questions = inspected(pid=rows // 2, grade=np.where(rows % 40 == 0, -1, np.where(rows % 8 == 0, 99, rows % 101)))
    assert "- pid: has 1500 different whole numbers in 3000 rows; do they name persons?" in questions
    assert "as the file writes it: recode: { '99': '' }." in questions
    assert (questions.count("do they name persons"), questions.count("is in many rows")) == (1, 1)
    assert columns["pid"]["release"] == "DECLARE"


@pytest.mark.parametrize("format", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M"])
def test_dates_are_asked_about(format):
    columns, questions = inspected(day=pd.date_range("2001-01-01", periods=3000).strftime(format))
    assert "- day: contains dates. A release has their year" in questions
    assert questions.count("contains dates") == 1
    column = columns["day"]
    assert (column["type"], column["date"], column.get("format", "DECLARE")) == ("whole", "DECLARE", "DECLARE")
    assert ("format" in column) == (format != "%Y-%m-%d")


def test_questions_list_categories_as_they_are_declared_and_columns_without_a_choice():
    rows = np.arange(3000)
    columns, questions = inspected(wave=rows % 3, land=np.where(rows % 2, "NO", "DE"), constant="same", empty="")
    listed = [set(yaml.safe_load(text)) for text in re.findall(r"the file has (\[.*?\])\. Which categories", questions)]
    assert {"0", "1", "2"} in listed
    assert {"NO", "DE"} in listed
    needed = "a release needs at least two public categories. Suppress it, unless you know more of them."
    assert f"constant: has the same value in every row, and {needed}" in questions
    assert "empty: has no value. Suppress it: a release would have invented values." in questions
    assert columns["empty"] == {"type": "category", "release": "suppressed"}


def test_an_outcome_that_is_not_there_and_a_study_that_is(capsys):
    for outcome, says in (("wage", "allowed: person, income, age, region, sector"), ("income", ""), ("income", "already exists")):
        assert main(["inspect", "income.csv", "--outcome", outcome]) == bool(says)
        assert says in capsys.readouterr().err


def test_what_is_confidential_is_for_its_owner_only(income_study, capsys):
    checked(capsys, 1, schema={"outside_bounds": "refuse"})
    paths = list(Path("studies").rglob("*"))
    assert len(paths) == 6
    assert [path for path in paths if path.stat().st_mode & 0o077] == []


def test_a_rule_about_several_keys_names_them(income_study, capsys):
    printed = checked(capsys, 1, schema={"columns.income.may_be_missing": True})
    assert printed.startswith("studies/income/schema.yaml: columns.income.may_be_missing needs missing: refuse, ")


def test_the_values_of_violations_are_in_a_confidential_file_alone(income_study, capsys):
    printed = checked(capsys, 1, schema={"outside_bounds": "refuse"})
    assert "not between the declared bounds 1000 and 500000" in printed
    header, first, *_ = (STUDY / VIOLATIONS).read_text().splitlines()
    assert header == "row,column,rule,value"
    value = first.split(",")[-1]
    assert float(value) > 500_000
    assert value not in printed


def test_no_confidential_table_holds_a_formula(income_study, capsys):
    table, values = incomes.incomes(), ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-5", "+7", "plain"]
    table.loc[: len(values) - 1, "region"] = values
    table.to_csv("income.csv", index=False)
    checked(capsys, 1)
    written = pd.read_csv(STUDY / VIOLATIONS, dtype=str)
    expected = ["'=1+1", "'@SUM(A1)", "'+cmd|' /C calc'!A0", "'-2+3", "-5", "+7", "plain"]
    assert written.sort_values("row", key=lambda rows: rows.astype(int))["value"].tolist() == expected


def test_a_check_says_which_rows_are_left_out_and_what_comes_next(income_study, capsys):
    lines = checked(capsys).splitlines()
    assert any("65 of 3000 rows are left out, as declared" in line for line in lines)
    assert lines[-1] == "The file can be used with these changes. Next: formalsynth plan studies/income"


def test_a_check_loads_scipy_only_if_bins_change_an_estimate(income_study):
    """In a process of its own; SciPy takes half as long as the rest of the command."""
    incomes.declare(STUDY, {"schema.yaml": {"columns.income.bins": 1000, "columns.income.scale": "log"}})
    code = (
        "import sys; from formalsynth_release.command import main; assert main(['check', 'studies/income']) == 0; "
        "print('scipy.special' in sys.modules, 'scipy.interpolate' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert told[-1] == "False False"
