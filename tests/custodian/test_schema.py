"""Declarations: rules between keys, and open keys by name."""

import pytest
import yaml
from formalsynth.custodian.schema import DECLARE, Column, Schema, declarations, read_draft, undeclared
from formalsynth.plan.messages import ConfigError, validated
from formalsynth.plan.yaml_file import load_yaml
from pydantic import ValidationError
from small_release import COLUMNS, a_config, a_schema


@pytest.fixture
def release(tmp_path):
    """Write release.yaml and return the folder."""

    def release(**values):
        (tmp_path / "release.yaml").write_text(yaml.safe_dump(values))
        return tmp_path

    return release


def test_open_keys_are_listed_by_their_path():
    tree = {"a": DECLARE, "b": {"c": [1, DECLARE]}, "d": "declared"}
    assert list(undeclared(tree)) == ["a", "b.c.1"]


@pytest.mark.parametrize("name", ["yes", "1", "2020-01-01", "1.0"])
def test_a_name_that_yaml_reads_as_another_value_needs_quotes(tmp_path, name):
    path = tmp_path / "schema.yaml"
    path.write_text(yaml.safe_dump(a_schema().model_dump(mode="json")).replace("- North", f"- {name}"))
    with pytest.raises(ConfigError, match="should be a valid string, in quotes: without them YAML reads it as another value"):
        validated(Schema, load_yaml(path), path)


@pytest.mark.parametrize("settings", [{"ceiling": 1e-300}, {"ceiling": 0}, {"predictors_epsilon": 1e-9}])
def test_an_epsilon_of_next_to_nothing_is_refused(settings):
    with pytest.raises(ValidationError, match=r"greater than or equal to 0\.0001"):
        a_config(**settings)


def test_open_keys_of_suppressed_columns_do_not_matter(tmp_path):
    path = tmp_path / "schema.yaml"
    column = {"type": "number", "lower": DECLARE, "upper": DECLARE}
    path.write_text(yaml.safe_dump({"columns": {"id": column | {"release": "suppressed"}}}))
    assert declarations(path) == {"columns": {"id": {"type": "number", "release": "suppressed"}}}
    path.write_text(yaml.safe_dump({"columns": {"id": column | {"release": "as_is"}}}))
    with pytest.raises(ConfigError, match=r"columns\.id\.lower: is not filled in yet"):
        declarations(path)


@pytest.mark.parametrize("column", [
    {"type": "number", "lower": 1}, {"type": "number", "lower": 2, "upper": 1}, {"type": "category"},
    {"type": "category", "categories": ["A"]}, {"type": "category", "categories": ["A", "A"]},
    {"type": "whole", "lower": 0, "upper": 9, "categories": ["A", "B"]},
    {"type": "number", "lower": 0, "upper": 1, "scale": "log"},
    {"type": "number", "lower": 0, "upper": 1, "bins": 1001}, {"type": "number", "lower": 0, "upper": 1, "bins": 0},
])  # fmt: skip
def test_columns_that_contradict_their_type_are_refused(column):
    with pytest.raises(ValidationError):
        Column.model_validate(column)


def test_whole_numbers_have_no_decimal_places():
    assert Column(type="number", lower=0, upper=1, decimals=3).places == 3
    assert Column(type="whole", lower=0, upper=1, decimals=3).places == 0


@pytest.mark.parametrize("changes", [
    {"outcome": "wage"}, {"outcome": "region"}, {"neighbours": "add_remove"}, {"rows_each": 2}, {"rows": 1},
    {"columns": {**COLUMNS, "age": {"type": "whole", "lower": 18, "upper": 80}}},
    {"columns": {**COLUMNS, "income": COLUMNS["income"] | {"release": "as_is"}}},
])  # fmt: skip
def test_schemas_without_a_meaning_are_refused(changes):
    with pytest.raises(ValidationError):
        a_schema(**changes)


def test_a_release_has_its_columns_in_the_order_of_the_file():
    schema = a_schema()
    assert list(schema.released) == ["income", "age", "region", "sector"]
    assert list(schema.predictors) == ["age", "region", "sector"]
    assert schema.synthesized == {}


@pytest.mark.parametrize(
    "changes", [{"ceiling": 0}, {"ceiling": float("inf")}, {"budget": -1}, {"sets": 0}, {"sets": 101}, {"title": ""}]
)
def test_releases_without_a_finite_claim_are_refused(changes):
    with pytest.raises(ValidationError):
        a_config(**changes)


def test_texts_of_a_release_are_on_one_line():
    assert a_config(title="Incomes\n\n# of  persons").title == "Incomes # of persons"


def test_a_draft_takes_defaults_for_open_keys(release):
    draft = read_draft(release(sets=DECLARE, ceiling=DECLARE, analyses=DECLARE))
    assert (draft.sets, draft.ceiling, draft.rows, draft.predictors_epsilon) == (5, None, None, None)
    assert draft.analyses.quantiles == [0.15, 0.5, 0.9]


def test_a_draft_takes_what_is_declared(release):
    draft = read_draft(release(sets=3, ceiling=2, rows=100, predictors_epsilon=0.5, analyses={"quantiles": [0.25]}))
    assert (draft.sets, draft.ceiling, draft.rows, draft.predictors_epsilon) == (3, 2.0, 100, 0.5)
    assert draft.analyses.quantiles == [0.25]
