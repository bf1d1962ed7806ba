"""The texts of a release: true of every value and every number, and no two sentences contradict each other."""

import csv
import io
import itertools
import json
import re
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from small_release import COLUMNS, a_config, a_schema

from formalsynth_release.crossing import Earlier, declarations_of
from formalsynth_release.intervals import Analysed
from formalsynth_release.layout import Layout
from formalsynth_release.public import formatted
from formalsynth_release.publish import crossing_of
from formalsynth_release.tables import measured
from formalsynth_release.texts import ReleaseFacts, texts_of

EARLIER = Earlier.model_validate({
    "releases": [{"date": "2026-01-02", "epsilon": epsilon, "outcome": outcome} for epsilon, outcome in
                 ((1.25, "released"), (0.5, "stopped"))], "budgets": [2.0, 3.0],
})  # fmt: skip
RESULTS = {
    "mean of income": Analysed(23_000.0, 100.0, 400.0, 2.093, (1000.0, 500_000.0)),
    "0.9 quantile of income": Analysed(40_000.0, 0.0, 1.0, 2.093, reason="it is inside a bin"),
    "income on age: age": Analysed(np.nan, 0.0, 1.0, 2.093, reason="the pair income and age is not declared"),
}
NAME = {"type": "string", "pattern": r"^[-a-z0-9._/]+$"}
FIELD = {"required": ["name", "type", "constraints"],
         "properties": {"type": {"enum": ["number", "integer", "string"]}, "name": {"minLength": 1}}}  # fmt: skip
PACKAGE = {
    "type": "object", "required": ["$schema", "name", "resources"], "properties": {
        "$schema": {"const": "https://datapackage.org/profiles/2.0/datapackage.json"}, "name": NAME,
        "created": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "licenses": {"type": "array", "items": {"properties": {"name": {"pattern": r"^[-a-zA-Z0-9._]+$"}}, "required": ["name"]}},
        "resources": {"minItems": 1, "items": {
            "required": ["name", "path", "schema"],
            "properties": {"name": NAME, "type": {"const": "table"}, "schema": {"properties": {"fields": {"items": FIELD}}}},
        }},
    },
}  # fmt: skip
"""Requirements of version 2.0 of the standard for the keys that a release uses."""


def made_up(schema):
    """Rows with any values that the declarations allow."""
    generator = np.random.default_rng(1)
    return pd.DataFrame({
        name: levels.values(generator.integers(len(levels), size=schema.rows), generator.random(schema.rows))
        for name, levels in Layout(schema).columns.items()
    })  # fmt: skip


def facts_of(
    neighbours="replace", pairs=(("age", "income"),), config=None, schema=None, compared=False, earlier=None, epsilon=1.0
):
    """A release of the example as its texts see it."""
    declared = a_schema(**{"neighbours": neighbours, "pairs": pairs} | (schema or {}))
    public = declarations_of("my_incomes", declared.public, a_config(**{"rows": 2500} | (config or {})))
    tables = measured(declared.public, made_up(declared), epsilon)
    crossing = crossing_of(public, 2500, tables).model_copy(update={"compared": compared})
    return ReleaseFacts(crossing.model_copy(update={"earlier": earlier}) if earlier else crossing, public, RESULTS)


@pytest.fixture(scope="module", params=itertools.product(("replace", "add_remove"), ((), (("age", "income"),))), ids=str)
def facts(request):
    return facts_of(*request.param)


def words_of(facts):
    """Every text of a release on one line, by the name of its file."""
    return {name: " ".join(text.split()) for name, text in texts_of(facts).items()}


def test_the_data_package_is_valid_and_describes_every_value(facts):
    package = json.loads(texts_of(facts)["datapackage.json"])
    checker = jsonschema.Draft202012Validator(PACKAGE)
    assert [error.message for error in checker.iter_errors(package)] == []
    assert [error.message for error in checker.iter_errors({})] != []
    data = formatted(facts.schema, made_up(a_schema()))
    rows = list(csv.DictReader(io.StringIO(data)))
    fields = package["resources"][0]["schema"]["fields"]
    assert list(rows[0]) == [field["name"] for field in fields]
    for field in fields:
        limits, values = field["constraints"], {row[field["name"]] for row in rows}
        if "enum" in limits:
            assert values <= {*limits["enum"]}
        else:
            assert field["type"] == "integer"
            assert all(limits["minimum"] <= int(value) <= limits["maximum"] for value in values)


