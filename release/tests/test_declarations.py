"""Declarations for real files: from their text to the rows and texts of a release."""

import json

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from small_release import a_schema, made_tables, typed

from formalsynth.core.text import DataError
from formalsynth_release.command import main
from formalsynth_release.declarations import check_numbers
from formalsynth_release.levels import levels_of
from formalsynth_release.records import clipped
from formalsynth_release.rows import check_file, converted
from formalsynth_release.schema import Column
from formalsynth_release.study import Declared
from formalsynth_release.tables_check import drawn_again

KEEP = {"release": "synthesized"}
COLUMNS = {
    "pay": {"type": "number", "decimals": 2, "lower": 500, "upper": 50_000, "scale": "log", "bins": 12, "own_zero": True,
            "points": [2041.94], "edges": [2050], "missing_codes": {"-7": "not asked", "-8": "refused"}, "may_be_missing": True},
    "hours": {"type": "whole", "lower": 0, "upper": 80, "own_zero": True, **KEEP},
    "age": {"type": "whole", "lower": 0, "upper": 99, "edges": [16], **KEEP},
    "status": {"type": "category", "categories": ["s", "m"], "labels": {"s": "single", "m": "married"}, **KEEP},
    "post": {"type": "category", "categories": "08..11", "leading": 2, **KEEP},
    "came": {"type": "whole", "date": "months", "since": "2020-01-01", "format": "%d.%m.%Y", "lower": 0, "upper": 23, **KEEP},
}  # fmt: skip
RANGE = [{"if": {"age": {"below": 16}}, "then": {"hours": {"below": 21}}}]
RULES = [{"if": {"hours": 0}, "then": {"pay": ["missing", -7]}}, {"if": {"age": {"below": 16}}, "then": {"status": "s"}}]
DECLARED = {"outcome": "pay", "missing": "refuse", "zeros": "keep", "missing_values": ["NA"], "rules": RULES, "rows": 400}


def survey(n=400):
    made = np.random.default_rng(1)
    pay = made.lognormal(7.8, 0.5, n).round(2).astype(str)
    pay[:80], pay[80:110], pay[110:130], pay[130:150], pay[150:160] = "2041.94", "-7", "-8", "0", "NA"
    return pd.DataFrame({
        "pay": made.permutation(pay), "hours": made.choice(["0", "20", "40"], n), "age": made.integers(0, 99, n).astype(str),
        "status": made.choice(["s", "m"], n), "post": made.choice(["08123", "09999", "10x", "11000"], n),
        "came": made.choice(["31.01.2020", "01.02.2021", "24.12.2021"], n),
    })  # fmt: skip


def test_all_declarations_hold_in_a_release(tmp_path, small_pool):
    pairs = [["pay", "age"], ["hours kind", "pay kind"]]
    schema = a_schema(columns=COLUMNS, pairs=pairs, accept_noise=pairs, **DECLARED)
    table = typed(schema, survey().replace("NA", np.nan))
    assert set(table["came"]) == {0, 13, 23}
    assert set(table["post"]) == {"08", "09", "10", "11"}
    assert table["pay"][table["hours"] == 0].isin([np.nan, -7]).all()
    shares = [{"column": "pay", "below": 2050}, {"column": "pay", "value": -7}]
    config = {"ceiling": 20, "budget": 20, "sets": 1, "analyses": {"quantiles": [], "replicates": 20, "shares": shares}}
    folder = made_tables(tmp_path / "release", schema, table, **config)
    rows = pd.read_csv(folder / "synthetic_1.csv", dtype={"post": str})
    assert rows["pay"][rows["hours"] == 0].isin([np.nan, -7]).all()
    assert (rows["status"][rows["age"] < 16] == "s").all()
    assert {"08", "09"} < set(rows["post"])
    assert {0, 2041.94, -7, -8} < set(rows["pay"])
    assert rows["pay"][~rows["pay"].isin([0, -7, -8])].dropna().between(500, 50_000).all()
    fields = {
        field["name"]: field
        for field in json.loads((folder / "datapackage.json").read_text())["resources"][0]["schema"]["fields"]
    }
    assert {"value": "-8.00", "label": "refused"} in fields["pay"]["missingValues"]
    assert {"value": "m", "label": "married"} in fields["status"]["categories"]
    assert fields["came"]["description"] == "Months since 2020-01-01."
    readme = " ".join((folder / "README.md").read_text().split())
    assert "In each row, status is s if age is below 16." in readme
    assert "In each row, pay is missing or -7 if hours is 0." in readme


