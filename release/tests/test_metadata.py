"""Types of columns from metadata of other programs: bounds and categories, which these detected in the data, stay open."""

import json

import pytest

from formalsynth.core.text import DataError
from formalsynth_release.metadata import read_types

SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {"people": {"primary_key": "id", "columns": {
        "id": {"sdtype": "id"}, "age": {"sdtype": "numerical", "computer_representation": "Int64"},
        "income": {"sdtype": "numerical"}, "sex": {"sdtype": "categorical"}, "works": {"sdtype": "boolean"},
        "born": {"sdtype": "datetime", "datetime_format": "%Y"}, "city": {"sdtype": "city", "pii": True},
    }}},
}  # fmt: skip
CODEBOOK = """variable,class,nmiss,ndistinct,details
age,integer,0,63,"Range: 18 - 80"
income,numeric,40,2900,"Range: 1000 - 73519"
sex,factor,0,2,"'female' 'male'"
born,Date,0,365,"Range: 1990-01-01 - 2000-01-01"
"""


def test_types_are_read_without_what_was_detected_in_the_data(tmp_path):
    (tmp_path / "sdv.json").write_text(json.dumps(SDV))
    (tmp_path / "codebook.csv").write_text(CODEBOOK)
    assert read_types(tmp_path / "sdv.json") == {
        "id": "suppressed", "age": "whole", "income": "number", "sex": "category", "works": "category", "born": "date",
        "city": "suppressed",
    }  # fmt: skip
    assert read_types(tmp_path / "codebook.csv") == {"age": "whole", "income": "number", "sex": "category", "born": "date"}


@pytest.mark.parametrize(("name", "text"), [
    ("a.json", "{}"), ("a.json", "[73519]"), ("a.json", "{73519"), ("a.json", json.dumps({"tables": {"a": {}, "b": {}}})),
    ("a.csv", "income,age\n73519,30\n"), ("a.csv", "variable,class\nincome,73519\n"), ("none.json", None),
])  # fmt: skip
def test_other_files_are_refused_without_their_values(tmp_path, name, text):
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match="cannot be read as metadata of SDV") as error:
        read_types(tmp_path / name)
    assert "73519" not in str(error.value)
