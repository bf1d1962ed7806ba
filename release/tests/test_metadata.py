"""Metadata in SmartNoise's and CSVW-EO's formats: what is written is read again, and what is not said is left to declare."""

import json
import os

import pytest
import yaml
from small_release import COLUMNS, a_schema

from formalsynth.core.text import DataError
from formalsynth_release.metadata import csvw, read_metadata, smartnoise, write_metadata
from formalsynth_release.schema import Schema

SCHEMA = Schema.model_validate({
    "file": "income.csv", "rows": 60, "protected": "person", "rows_each": 1, "neighbours": "replace", "outside_bounds": "clip",
    "missing": "refuse", "zeros": "refuse", "outcome": "income", "pairs": [],
    "columns": {
        "income": {"type": "number", "lower": 1000.5, "upper": 200_000, "decimals": 1},
        "age": {"type": "whole", "lower": 18, "upper": 90, "release": "synthesized"},
        "region": {"type": "category", "categories": ["North", "South"], "release": "synthesized"},
    },
})  # fmt: skip


def test_csvw_eo_keeps_everything_that_it_can_say(tmp_path):
    write_metadata(SCHEMA, tmp_path / "meta.json")
    known = read_metadata(tmp_path / "meta.json")
    assert known.rows == 60
    assert known.protected == "person"
    assert known.columns == {
        "income": {"type": "number", "lower": 1000.5, "upper": 200_000},
        "age": {"type": "whole", "lower": 18, "upper": 90},
        "region": {"type": "category", "categories": ["North", "South"]},
    }


def test_smartnoise_keeps_types_and_bounds(tmp_path):
    write_metadata(SCHEMA, tmp_path / "meta.yaml")
    known = read_metadata(tmp_path / "meta.yaml")
    assert known.rows == 60
    assert known.columns == {
        "income": {"type": "number", "lower": 1000.5, "upper": 200_000},
        "age": {"type": "whole", "lower": 18, "upper": 90},
        "region": {"type": "category"},
    }
    table = yaml.safe_load((tmp_path / "meta.yaml").read_text())[""]["MySchema"]["income"]
    assert table == smartnoise(SCHEMA)[""]["MySchema"]["income"]
    assert table["row_privacy"] is True


@pytest.mark.parametrize(("name", "text", "part"), [
    ("meta.json", json.dumps({"tableSchema": {}}), "tableSchema.columns: is missing"),
    ("meta.json", "{", "cannot be read as metadata"),
    ("meta.json", "[]", "is neither"),
    ("meta.json", json.dumps({"maxContributions": 4, "tableSchema": {"columns": []}}), "maxContributions: given 4; allowed: 1"),
    ("meta.yaml", "'': {S: {T: {max_ids: 3}}}", "max_ids: given 3"),
    ("meta.yaml", "'': {S: {T: {}, U: {}}}", "has 2"),
    ("meta.json", json.dumps({"tableSchema": {"columns": [None]}}), "tableSchema.columns: is missing or invalid"),
    ("meta.json", "[" * 100_000, "cannot be read as metadata"),
    ("meta.json", " " * 3_000_000, "allowed: at most 2000000"),
    ("meta.yaml", "'': {S: {T: {rows: !!bool maybe}}}", "cannot be read as metadata"),
])  # fmt: skip
def test_other_metadata_are_refused_in_a_sentence(name, text, part, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=part):
        read_metadata(tmp_path / name)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "meta.json")
    with pytest.raises(DataError, match="is a pipe or a device"):
        read_metadata(tmp_path / "meta.json")


def test_bounds_that_are_no_numbers_are_left_to_declare(tmp_path):
    column = {"name": "income", "datatype": "double", "minimum": True, "maximum": float("inf")}
    (tmp_path / "meta.json").write_text(json.dumps({"publicLength": 10**30, "tableSchema": {"columns": [column]}}))
    known = read_metadata(tmp_path / "meta.json")
    assert (known.rows, known.columns) == (None, {"income": {"type": "number"}})


@pytest.mark.parametrize("text", [
    "income,age\n73519,20\n81234,30\n",
    "[73519, 81234]",
    "'73519': 1\n'73519': 2\n",
    "income: !73519 x\n",
    "income: *73519\n",
    "income: 73519-13-45 00:00:00\n73519: [\n",
])  # fmt: skip
@pytest.mark.parametrize("name", ["data.csv", "data.yaml", "data.json"])
def test_a_file_that_is_no_metadata_is_never_quoted(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as error:
        read_metadata(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)
    assert "73519" not in str(error.value)
    assert "81234" not in str(error.value)


def test_a_confidential_number_of_rows_is_not_exported():
    alone = {"income": COLUMNS["income"], "age": COLUMNS["age"] | {"release": "synthesized", "may_be_missing": True}}
    for neighbours, known in (("replace", {3000}), ("add_remove", {None})):
        schema = a_schema(neighbours=neighbours, columns=alone, missing="refuse")
        (table,) = smartnoise(schema)[""]["MySchema"].values()
        assert {csvw(schema).get("publicLength"), table.get("rows")} == known
        assert [column["required"] for column in csvw(schema)["tableSchema"]["columns"]] == [True, False]
        assert [table[name]["nullable"] for name in alone] == [False, True]
