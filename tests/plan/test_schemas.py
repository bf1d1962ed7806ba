"""The generated schemas and tables have what the models check, and every name that config may use."""

import functools
import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel
from referencing import Registry, Resource

from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.parameters import Parameters
from formalsynth.core.population import POPULATIONS
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.ledger.tests.base import TESTS
from formalsynth_workflow.plan.model import Choice
from formalsynth_workflow.plan.schemas import REPOSITORY, SCHEMAS, models_of, rendered, schema_of
from formalsynth_workflow.show.figure import FIGURES
from formalsynth_workflow.show.table import TABLES
from formalsynth_workflow.study import STUDIES

CONFIG = REPOSITORY / "config"
CONFIGS = [("config", CONFIG / "config.yaml"), ("errata", CONFIG / "errata.yaml")]
CONFIGS += [(folder.removesuffix("s") if folder == "papers" else folder, path)
            for folder in ("papers", "claims") for path in sorted((CONFIG / folder).glob("*.yaml"))]  # fmt: skip
PAGES = {
    "tutorials/own_mechanism.md": 1, "howto/own_statistic.md": 1, "howto/change_setting.md": 1, "howto/own_model.md": 2,
}  # fmt: skip
"""Documents with the number of study files that each shows."""


@functools.cache
def files():
    """Contents of the generated files, by name."""
    return {str(path.relative_to(REPOSITORY)): text for path, text in rendered(REPOSITORY).items()}


@functools.cache
def validator(name):
    """Validator of one kind of file, which finds the schema of papers next to its own."""
    schema, paper = (json.loads(files()[f"workflow/schemas/{kind}.schema.json"]) for kind in (name, "paper"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, registry=Registry().with_resource("paper.schema.json", Resource.from_contents(paper)))


def wrong(name, tree):
    """Messages about a tree, whose keys are text in JSON."""
    return [f"{list(error.path)}: {error.message}" for error in validator(name).iter_errors(json.loads(json.dumps(tree)))]


def test_the_description_of_resources_is_up_to_date():
    file = "resources/datapackage.json"
    assert (REPOSITORY / file).read_text(encoding="utf-8") == files()[file], "run python -m formalsynth_workflow.plan.schemas"


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_key_is_described_and_no_section_takes_others(name):
    for model in models_of(SCHEMAS[name]):
        schema = schema_of(model)
        assert schema["additionalProperties"] is False
        described = {
            key
            for kind in model.__mro__
            if issubclass(kind, BaseModel)
            for key, field in kind.model_fields.items()
            if (field.description or "").endswith(".")
        }
        if not issubclass(model, Parameters | Choice):  # whose names are in tables of their own
            assert set(model.model_fields) - described <= {"kind", "name"}, model


def test_keys_are_complete():
    text = files()["config/KEYS.md"]
    for model in (model for schema in SCHEMAS.values() for model in models_of(schema)):
        if not issubclass(model, Parameters | Choice):
            assert [key for key in model.model_fields if f"\n| `{key}` | " not in text] == [], model
    for kind in (FIGURES, TABLES, TESTS, MECHANISMS, STUDIES, POPULATIONS, FAMILIES, FILES):
        assert [name for name in kind if f"`{name}`" not in text] == []
    for study in STUDIES.values():
        assert [arm for arm in study.arms if f"\n| `{study.name}` | `{arm}` | " not in text] == []


def test_every_row_of_every_table_has_whole_cells():
    width = 0
    for line in files()["config/KEYS.md"].splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1] if line.startswith("|") else []
        width = width or len(cells) if cells else 0
        assert len(cells) == width, line
        assert not any(cell.count("`") % 2 for cell in cells), line


@pytest.mark.parametrize(("name", "path"), CONFIGS, ids=lambda value: value.stem if isinstance(value, Path) else "")
def test_our_configs_pass_and_name_their_schema(name, path):
    assert wrong(name, load_yaml(path)) == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    target = (path.parent / first.partition("$schema=")[2]).resolve()
    assert str(target.relative_to(REPOSITORY)) in files()


@pytest.mark.parametrize("change", [
    {"batchsize": 5}, {"batch_size": 0}, {"root_seed": "x"}, {"sampler": {"drawz": 5}}, {"scales": {"smoke": {"replicates": -1}}},
])  # fmt: skip
def test_the_schema_refuses_what_the_models_refuse(change):
    values = load_yaml(CONFIG / "config.yaml") | change
    with pytest.raises(ValueError, match="validation error"):
        SCHEMAS["config"].model_validate(values)
    assert wrong("config", values)


@pytest.mark.parametrize("page", PAGES)
def test_the_studies_of_documents_pass(page):
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml *(?:\S+ )?(\S*)\n(.*?)^```", text, re.S | re.M)
    studies = [yaml.safe_load(block) for file, block in blocks if file in ("", "study.yaml")]
    assert len(studies) == PAGES[page]
    assert [wrong("study", tree) for tree in studies] == [[]] * len(studies)


def test_the_study_of_the_examples_passes():
    assert wrong("study", load_yaml(REPOSITORY / "examples" / "insurance" / "insurance.yaml")) == []


@pytest.mark.parametrize("change", [{"colour": "red"}, {"code": "mine.py"}, {"figures": 3}, {"sweeps": {"a": 1}}])
def test_a_study_with_other_keys_is_refused(change):
    study = {"$schema": "study.schema.json", "extends": "range", "synthesizers": {"CW": None}, "tables": None}
    assert wrong("study", study) == []
    assert wrong("study", study | change)
