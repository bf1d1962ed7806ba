"""Declarations: those that are refused, and others from the text of a file to the rows and texts of its release."""

import functools
import json

import households
import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import ValidationError
from small_release import COLUMNS, a_config, a_schema, made_tables, typed

from formalsynth.core.text import DataError
from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.command import main
from formalsynth_release.declarations import check_analyses, check_numbers
from formalsynth_release.levels import levels_of
from formalsynth_release.rows import check_file, clipped, converted
from formalsynth_release.schema import Analyses, Column
from formalsynth_release.study import DECLARE, Declared, DeclaredColumn, Schema, declarations, undeclared
from formalsynth_release.tables_check import drawn_again

KEEP = {"release": "synthesized"}
SURVEY = {
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


def incomes_of(**columns):
    """Schema of incomes with changed columns."""
    return a_schema(columns=COLUMNS | {name: COLUMNS[name] | column for name, column in columns.items()})


def survey_of(rules=RULES, **columns):
    """Schema of the survey with other rules, or with changed columns."""
    changed = {name: column | columns.get(name, {}) for name, column in SURVEY.items()}
    return a_schema(columns=changed, **DECLARED | {"rules": rules})


households_of = functools.partial(a_schema, **households.DECLARED, columns=households.COLUMNS)


def noisy_numbers(**changes):
    check_numbers(households_of(**changes).public)


def of_categories(**numbers):
    """Noisy numbers of so many categories in each column, all pairs of which are kept."""
    columns = {
        name: {"type": "category", "categories": [f"{name}{k}" for k in range(number)], **KEEP}
        for name, number in numbers.items()
    }
    noisy_numbers(columns={"income": households.COLUMNS["income"], **columns}, rows=20_000)


def of_rule(rule):
    check_numbers(survey_of([rule]).public)


def analyses_of(**analyses):
    check_analyses(households_of(), Analyses.model_validate(analyses))


def a_share(**condition):
    return a_config(analyses={"shares": [{"column": "income"} | condition]})


def narrow(bins, **column):
    """Noisy numbers of two columns of so many bins."""
    column = {"type": "whole", "bins": bins, "scale": "signed_log", "unit": 1, **KEEP} | column
    noisy_numbers(columns={"age": column, "birth": column, "income": households.COLUMNS["income"]})


NUMBER = {"type": "number", "lower": 0, "upper": 1}
HOUSEHOLD, SEX = households.COLUMNS, households.COLUMNS["sex"]
ONE_BIN = HOUSEHOLD | {"income": HOUSEHOLD["income"] | {"upper": 5, "lower": -500_000}}
TOO_NARROW = r"(?s)columns: age: its bins are too narrow for numbers of this size.*\n.*columns: birth: its bins are "
TOO_MANY = r"columns and pairs: need \d+ values in the crossing; allowed: at most 40000: declare"
ONCE = "each entry once"
CONDITION = "a share needs exactly one of value, above, below and missing: true"
IN_BIN = "is inside a bin of age: declare it in edges or points"
REFUSED = [
    # what is declared, how, and a part of the sentence
    (DeclaredColumn, {"type": "number", "lower": 1}, "see upper"), (of_categories, {f"c{k}": 2 for k in range(60)}, TOO_MANY),
    (DeclaredColumn, NUMBER | {"lower": 2}, "lower has to be below upper"),
    (DeclaredColumn, {"type": "category"}, "requires categories only; see categories"),
    (DeclaredColumn, {"type": "category", "categories": ["A"]}, "at least 2 items"),
    (DeclaredColumn, {"type": "category", "categories": ["A", "A"]}, ONCE),
    (DeclaredColumn, NUMBER | {"categories": ["A", "B"]}, "requires lower and upper only; see categories"),
    (DeclaredColumn, NUMBER | {"scale": "log"}, "lower bound above 0"), (a_schema, {"protected": "\t "}, "at least 1 character"),
    (DeclaredColumn, NUMBER | {"bins": 1001}, "less than or equal to 1000"),
    (DeclaredColumn, NUMBER | {"bins": 0}, "greater than or equal to 1"),
    (DeclaredColumn, NUMBER | {"ordered": True}, "ordered is for categories only"),
    (DeclaredColumn, NUMBER | {"type": "whole", "decimals": 3}, "decimals are for columns of type number only"),
    (DeclaredColumn, {"type": "category", "categories": ["=A", "B"]}, "not start like a spreadsheet formula; see recode"),
    (DeclaredColumn, NUMBER | {"type": "whole", "upper": 9.5}, "have to be whole numbers, as released values are"),
    (DeclaredColumn, NUMBER | {"upper": 9.25, "decimals": 1}, "of at most 1 decimal place .*, as released values are"),
    (DeclaredColumn, NUMBER | {"lower": -1e308, "upper": 1.7e308}, "1e.100"),
    (DeclaredColumn, NUMBER | {"scale": "signed_log", "unit": 5e-324}, "greater than or equal to 0.0"),
    (DeclaredColumn, {"type": "number", "lower": 1e-300, "upper": 9, "scale": "log", "release": "suppressed"},
     "of at least 1e-100"),
    (a_schema, {"outcome": "wage"}, "outcome has to be one of the columns"),
    (a_schema, {"rows_each": 2}, "rows_each above 1 needs person"), (a_schema, {"rows": 1}, "greater than or equal to 2"),
    (a_schema, {"outcome": "age"}, "columns.age.release cannot be given, since outcome is age"),
    (incomes_of, {"age": {"release": None}}, "columns.age.release has to be given"),
    (incomes_of, {"age": {"release": "as_is"}}, "should be 'suppressed' or 'synthesized'"),
    (a_schema, {"protected": "income"}, "protected has to be the unit that a row describes, such as person, not the outcome"),
    (incomes_of, {"income": {"scale": "signed_log", "unit": 1e8}}, "otherwise use scale: linear"),
    (incomes_of, {"region": {"categories": ["North", ""]}}, r"columns\.region\.categories has .*, which is a missing value"),
    (a_schema, {"missing_values": ["South"]}, r"columns\.region\.categories has .*, which is a missing value"),
    (a_schema, {"missing_values": ["", "30"]}, r"has '30' for all columns, and it is between the bounds of columns\.age"),
    *((a_schema, {"delimiter": mark}, "should be ',', ';', ") for mark in "\n\u20ac"),
    *((a_config, {"ceiling": low}, r"equal to 0\.0001") for low in (0, 1e-300)),
    (a_config, {"ceiling": float("inf")}, "finite number"), (a_config, {"budget": -1}, "greater than 0"),
    (a_config, {"ceiling": 1e300, "budget": 1e300}, "less than or equal to 10000"),
    (a_config, {"sets": 0}, "greater than or equal to 1"), (a_config, {"sets": 101}, "less than or equal to 100"),
    *((a_config, {name: 1}, "not permitted") for name in ("root_seed", "seed", "random_state", "synthesizer")),
    *((a_config, {"title": title}, "1 character") for title in ("", " ")),
    *((a_config, {"budget": 2000} | given, "6 significant digits")
      for given in ({"ceiling": 1.0000049}, {"ceiling": 1234.564}, {"budget": 20.00001})),
    *((a_share, {"value": 1, "below": 5} | more, CONDITION) for more in ({"above": 3}, {"missing": True})),
    (households_of, {"pairs": [["age", "ages"]]}, "pairs has 'ages'; allowed: region, size, age"),
    (households_of, {"pairs": [["age", "size"], ["size", "age"]]}, "a pair twice: age and size"),
    (households_of, {"pairs": [["age", "szie"], ["x", "age"]]}, "pairs has 'szie', 'x'; allowed: region"),
    (households_of, {"pairs": [["income", "income kind"]]}, "a column with itself: income and income kind"),
    (households_of, {"pairs": [["age", "size"], ["size", "age"], ["age", "age"], ["age", "szie"]]},
     "pairs has a pair twice: age and size; it also has a column with itself: age and age; .*; it also has 'szie'; allowed: "),
    (households_of, {"pairs": [], "accept_noise": [["age", "size"]]}, "pairs has no age and size, which accept_noise names"),
    (households_of, {"missing": "drop_rows"}, "may_be_missing needs missing: refuse"),
    (households_of, {"columns": HOUSEHOLD | {"age": HOUSEHOLD["age"] | {"scale": "signed_log"}}}, "unit has to be given"),
    *((households_of, {"columns": HOUSEHOLD | {name: SEX}}, "a released column cannot end in ' kind'")
      for name in ("job kind", "hours kind")),
    (households_of, {"columns": HOUSEHOLD | {"age": HOUSEHOLD["age"] | {"upper": -1, "lower": -9, "own_zero": True}}},
     "own_zero is for numbers with an upper"),
    (survey_of, {"pay": {"points": [70_000]}}, "points has 70000; allowed"),
    (survey_of, {"pay": {"points": [2041.941]}}, "with the declared decimals"),
    (survey_of, {"pay": {"edges": [500]}}, "edges has 500; allowed"),
    (survey_of, {"pay": {"missing_codes": {"600": "x"}}}, "recode: { '600': '-9' }, and .* recode: { '600': '' }"),
    (survey_of, {"pay": {"missing_codes": {"0": "x"}}}, "missing_codes has 0"),
    (survey_of, {"pay": {"missing_codes": {"x": "y"}}}, "a number, such as -7"),
    (survey_of, {"pay": {"lower": 0}}, "own_zero: true allows 0"), (survey_of, {"post": {"categories": ["081"]}}, "at least 2"),
    *((survey_of, {"post": {"categories": of}}, "whole numbers of equal length") for of in ("M01..M20", ["M01..M20"], "1..10")),
    (survey_of, {"post": {"categories": ["081", "09"]}}, r"categories has \['081'\]"),
    (survey_of, {"status": {"labels": {"w": "widowed"}}}, r"labels has \['w'\]"),
    (survey_of, {"came": {"since": None}}, "since is needed"), (survey_of, {"age": {"format": "%Y"}}, "format is for dates only"),
    (survey_of, {"came": {"type": "number"}}, "date is for columns of type whole"),
    *((survey_of, {"rules": [{"if": condition, "then": then} for condition, then in rules]}, part) for rules, part in [
        ([({"hours": 0}, {"wage": 0})], "needs two different released columns"),
        ([({"hours": 0}, {"pay": -9})], "-9.0 is no value of pay; allowed: numbers from 500 to 50000, with"),
        ([({"hours": 0}, {"pay": "not asked"})], "with the declared decimals, 0, -7, -8, missing"),
        ([({"status": "x"}, {"pay": 0})], "'x' is no value of status; allowed: s, m"),
        ([({"status": {"below": 3}}, {"pay": 0})], "status has categories"),
        ([({"hours": 0}, {"pay": "missing"}), ({"status": "s"}, {"pay": 0})], "contradicts the rule"),
        ([({"pay": 0}, {"hours": 0}), ({"hours": 0}, {"pay": 0})], "put it first"),
        ([({"age": {"below": 3, "above": 4}}, {"pay": 0})], "either below or above"),
        ([({"age": 3}, {"hours": {"above": 80}})], "81.0 is no value of hours; allowed: numbers from 0 to 80"),
        ([({"age": 3}, {"hours": {"above": 9}}), ({"status": "s"}, {"hours": 0})], "contradicts"),
    ]),
    *((of_rule, {"rule": {"if": {"age": condition}, "then": then}}, IN_BIN)
      for condition, then in (({"below": 18}, {"status": "s"}), (17, {"hours": 0}))),
    (narrow, {"lower": 10**15, "upper": 10**15 + 3, "bins": 10}, TOO_NARROW),
    (narrow, {"lower": -1e15, "upper": -1e15 + 1000, "unit": 1000, "bins": 1000}, TOO_NARROW),
    (narrow, {"lower": -1_000_000, "upper": -999_995, "decimals": 1, "type": "number", "bins": 1000}, TOO_NARROW),
    (of_categories, {"job": 101, "place": 100},
     r"pairs: job with place: needs 10100 noisy numbers; allowed: at most 10000, no more than rows: merge"),
    (of_categories, {"job": 102, "place": 100, "work": 150},
     r"(?s)pairs: job with place: needs 10200 .*\n.*pairs: job with work: needs 15300 "),
    (of_categories, {"job": 99, "place": 99, "work": 99, "flat": 99}, TOO_MANY),
    (noisy_numbers, {"columns": ONE_BIN, "pairs": [["age", "income"]]},
     "pairs: income has a single level or bin, so nothing is related to it: declare another"),
    (analyses_of, {"means": ["region"]}, "means: region is not one of the columns of numbers"),
    (analyses_of, {"regressions": [{"predictors": ["income"]}]}, "regressions: income is not one of the predictors"),
    (analyses_of, {"means": ["region"], "shares": [{"column": "ages", "missing": True}]},
     "(?s)means: region .*analyses: shares: ages is not"),
    *((analyses_of, {"shares": [{"column": column, which: value}]}, part) for column, which, value, part in [
        ("region", "value", "Mars", "the column has the categories North"), ("age", "value", "old", "the column has numbers"),
        ("income", "above", 500_000, "the declared values between -50000 and 500000 of"),
        ("income", "below", -50_000, "share of income below -50000: the declared values"),
        ("income", "above", -50_001, "share of income above -50001: the declared values"),
        ("size", "value", 0.5, "share of size equal to 0.5: the declared values between 1 and 7"),
        ("age", "missing", True, "share of age missing: the declared values"),
    ]),
    *((analyses_of, twice, ONCE) for twice in (
        {"means": ["age", "age"]}, {"quantiles": [0.5, 0.5]}, {"regressions": [{"predictors": ["age", "age"]}]},
        {"regressions": [{"predictors": ["age"]}] * 2}, {"shares": [{"column": "income", "value": 0}] * 2},
    )),
]  # fmt: skip


@pytest.mark.parametrize(("declare", "given", "part"), REFUSED)
def test_declarations_that_are_not_possible_are_refused(declare, given, part):
    with pytest.raises((ValidationError, DataError), match=part):
        declare(**given)


def test_declarations_near_those_that_are_refused_are_possible():
    a_schema(missing_values=["", "-7"])
    incomes_of(age={"upper": 90.5, "release": "suppressed"})
    of_categories(job=300, region=20)
    of_categories(**{f"c{k}": 2 for k in range(50)})
    noisy_numbers(columns=ONE_BIN, pairs=[["age", "income kind"]])


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
    schema = a_schema(columns=SURVEY, pairs=pairs, accept_noise=pairs, **DECLARED)
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
    again = drawn_again(Column.model_validate(SURVEY["pay"]), values)
    pd.testing.assert_series_equal(again[2:], values[2:])


def test_a_rule_with_a_range_sets_the_nearest_number_and_leaves_missing_values():
    columns = SURVEY | {"hours": SURVEY["hours"] | {"edges": [21], "may_be_missing": True}}
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
    columns = {"works": {"type": "category", "categories": ["TRUE", "FALSE"]}, "status": SURVEY["status"]}
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


def test_zero_may_be_below_the_bounds_of_a_log_scale():
    column = Column.model_validate(SURVEY["pay"])
    levels = levels_of(column)
    values = pd.Series([0, 500, 2041.93, 2041.94, 2041.95, 2049.99, 2050, -7, -8, np.nan])
    places = levels.of(values)
    assert places[[0, 1, 7, 8, 9]].tolist() == [0, 1, len(levels), len(levels) + 1, -1]
    assert places[2] < places[3] < places[4] == places[5] < places[6]
    assert levels.parted_at(2050)
    assert not levels.parted_at(2060)
    assert all(places[3] not in range(run.start, run.stop) for run in levels.smooth)
    rows = pd.DataFrame({"pay": [0.0, 3.0, -7.0, 1e9], "hours": 1.0, "age": 20.0, "came": 1.0, "status": "s", "post": "08"})
    assert clipped(a_schema(columns=SURVEY, **DECLARED), rows)["pay"].tolist() == [0, 500, -7, 50_000]


@pytest.mark.parametrize(("date", "text", "number"), [
    ({"date": "year"}, "2020-02-29", 2020), ({"date": "months", "since": "2019-12-31"}, "2020-02-01", 2),
    ({"date": "days", "since": "2020-02-28"}, "2020-03-01", 2), ({"date": "days", "since": "2020-02-28", "format": "%m/%d/%y"},
     "02/27/20", -1), ({"date": "year"}, "29.02.2020", None), ({"date": "year"}, "2021-02-29", None),
])  # fmt: skip
def test_dates_become_numbers(date, text, number):
    column = Column.model_validate({"type": "whole", "lower": 0, "upper": 3000} | date)
    read = converted(a_schema(), column, pd.Series([text]))[0]
    assert read == number if number is not None else np.isnan(read)


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


def test_open_keys_are_listed_by_their_path():
    tree = {"a": DECLARE, "b": {"c": [1, DECLARE]}, "d": "declared"}
    assert list(undeclared(tree)) == ["a", "b.c.1"]


@pytest.mark.parametrize("name", ["true", "1", "2020-01-01", "1.0"])
def test_a_name_that_yaml_reads_as_another_value_needs_quotes(tmp_path, name):
    path = tmp_path / "schema.yaml"
    path.write_text(yaml.safe_dump(a_schema().model_dump(mode="json")).replace("- North", f"- {name}"))
    with pytest.raises(ConfigError, match="should be a valid string, in quotes: without them YAML reads it as another value"):
        validated(Schema, load_yaml(path), path)


def test_open_keys_of_suppressed_columns_do_not_matter(tmp_path):
    path = tmp_path / "schema.yaml"
    column = {"type": "number", "lower": DECLARE, "upper": DECLARE}
    path.write_text(yaml.safe_dump({"columns": {"id": column | {"release": "suppressed"}}}))
    assert declarations(path) == {"columns": {"id": {"type": "number", "release": "suppressed"}}}
    path.write_text(yaml.safe_dump({"columns": {"id": column | {"release": "synthesized"}}}))
    with pytest.raises(ConfigError, match=r"columns\.id\.lower: is not filled in yet"):
        declarations(path)


def test_a_release_has_its_columns_in_the_order_of_the_file():
    assert list(a_schema().released) == ["income", "age", "region", "sector"]


@pytest.mark.parametrize("name", ["age\n# Approved", "age\u2028x", "age\x1b[2J", "a\x00ge"])
@pytest.mark.parametrize("place", ["column", "category", "share", "predictor"])
def test_names_that_end_a_line_are_refused(name, place):
    declare = {
        "column": lambda: a_schema(columns=COLUMNS | {name: COLUMNS["age"]}),
        "category": lambda: incomes_of(region={"categories": ["North", name]}), "share": lambda: a_share(value=name),
        "predictor": lambda: a_config(analyses={"regressions": [{"predictors": [name]}]}),
    }  # fmt: skip
    with pytest.raises(ValidationError, match="no line break and no other control character"):
        declare[place]()


@pytest.mark.parametrize(("share", "name"), [
    ({"value": 0}, "equal to 0"), ({"above": 30000}, "above 30000"), ({"below": 0}, "below 0"), ({"missing": True}, "missing"),
])  # fmt: skip
def test_a_share_has_one_condition(share, name):
    (declared,) = a_share(**share).analyses.shares
    assert declared.name == f"share of income {name}"


def test_texts_of_a_release_are_on_one_line():
    assert a_config(title="Incomes\n\n# of  persons").title == "Incomes # of persons"


@pytest.mark.parametrize("name", ["1\u00a0000", "می\u200cخواهم"])
def test_spaces_that_do_not_break_and_letters_of_all_languages_are_in_names(name):
    assert name in Column(type="category", categories=[name, "b"], release="synthesized").categories
