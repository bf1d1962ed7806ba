"""The dictionary and the descriptor of a release: valid in their standards, and true of every value of every data set."""

import csv
import json
import re

import households
import jsonschema
import numpy as np
import pytest
from small_release import made_tables, typed

from formalsynth_release import joint
from formalsynth_release.schema import Schema

NAME = {"type": "string", "pattern": r"^[-a-z0-9._/]+$"}
TEXT = {"type": "string", "minLength": 1}
LIMITS = {"required": {"type": "boolean"}}
NUMBERS = {**LIMITS, "minimum": {"type": "number"}, "maximum": {"type": "number"}}


def of_kind(kind, limits):
    """A field of one type, with the limits that the standard has for it."""
    constraints = {"type": "object", "properties": limits, "additionalProperties": False}
    return {"properties": {"name": TEXT, "type": {"const": kind}, "constraints": constraints}, "required": ["name", "type"]}


# what version 2.0 of the standard asks of the keys that a release uses
PACKAGE = {
    "type": "object",
    "required": ["$schema", "name", "resources"],
    "properties": {
        "$schema": {"const": "https://datapackage.org/profiles/2.0/datapackage.json"},
        "name": NAME,
        "created": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "licenses": {"type": "array", "minItems": 1, "items": {"anyOf": [{"required": ["name"]}, {"required": ["path"]}]}},
        "contributors": {"type": "array", "minItems": 1, "items": {"properties": {"title": TEXT, "roles": {"type": "array"}}}},
        "resources": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["name", "path", "schema"],
                "properties": {
                    "name": NAME,
                    "path": {"type": "string", "pattern": r"^(?!/)(?!.*\.\.).+$"},
                    "type": {"const": "table"},
                    "encoding": {"const": "utf-8"},
                    "schema": {
                        "required": ["fields"],
                        "properties": {
                            "fields": {
                                "type": "array",
                                "minItems": 1,
                                "items": {
                                    "oneOf": [
                                        of_kind("number", NUMBERS),
                                        of_kind("integer", NUMBERS),
                                        of_kind("string", {**LIMITS, "enum": {"type": "array", "uniqueItems": True}}),
                                    ]
                                },
                            }
                        },
                    },
                },
            },
        },
    },
}
# what the recommendation "Metadata Vocabulary for Tabular Data" asks of the keys that a release uses
DICTIONARY = {
    "type": "object",
    "required": ["@context", "tables"],
    "properties": {
        "@context": {"type": "array", "prefixItems": [{"const": "http://www.w3.org/ns/csvw"}, {"required": ["@language"]}]},
        "tables": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["url", "tableSchema"],
                "properties": {
                    "tableSchema": {
                        "properties": {
                            "columns": {
                                "type": "array",
                                "items": {
                                    "required": ["name", "datatype"],
                                    "additionalProperties": False,
                                    "properties": {
                                        "name": {"type": "string", "pattern": r"^(?!_)\S+$"},
                                        "titles": TEXT,
                                        "dc:description": TEXT,
                                        "required": {"type": "boolean"},
                                        "datatype": {"properties": {"base": {"enum": ["string", "integer", "double"]}}},
                                    },
                                },
                            }
                        }
                    }
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    columns = households.COLUMNS | {"size": households.COLUMNS["size"] | {"description": "Number of members"}}
    schema = Schema.model_validate(households.DECLARED | {"columns": columns, "rows": 500, "pairs": households.PAIRS[:3]})
    rows = typed(schema, households.households(500).replace("", np.nan))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint, "POOL", 1000)
        return made_tables(tmp_path_factory.mktemp("described") / "income", schema, rows, figure=False)


def tree(release, name):
    return json.loads((release / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("name", "standard"), [("datapackage.json", PACKAGE), ("metadata.json", DICTIONARY)])
def test_descriptions_are_valid_in_their_standards(release, name, standard):
    checker = jsonschema.Draft202012Validator(standard)
    assert [error.message for error in checker.iter_errors(tree(release, name))] == []
    assert [error.message for error in checker.iter_errors({})] != []


def rows(release, name):
    with open(release / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def allowed_by_dictionary(column, value):
    """True if the dictionary allows a value; an empty one is missing in CSVW."""
    kind = column["datatype"]
    if value == "":
        return not column["required"]
    if "format" in kind:
        return re.fullmatch(kind["format"], value) is not None
    if kind["base"] == "integer" and not re.fullmatch(r"-?\d+", value):
        return False
    return kind["minimum"] <= float(value) <= kind["maximum"]


def allowed_by_descriptor(field, value):
    """True if the descriptor allows a value; an empty one is missing in a Data Package."""
    limits = field["constraints"]
    if value == "":
        return not limits["required"]
    if "enum" in limits:
        return value in limits["enum"]
    if field["type"] == "integer" and not re.fullmatch(r"-?\d+", value):
        return False
    return limits["minimum"] <= float(value) <= limits["maximum"]


def test_every_value_is_what_the_dictionary_describes(release):
    for table in tree(release, "metadata.json")["tables"]:
        columns = table["tableSchema"]["columns"]
        data = rows(release, table["url"])
        assert list(data[0]) == [column["name"] for column in columns]
        for column in columns:
            values = {row[column["name"]] for row in data}
            assert [value for value in values if not allowed_by_dictionary(column, value)] == []
            assert not allowed_by_dictionary(column, "1e99")


def test_every_value_is_what_the_descriptor_describes(release):
    for resource in tree(release, "datapackage.json")["resources"]:
        fields = resource["schema"]["fields"]
        data = rows(release, resource["path"])
        assert list(data[0]) == [field["name"] for field in fields]
        for field in fields:
            values = {row[field["name"]] for row in data}
            assert [value for value in values if not allowed_by_descriptor(field, value)] == []
            assert not allowed_by_descriptor(field, "" if field["constraints"]["required"] else "30500.5")
