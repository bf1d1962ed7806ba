"""Metadata in SmartNoise's and CSVW-EO's formats: what is written is read again, and what is not said is left to declare."""

import json

import pytest
import yaml
from formalsynth.custody.formats import read_metadata, smartnoise, write_metadata
from formalsynth.custody.schema import Schema
from formalsynth.data.files import DataError

SCHEMA = Schema.model_validate({
    "file": "income.csv", "rows": 60, "protected": "person", "rows_each": 1, "neighbours": "replace", "outside_bounds": "clip",
    "missing": "refuse", "zeros": "refuse", "outcome": "income",
    "columns": {
        "income": {"type": "number", "lower": 1000.5, "upper": 200_000},
        "age": {"type": "whole", "lower": 18, "upper": 90, "release": "as_is"},
        "region": {"type": "category", "categories": ["North", "South"], "release": "as_is"},
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
    ("meta.yaml", "'': {S: {T: {}, U: {}}}", "holds 2"),
])  # fmt: skip
def test_other_metadata_are_refused_in_a_sentence(name, text, part, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=part):
        read_metadata(tmp_path / name)