def test_codes_are_not_drawn_again_in_bins():
    values = pd.Series([500.0, 30_000, 0, -7, -8, np.nan, 2041.94])
    again = drawn_again(Column.model_validate(COLUMNS["pay"]), values)
    pd.testing.assert_series_equal(again[2:], values[2:])


def test_a_rule_with_a_range_sets_the_nearest_number_and_leaves_missing_values():
    columns = COLUMNS | {"hours": COLUMNS["hours"] | {"edges": [21], "may_be_missing": True}}
    schema = a_schema(columns=columns, **DECLARED | {"rules": RANGE}).public
    check_numbers(schema)
    rows = pd.DataFrame({"pay": 600.0, "hours": [40, 20, 0, np.nan, 40], "age": [9, 9, 9, 9, 50.0], "came": 1.0})
    assert clipped(schema, rows.assign(status="s", post="08"))["hours"].tolist()[:3] == [20, 20, 0]
    assert clipped(schema, rows.assign(status="s", post="08"))["hours"].isna().tolist() == [False] * 3 + [True, False]
    assert schema.rules[0].sentence == "hours is below 21 if age is below 16"


def test_a_code_between_the_bounds_keeps_its_meaning_if_it_is_recoded(tmp_path):
    columns = {
        "grade": {"type": "whole", "lower": 0, "upper": 100, "recode": {"99": "-9"}, "missing_codes": {"-9": "exempt"}},
        "kind": {"type": "category", "categories": ["sum", "b"], "recode": {"=1+1": "sum"}, **KEEP},
    }
    schema = a_schema(file="x.csv", columns=columns, outcome="grade", missing="refuse", zeros="keep", rows=4, pairs=[])
    pd.DataFrame({"grade": ["99", "98", "-9", "7"], "kind": ["=1+1", "b", "b", "sum"]}).to_csv(tmp_path / "x.csv", index=False)
    table = check_file(Declared("x", tmp_path, schema)).table
    assert table["grade"].tolist() == [-9, 98, -9, 7]
    assert table["kind"].tolist() == ["sum", "b", "b", "sum"]


def test_a_category_may_be_the_outcome(tmp_path, small_pool):
    columns = {"works": {"type": "category", "categories": ["TRUE", "FALSE"]}, "status": COLUMNS["status"]}
    schema = a_schema(
        columns=columns, outcome="works", missing="refuse", zeros="keep", rows=60, accept_noise=[["works", "status"]]
    )
    text = pd.DataFrame({"works": ["TRUE", "FALSE", "TRUE"] * 20, "status": ["s", "m"] * 30})
    folder = made_tables(tmp_path / "release", schema, typed(schema, text), ceiling=20, budget=20, sets=1)
    assert set(pd.read_csv(folder / "synthetic_1.csv", dtype=str)["works"]) == {"TRUE", "FALSE"}


