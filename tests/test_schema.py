"""The generated schemas and tables say what the models check."""

import json
from pathlib import Path

import pytest
import yaml
from formalsynth.schema import REPOSITORY, SCHEMAS, main, rendered, schema_of, sections, tables
from jsonschema import Draft202012Validator

CONFIGS = [("config", REPOSITORY / "config" / "config.yaml")]
CONFIGS += [("paper", path) for path in sorted((REPOSITORY / "config" / "papers").glob("*.yaml"))]


def as_json(value):
    """What a JSON schema sees of a YAML file: keys are text."""
    if isinstance(value, dict):
        return {str(key): as_json(one) for key, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("path", rendered(REPOSITORY), ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path):
    assert path.read_text(encoding="utf-8") == rendered(REPOSITORY)[path], "run python -m formalsynth.schema"


def test_check_says_what_is_out_of_date_and_a_run_mends_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("formalsynth.schema.REPOSITORY", tmp_path)
    (tmp_path / "config").mkdir()
    marks = [
        f"<!-- begin: {name} -->\n<!-- end: {name} -->"
        for name in ("tables of config", "tables of paper", "tables of claims", "names")
    ]
    (tmp_path / "config" / "README.md").write_text("mine\n" + "\n".join(marks))
    monkeypatch.setattr("sys.argv", ["schema", "--check"])
    assert main() == 1
    assert "workflow/schemas/config.schema.json is out of date" in capsys.readouterr().err
    assert not (tmp_path / "workflow").exists()
    monkeypatch.setattr("sys.argv", ["schema"])
    assert main() == 0
    monkeypatch.setattr("sys.argv", ["schema", "--check"])
    assert main() == 0
    assert (tmp_path / "config" / "README.md").read_text().startswith("mine\n")


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described(name):
    schema = schema_of(SCHEMAS[name])
    Draft202012Validator.check_schema(schema)
    found = list(sections(schema))
    assert len(found) > 1
    for path, section in found:
        assert section["additionalProperties"] is False, path
        for key, one in section["properties"].items():
            assert one["description"].endswith("."), f"{path}.{key}"


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_stand_alone(name):
    assert "$ref" not in json.dumps(schema_of(SCHEMAS[name]))


@pytest.mark.parametrize("name", SCHEMAS)
def test_tables_show_every_key_of_every_section(name):
    schema = schema_of(SCHEMAS[name])
    for (_, section), table in zip(sections(schema), tables(schema), strict=True):
        rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
        assert rows == list(section["properties"])


@pytest.mark.parametrize(("name", "path"), CONFIGS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_our_configs_pass(name, path):
    validator = Draft202012Validator(schema_of(SCHEMAS[name]))
    assert [error.message for error in validator.iter_errors(as_json(yaml.safe_load(path.read_text())))] == []


@pytest.mark.parametrize(("name", "path"), CONFIGS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_configs_name_their_schema(name, path):
    first = path.read_text().splitlines()[0]
    target = (path.parent / first.partition("$schema=")[2]).resolve()
    assert target == REPOSITORY / "workflow" / "schemas" / f"{name}.schema.json"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"batchsize": 5}, "batchsize"),
        ({"batch_size": 0}, "0"),
        ({"root_seed": "x"}, "x"),
        ({"sampler": {"drawz": 5}}, "drawz"),
        ({"scales": {"smoke": {"replicates": -1}}}, "-1"),
        ({"scales": {"not a name": {}}}, "not a name"),
    ],
)
def test_the_schema_refuses_what_the_models_refuse(change, wrong):
    values = yaml.safe_load((REPOSITORY / "config" / "config.yaml").read_text()) | change
    with pytest.raises(ValueError, match=wrong):
        SCHEMAS["config"].model_validate(values)
    assert list(Draft202012Validator(schema_of(SCHEMAS["config"])).iter_errors(values))
