"""The generated schemas and tables say what the models check, and every name that config may use."""

import functools
import json
import re
from pathlib import Path

import pytest
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.study import STUDIES
from formalsynth.displays.figure import FIGURES, Repeat
from formalsynth.displays.table import TABLES
from formalsynth.ledger.tests.base import TESTS
from formalsynth.plan.docs import REPOSITORY, SCHEMAS, main, rendered, schema_of, sections, tables, unrepeated
from formalsynth.plan.model import ArmEntry, FileScenario, SimulatedScenario, StudyScenario, SynthesizerEntry, find_all
from formalsynth.plan.yaml_file import load_yaml
from jsonschema import Draft202012Validator

find_all()

CONFIGS = [("config", REPOSITORY / "config" / "config.yaml")]
CONFIGS += [("paper", path) for path in sorted((REPOSITORY / "config" / "papers").glob("*.yaml"))]
CONFIGS += [("claims", path) for path in sorted((REPOSITORY / "config" / "claims").glob("*.yaml"))]

CONFIGS += [("errata", REPOSITORY / "config" / "errata.yaml")]


@functools.cache
def schema(name):
    """One of the schemas."""
    return schema_of(SCHEMAS[name])


@functools.cache
def files():
    """Contents of the generated files."""
    return rendered(REPOSITORY)


def as_json(value):
    """Values of a YAML file as JSON, in which keys are text."""
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    return [as_json(inner) for inner in value] if isinstance(value, list) else value


def test_generated_files_are_up_to_date():
    assert len(files()) > len(SCHEMAS)
    stale = [path.name for path, text in files().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m formalsynth.plan.docs"


def test_check_names_files_that_are_out_of_date_and_a_run_writes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("formalsynth.plan.docs.REPOSITORY", tmp_path)
    (tmp_path / "config").mkdir()
    marks = [
        f"<!-- begin: {name} -->\n<!-- end: {name} -->"
        for name in (
            "tables of config",
            "tables of paper",
            "tables of claims",
            "tables of errata",
            "tables of study",
            "names",
            "contents",
        )
    ]
    (tmp_path / "config" / "README.md").write_text("mine\n" + "\n".join(marks))
    monkeypatch.setattr("sys.argv", ["docs", "--check"])
    assert main() == 1
    assert "workflow/schemas/config.schema.json is out of date" in capsys.readouterr().err
    assert not (tmp_path / "workflow").exists()
    monkeypatch.setattr("sys.argv", ["docs"])
    assert main() == 0
    monkeypatch.setattr("sys.argv", ["docs", "--check"])
    assert main() == 0
    assert (tmp_path / "config" / "README.md").read_text().startswith("mine\n")


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described(name):
    Draft202012Validator.check_schema(schema(name))
    described = list(sections(schema(name)))
    assert len(described) > 1
    for path, section in described:
        for key, inner in section["properties"].items():
            assert inner["description"].endswith("."), f"{path}.{key}"


def objects(tree):
    """Every part of a schema that is of keys and values."""
    if isinstance(tree, dict):
        if isinstance(tree.get("properties"), dict) and "type" in tree:
            yield tree
        for inner in tree.values():
            yield from objects(inner)
    elif isinstance(tree, list):
        for inner in tree:
            yield from objects(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_section_takes_other_keys(name):
    described = list(objects(schema(name)))
    assert described
    assert all(section["additionalProperties"] is False for section in described)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_stand_alone(name):
    assert "$ref" not in json.dumps(schema(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_tables_show_every_key_of_every_section(name):
    for (_, section), table in zip(sections(schema(name)), tables(schema(name)), strict=True):
        rows = [line.split("`")[1] for line in table.splitlines() if line.startswith("| `")]
        assert rows == list(section["properties"])


def test_the_readme_has_every_key_of_every_variant_and_every_name():
    text = files()[REPOSITORY / "config" / "README.md"]
    variants = [*FIGURES.values(), *TABLES.values(), *TESTS.values(), Repeat, SynthesizerEntry, ArmEntry]
    for model in [*variants, SimulatedScenario, FileScenario, StudyScenario]:
        assert [key for key in model.model_fields if f"\n| `{key}` | " not in text] == [], model
    for kind in (FIGURES, TABLES, TESTS):
        assert [name for name in kind if f"`{name}`" not in text] == []
    for register in (MECHANISMS, STUDIES, POPULATIONS, FAMILIES, FILES):
        assert [name for name in register if f"\n| `{name}` | " not in text] == []
    for study in STUDIES.values():
        assert [arm for arm in study.arms if f"\n| `{study.name}` | `{arm}` | " not in text] == []


def test_every_section_of_the_readme_has_its_link_and_no_table_is_there_twice():
    text = (REPOSITORY / "config" / "README.md").read_text(encoding="utf-8")
    listed = text.split("<!-- begin: contents -->")[1].split("<!-- end: contents -->")[0]
    headings = re.findall(r"^### (`.+)$", text, re.M)
    assert len(headings) > 40
    assert len(set(headings)) == len(headings)  # equal ones would have other anchors
    assert re.findall(r"[:,] \[(`[^\]]+)\]", listed) == headings
    expected = ["### `a`\n\nOne.\n\nSame.", "### `b`\n\nTwo.\n\nThe keys of [`a`](#a)."]
    assert unrepeated(["### `a`\n\nOne.\n\nSame.", "### `b`\n\nTwo.\n\nSame."]) == expected
    parts = [part for part in re.split(r"^### .+$", text, flags=re.M) if "The keys of" not in part]
    tables_ = [table for part in parts for table in re.findall(r"(?:^\|.*\n)+", part, re.M)]
    assert len(set(tables_)) == len(tables_)


def broken_rows(text):
    """Rows of Markdown tables whose cells are not those of their head, or in which code does not end."""
    broken, width = [], 0
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") else []
        width = width or len(cells) if cells else 0
        if len(cells) != width or any(cell.count("`") % 2 for cell in cells):
            broken.append(line)
    return broken


def test_every_row_of_every_table_has_whole_cells():
    text = files()[REPOSITORY / "config" / "README.md"]
    assert len(broken_rows(text.replace(" | ", " | ` "))) > 100  # the test finds broken cells
    assert broken_rows(text) == []


def test_cells_hold_empty_values_pipes_and_more_than_one_line():
    key = {"description": "One | two\nlines.", "enum": ["", "a|b"], "default": "a|b"}
    (table,) = tables({"description": "A section.", "properties": {"key": key}, "additionalProperties": False})
    assert table.splitlines()[-1] == r'| `key` | One \| two lines. | `""` or `a\|b` | `"a\|b"` |'


@pytest.mark.parametrize(("name", "path"), CONFIGS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_our_configs_pass(name, path):
    validator = Draft202012Validator(schema(name))
    assert [error.message for error in validator.iter_errors(as_json(load_yaml(path)))] == []


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
    values = load_yaml(REPOSITORY / "config" / "config.yaml") | change
    with pytest.raises(ValueError, match=wrong):
        SCHEMAS["config"].model_validate(values)
    assert list(Draft202012Validator(schema("config")).iter_errors(values))