def test_the_first_rows_of_each_person_are_used(tmp_path):
    columns = {"id": {"type": "category", "release": "suppressed"}, "wage": {"type": "whole", "lower": 0, "upper": 9}}
    table = pd.DataFrame({"id": ["a", "b", "a", "a", "b", "c"], "wage": ["1", "2", "3", "4", "5", "6"]})
    more = {"file": "x.csv", "outcome": "wage", "zeros": "keep", "missing": "refuse", "person": "id", "rows": 6, "pairs": []}
    schema = a_schema(columns=columns, rows_each=2, **more)
    table.to_csv(tmp_path / "x.csv", index=False)
    checked = check_file(Declared("x", tmp_path, schema))
    assert checked.table["wage"].tolist() == [1, 2, 3, 5, 6]
    assert (schema.change, schema.hides_rows, schema.public.rows) == (4, True, None)
    table.assign(id=["a", "", "a", "a", "b", "c"]).to_csv(tmp_path / "x.csv", index=False)
    (violation,) = check_file(Declared("x", tmp_path, schema)).violations
    assert violation.sentence() == "id: 1 row is not with a person"
    with pytest.raises(ValidationError, match="rows_each above 1 needs person"):
        a_schema(columns=columns, rows_each=2, **more | {"person": None})


def test_zero_may_be_below_the_bounds_of_a_log_scale():
    column = Column.model_validate(COLUMNS["pay"])
    levels = levels_of(column)
    values = pd.Series([0, 500, 2041.93, 2041.94, 2041.95, 2049.99, 2050, -7, -8, np.nan])
    places = levels.of(values)
    assert places[[0, 1, 7, 8, 9]].tolist() == [0, 1, len(levels), len(levels) + 1, -1]
    assert places[2] < places[3] < places[4] == places[5] < places[6]
    assert levels.parted_at(2050)
    assert not levels.parted_at(2060)
    assert all(places[3] not in range(run.start, run.stop) for run in levels.smooth)
    rows = pd.DataFrame({"pay": [0.0, 3.0, -7.0, 1e9], "hours": 1.0, "age": 20.0, "came": 1.0, "status": "s", "post": "08"})
    assert clipped(a_schema(columns=COLUMNS, **DECLARED), rows)["pay"].tolist() == [0, 500, -7, 50_000]


@pytest.mark.parametrize(("date", "text", "number"), [
    ({"date": "year"}, "2020-02-29", 2020), ({"date": "months", "since": "2019-12-31"}, "2020-02-01", 2),
    ({"date": "days", "since": "2020-02-28"}, "2020-03-01", 2), ({"date": "days", "since": "2020-02-28", "format": "%m/%d/%y"},
     "02/27/20", -1), ({"date": "year"}, "29.02.2020", None), ({"date": "year"}, "2021-02-29", None),
])  # fmt: skip
def test_dates_become_numbers(date, text, number):
    column = Column.model_validate({"type": "whole", "lower": 0, "upper": 3000} | date)
    read = converted(a_schema(), column, pd.Series([text]))[0]
    assert read == number if number is not None else np.isnan(read)


@pytest.mark.parametrize(("changes", "part"), [
    ({"pay": {"points": [70_000]}}, "points has 70000; allowed"), ({"pay": {"points": [2041.941]}}, "with the declared decimals"),
    ({"pay": {"edges": [500]}}, "edges has 500; allowed"),
    ({"pay": {"missing_codes": {"600": "x"}}}, "recode: { '600': '-9' }, and .* recode: { '600': '' }"),
    ({"pay": {"missing_codes": {"0": "x"}}}, "missing_codes has 0"), ({"pay": {"lower": 0}}, "own_zero: true allows 0"),
    ({"pay": {"missing_codes": {"x": "y"}}}, "a number, such as -7"),
    ({"post": {"categories": ["081"]}}, "at least 2 items"),
    ({"post": {"categories": ["081", "09"]}}, r"categories has \['081'\]"),
    ({"status": {"labels": {"w": "widowed"}}}, r"labels has \['w'\]"), ({"came": {"since": None}}, "since is needed"),
    ({"came": {"type": "number"}}, "date is for columns of type whole"), ({"age": {"format": "%Y"}}, "format is for dates only"),
])  # fmt: skip
def test_declarations_that_contradict_the_column_are_refused(changes, part):
    with pytest.raises(ValidationError, match=part):
        a_schema(columns={name: column | changes.get(name, {}) for name, column in COLUMNS.items()}, **DECLARED)