def test_every_text_has_the_promise(facts):
    texts = words_of(facts)
    for name in ("README.md", "LEGAL.md", "datapackage.json"):
        promise = "Epsilon is at most 1 for the columns income, age, region, sector, for all files of this folder together."
        assert promise in texts[name]


@pytest.mark.parametrize(
    ("epsilon", "factor", "certainty"), [(0.5, "1.65", "62.3 %"), (2, "7.39", "88.1 %"), (8, "2.99e+03", "99.967 %")]
)
def test_the_numbers_of_the_promise_are_rounded_up(epsilon, factor, certainty):
    text = words_of(facts_of(config={"ceiling": epsilon, "budget": 9}))["LEGAL.md"]
    assert f"change by a factor of at most {factor}." in text
    assert f"right with a probability of at most {certainty}." in text
    assert float(factor) >= np.exp(epsilon) * (1 - 1e-9)


LEGAL, README = "LEGAL.md", "README.md"
STRICT, LOOSE = (
    {"schema": {"missing": missing, "zeros": "keep", "outside_bounds": outside}}
    for missing, outside in (("refuse", "refuse"), ("drop_rows", "clip"))
)
KIND = {
    "columns": COLUMNS | {"income": COLUMNS["income"] | {"lower": 0, "own_zero": True}}, "pairs": [["age", "income kind"]],
    "zeros": "keep",
}  # fmt: skip
REPLACE, ADD_REMOVE = ({"neighbours": neighbours} for neighbours in ("replace", "add_remove"))


@pytest.mark.parametrize(("name", "words", "of_one", "not_of"), [
    (LEGAL, "Whether a given person is in the file: only their values are protected.", REPLACE, ADD_REMOVE),
    (LEGAL, "If one person were not in the file, the probability", ADD_REMOVE, REPLACE),
    (LEGAL, "The number of rows of the file, 3000. How many were left out, and which, is protected.", REPLACE, ADD_REMOVE),
    (LEGAL, "units in the file; that of their rows is protected.", {"schema": {"rows_each": 4, "person": "person"}}, REPLACE),
    (LEGAL, "The fact that no number is outside the declared bounds.", STRICT, LOOSE),
    (LEGAL, "The fact that no value is missing.", STRICT, LOOSE),
    (LEGAL, "The number of rows: it is that of", STRICT, LOOSE), (README, "were set to the nearest bound", LOOSE, STRICT),
    (README, "Rows with a missing value in a released column were left out.", LOOSE, STRICT),
    (LEGAL, 'from the source "people".** Its ledger has no earlier release.', {}, {"earlier": EARLIER}),
    (LEGAL, "| 2026-01-02 | 1.25 | released | | 2026-01-02 | 0.5 | stopped |", {"earlier": EARLIER}, {}),
    (LEGAL, "Together with this release, epsilon is 2.75, of a budget of 3", {"earlier": EARLIER}, {}),
    (LEGAL, "The budget was changed after it was declared: 2, then 3.", {"earlier": EARLIER}, {}),
    (LEGAL, "**A release was compared with the file before**", {"compared": True}, {}),
    (LEGAL, "so the sum is not one guarantee", {"earlier": EARLIER.model_copy(update={"mixed": True})}, {"earlier": EARLIER}),
    (LEGAL, "the people in this file are not those of any other source", {"schema": {"other_people": True}}, {}),
    (README, "relations with the columns region, sector: no pair is kept.", {}, {"pairs": ()}),
    (README, "Relations with the column income describe only rows with a value above 0", {"schema": KIND}, {}),
    (README, "`income kind` distinguishes missing values", {"schema": KIND}, {}),
])  # fmt: skip
def test_a_sentence_is_there_where_it_is_true(name, words, of_one, not_of):
    assert words in words_of(facts_of(**of_one))[name]
    assert words not in words_of(facts_of(**not_of))[name]


def fitness(facts):
    """Sentences of README.md on what the data are fit for, and what they are not fit for."""
    text = texts_of(facts)["README.md"]
    return [re.findall(rf"^- {re.escape(head)}: (.*)$", text, re.MULTILINE) for head in ("Fit for", "**Not fit for**")]


