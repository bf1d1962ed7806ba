"""Declarations: rules between keys, and open keys by name."""

import pytest
import yaml
from pydantic import ValidationError
from small_release import COLUMNS, a_config, a_schema

from formalsynth.settings.messages import ConfigError, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_release.schema import Column
from formalsynth_release.study import DECLARE, Schema, declarations, undeclared


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


NUMBER = {"type": "number", "lower": 0, "upper": 1}


COLUMN = [
    ({"type": "number", "lower": 1}, "see upper"), (NUMBER | {"lower": 2}, "lower has to be below upper"),
    ({"type": "category"}, "requires categories only; see categories"),
    ({"type": "category", "categories": ["A"]}, "at least 2 items"),
    ({"type": "category", "categories": ["A", "A"]}, "each entry once"),
    (NUMBER | {"categories": ["A", "B"]}, "requires lower and upper only; see categories"),
    (NUMBER | {"scale": "log"}, "lower bound above 0"), (NUMBER | {"bins": 1001}, "less than or equal to 1000"),
    (NUMBER | {"bins": 0}, "greater than or equal to 1"), (NUMBER | {"ordered": True}, "ordered is for categories only"),
    (NUMBER | {"type": "whole", "decimals": 3}, "decimals are for columns of type number only"),
    ({"type": "category", "categories": ["=A", "B"]}, "not start like a spreadsheet formula; see recode"),
    (NUMBER | {"type": "whole", "upper": 9.5}, "have to be whole numbers, as released values are"),
    (NUMBER | {"upper": 9.25, "decimals": 1}, "of at most 1 decimal place .*, as released values are"),
    (NUMBER | {"lower": -1e308, "upper": 1.7e308}, "1e.100"),
    (NUMBER | {"scale": "signed_log", "unit": 5e-324}, "greater than or equal to 0.0"),
    ({"type": "number", "lower": 1e-300, "upper": 9, "scale": "log", "release": "suppressed"}, "of at least 1e-100"),
]  # fmt: skip
SCHEMA = [
    ({"outcome": "wage"}, "outcome has to be one of the columns"),
    ({"rows_each": 2}, "rows_each above 1 needs person"),
    ({"rows": 1}, "greater than or equal to 2"),
    ({"outcome": "age"}, "columns.age.release cannot be given, since outcome is age"),
    ({"columns": {**COLUMNS, "age": {"type": "whole", "lower": 18, "upper": 80}}}, "columns.age.release has to be given"),
    ({"columns": {**COLUMNS, "age": COLUMNS["age"] | {"release": "as_is"}}}, "should be 'suppressed' or 'synthesized'"),
    ({"protected": "\t "}, "at least 1 character"),
    ({"protected": "income"}, "protected has to be the unit that a row describes, such as person, not the outcome income"),
    ({"columns": {**COLUMNS, "income": COLUMNS["income"] | {"scale": "signed_log", "unit": 1e8}}}, "otherwise use scale: linear"),
]
FILE = [({"delimiter": "\n"}, "should be ',', ';', "), ({"delimiter": "\u20ac"}, "should be ',', ';', ")]
CONFIG = [
    ({"ceiling": 0}, r"equal to 0\.0001"), ({"ceiling": 1e-300}, r"equal to 0\.0001"),
    ({"ceiling": float("inf")}, "finite number"),
    ({"ceiling": 1e300, "budget": 1e300}, "less than or equal to 10000"), ({"budget": -1}, "greater than 0"),
    ({"sets": 0}, "greater than or equal to 1"), ({"sets": 101}, "less than or equal to 100"), ({"title": ""}, "1 character"),
    ({"title": " "}, "1 character"), ({"ceiling": 1.0000049}, "6 significant digits"),
    ({"ceiling": 1234.564, "budget": 2000}, "6 significant digits"), ({"budget": 20.00001}, "6 significant digits"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "changes", "part"), [
    *((Column, *row) for row in COLUMN), *((a_schema, *row) for row in SCHEMA + FILE), *((a_config, *row) for row in CONFIG),
])  # fmt: skip
def test_declarations_that_are_not_possible_are_refused(model, changes, part):
    with pytest.raises(ValidationError, match=part):
        model(**changes)


def test_bounds_of_suppressed_columns_do_not_matter():
    a_schema(columns={**COLUMNS, "age": COLUMNS["age"] | {"upper": 90.5, "release": "suppressed"}})


def test_a_release_has_its_columns_in_the_order_of_the_file():
    schema = a_schema()
    assert list(schema.released) == ["income", "age", "region", "sector"]
    assert list(schema.predictors) == ["age", "region", "sector"]


@pytest.mark.parametrize("name", ["age\n# Approved", "age\u2028x", "age\x1b[2J", "a\x00ge"])
@pytest.mark.parametrize("place", ["column", "category", "share", "predictor"])
def test_names_that_end_a_line_are_refused(name, place):
    region, analyses = COLUMNS["region"], {}
    if place == "column":
        columns = {**COLUMNS, name: COLUMNS["age"]}
    else:
        columns = {**COLUMNS, "region": region | {"categories": [*region["categories"], name]}}
        share, regression = {"column": "region", "value": name}, {"predictors": [name]}
        analyses = {"share": {"shares": [share]}, "predictor": {"regressions": [regression]}}
    with pytest.raises(ValidationError, match="no line break and no other control character"):
        a_config(analyses=analyses[place]) if place in analyses else a_schema(columns=columns)


def test_a_code_of_missing_values_that_can_be_a_value_is_declared_by_column():
    with pytest.raises(
        ValidationError, match=r"missing_values has '30' for all columns, and it is between the bounds of columns\.age"
    ):
        a_schema(missing_values=["", "30"])
    a_schema(missing_values=["", "-7"])


@pytest.mark.parametrize("category", ["", "n/a"])
def test_a_category_that_is_a_missing_value_is_refused(category):
    region = COLUMNS["region"] | {"categories": ["North", category]}
    with pytest.raises(ValidationError, match=r"columns\.region\.categories has .*, which is a missing value"):
        a_schema(columns={**COLUMNS, "region": region}, missing_values=["n/a"])


@pytest.mark.parametrize(("share", "name"), [
    ({"value": 0}, "share of income equal to 0"), ({"above": 30000}, "share of income above 30000"),
    ({"below": 0}, "share of income below 0"), ({"missing": True}, "share of income missing"),
])  # fmt: skip
def test_a_share_has_one_condition(share, name):
    (declared,) = a_config(analyses={"shares": [{"column": "income"} | share]}).analyses.shares
    assert declared.name == name
    with pytest.raises(ValidationError, match="a share needs exactly one of value, above, below and missing: true"):
        a_config(analyses={"shares": [{"column": "income", "value": 1, "below": 5} | share]})


def test_texts_of_a_release_are_on_one_line():
    assert a_config(title="Incomes\n\n# of  persons").title == "Incomes # of persons"


def test_a_category_may_have_a_space_that_does_not_break():
    assert Column(type="category", categories=["1\u00a0000", "more"], release="synthesized").categories == ["1\u00a0000", "more"]


def test_letters_of_all_languages_are_names():
    assert "می\u200cخواهم" in Column(type="category", categories=["می\u200cخواهم", "b"], release="synthesized").categories