@pytest.mark.parametrize(("rules", "part"), [
    ([{"if": {"hours": 0}, "then": {"wage": 0}}], "needs two different released columns"),
    ([{"if": {"hours": 0}, "then": {"pay": -9}}], "-9.0 is no value of pay; allowed: numbers from 500 to 50000, with"),
    ([{"if": {"hours": 0}, "then": {"pay": "not asked"}}], "with the declared decimals, 0, -7, -8, missing"),
    ([{"if": {"status": "x"}, "then": {"pay": 0}}], "'x' is no value of status; allowed: s, m"),
    ([{"if": {"status": {"below": 3}}, "then": {"pay": 0}}], "status has categories"),
    ([{"if": {"hours": 0}, "then": {"pay": "missing"}}, {"if": {"status": "s"}, "then": {"pay": 0}}], "contradicts the rule"),
    ([{"if": {"pay": 0}, "then": {"hours": 0}}, {"if": {"hours": 0}, "then": {"pay": 0}}], "put it first"),
    ([{"if": {"age": {"below": 3, "above": 4}}, "then": {"pay": 0}}], "either below or above"),
    ([{"if": {"age": 3}, "then": {"hours": {"above": 80}}}], "81.0 is no value of hours; allowed: numbers from 0 to 80"),
    ([{"if": {"age": 3}, "then": {"hours": {"above": 9}}}, {"if": {"status": "s"}, "then": {"hours": 0}}], "contradicts"),
])  # fmt: skip
def test_rules_that_cannot_hold_are_refused(rules, part):
    with pytest.raises(ValidationError, match=part):
        a_schema(columns=COLUMNS, **DECLARED | {"rules": rules})


@pytest.mark.parametrize(
    "rule", [{"if": {"age": {"below": 18}}, "then": {"status": "s"}}, {"if": {"age": 17}, "then": {"hours": 0}}]
)
def test_a_rule_about_a_part_of_a_bin_is_refused(rule):
    with pytest.raises(DataError, match="is inside a bin of age: declare it in edges or points"):
        check_numbers(a_schema(columns=COLUMNS, **DECLARED | {"rules": [rule]}).public)


@pytest.mark.parametrize("outcome", ["works", "sex"])
def test_inspect_drafts_categories_as_outcomes_and_asks_about_codes(tmp_path, monkeypatch, outcome):
    monkeypatch.chdir(tmp_path)
    made = np.random.default_rng(1)
    pd.DataFrame({
        "post": [f"{number:05d}" for number in made.integers(1000, 90_000, 300)],
        "least": np.where(np.arange(300) % 5 == 0, "1987.5", made.integers(20_000, 50_000, 300).astype(str)),
        "works": made.choice(["TRUE", "FALSE"], 300), "sex": made.choice(["f", "m"], 300),
        "grade": made.choice([1, 2, 3, 4, 5, 6, 99], 300),
        "wage": [f"{number:,}" for number in made.integers(1000, 9999, 300)],
        "cost": [f"€{number}" for number in made.integers(10, 99, 300)],
    }).to_csv("x.csv", index=False)  # fmt: skip
    assert main(["inspect", "x.csv", "--outcome", outcome]) == 0
    schema = (tmp_path / "studies/x/schema.yaml").read_text()
    questions = (tmp_path / "studies/x/confidential/questions.txt").read_text()
    assert f"{outcome}: {{type: category, categories: DECLARE}}" in schema
    assert "thousands: DECLARE" in schema
    assert "post: {type: category, categories: DECLARE, release: DECLARE}" in schema
    assert "least: 1987.5 is in 20% of the rows. If it is public, such as a minimum wage, points: [1987.5]" in questions
    assert "pairs: DECLARE" in schema
    assert "grade: are these codes of missing values? Then declare missing_codes: { 99: MEANING }." in questions
    assert "cost: contains numbers with '€'. Remove this" in questions
    assert "wage: are there decimals, or marks between thousands?" in questions