def test_readme_and_legal_text_state_what_the_data_are_fit_for(facts):
    texts, (fit, unfit) = words_of(facts), fitness(facts)
    assert fit
    assert unfit[-1] == "any statement about a single person."
    for sentence in (*fit, *unfit):
        assert f"- {' '.join(sentence.split())}" in texts["LEGAL.md"]
    assert ("standard error of a correlation, from the noise" in texts["README.md"]) == bool(facts.schema.pairs)


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_a_release_that_is_all_noise_is_fit_for_nothing_that_needs_true_values(neighbours):
    """At an epsilon of 0.002 the noise of a level is as large as the file."""
    facts = facts_of(neighbours, (), epsilon=0.002)
    fit, unfit = fitness(facts)
    assert fit == ["tests of programs, which need no true values."]
    assert unfit[0].startswith("the distribution of any column: the file has about ")
    assert unfit[1:] == ["relations of columns: none is kept.", "any statement about a single person."]
    assert "the distribution of each column." in fitness(facts_of(neighbours, ()))[0][0]


@pytest.mark.parametrize(("name", "cell"), [("pay|bonus", r"pay\|bonus"), ("a\\|b", r"a\\\|b"), ("age", "age")])
def test_a_column_name_stays_in_its_cell_of_the_table(name, cell):
    schema = {"outcome": name, "columns": {name: COLUMNS["income"], "age group": COLUMNS["age"]}}
    readme = texts_of(facts_of(pairs=(), schema=schema))["README.md"].splitlines()
    start = readme.index("| --- | --- |")
    assert readme[start + 1 : start + 3] == [f"| {cell} | whole |", "| age group | whole |"]


def test_codes_dates_labels_and_zeros_are_in_the_dictionary():
    columns = COLUMNS | {
        "income": COLUMNS["income"] | {"own_zero": True, "missing_codes": {"-7": "not asked"}},
        "age": {"type": "whole", "date": "months", "since": "2020-01-01", "lower": 0, "upper": 99, "release": "synthesized"},
        "sector": COLUMNS["sector"] | {"labels": {"public": "State"}, "description": "Sector of the employer"},
    }
    texts = texts_of(facts_of(schema={"columns": columns, "pairs": [], "zeros": "keep"}))
    fields = {field["name"]: field for field in json.loads(texts["datapackage.json"])["resources"][0]["schema"]["fields"]}
    assert fields["income"]["missingValues"] == [{"value": "-7", "label": "not asked"}]
    assert fields["income"]["constraints"] == {"required": False, "minimum": 0, "maximum": 500_000}
    assert fields["age"]["description"] == "Months since 2020-01-01."
    assert fields["sector"]["description"] == "Sector of the employer"
    assert "| sector | Sector of the employer | category |" in texts["README.md"]
    assert fields["sector"]["categories"] == [{"value": "public", "label": "State"}]
    assert 'if row["income"] not in ["-7"]' in texts["README.md"]
    assert "mean(x[!x %in% c(-7)], na.rm = TRUE)" in texts["README.md"]
    assert "impossible in reality can occur." in texts["README.md"]


def test_declared_text_is_neither_html_nor_another_line():
    text = "Incomes <script>alert(1)</script>\n# Heading <img src=x onerror=alert(1)>\n```python\nimport os\n```"
    keys = dict.fromkeys(("title", "intended_use", "licence"), text) | {"curator": {"name": text, "contact": text}}
    written = texts_of(facts_of(config=keys, schema={"protected": text}))
    for name in ("README.md", "LEGAL.md", "datapackage.json"):
        assert "alert(1)" in written[name]
        assert "<script" not in written[name]
        assert "\n# Heading" not in written[name]
    assert json.loads(written["datapackage.json"])["title"] == " ".join(text.split())


def test_analyses_are_in_a_table_for_programs(facts):
    rows = {row["analysis"]: row for row in csv.DictReader(io.StringIO(texts_of(facts)["analyses.csv"]))}
    assert rows["mean of income"] == {
        "analysis": "mean of income", "sets": "2", "estimate": "22900", "standard_error": "400", "low": "22062.8",
        "high": "23737.2", "bias": "100", "least": "1000", "most": "500000", "quantile": "2.093", "no_interval": "",
    }  # fmt: skip
    assert rows["0.9 quantile of income"]["no_interval"] == "it is inside a bin"
    assert rows["0.9 quantile of income"]["low"] == ""
    assert rows["income on age: age"]["estimate"] == ""
    assert "| income on age: age | none | unknown | none: the pair income" in texts_of(facts)["README.md"]
    without = replace(facts, results={})
    assert "No analysis is declared" in texts_of(without)["README.md"]
    assert not re.search(r"python|combine\(", texts_of(without)["README.md"].split("## Files")[0])
