"""The schema of study files accepts the examples of the documents, and refuses what a study may not say."""

import json
import re

import pytest
import yaml
from formalsynth.custodian.study_files import study_text
from formalsynth.plan.docs import REPOSITORY
from formalsynth.plan.studies import read_study
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

PAGES = {"OWN_MECHANISM.md": 3, "OWN_STAN.md": 2, "OWN_STUDY.md": 1}
"""Documents with the number of study files that each shows."""


def schema(name):
    """A schema as it is written."""
    return json.loads((REPOSITORY / "workflow" / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


STUDY = Draft202012Validator(
    schema("study"), registry=Registry().with_resource("paper.schema.json", Resource.from_contents(schema("paper")))
)


def wrong(tree):
    """Messages about a study file."""
    return [f"{list(error.path)}: {error.message}" for error in STUDY.iter_errors(json.loads(json.dumps(tree)))]


def examples(page):
    """The study files that a document shows."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```yaml *(?:\S+ )?(\S*)\n(.*?)^```", text, re.S | re.M)
    return [yaml.safe_load(block) for file, block in blocks if file in ("", "study.yaml")]


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_documents_pass(page):
    found_examples = examples(page)
    assert len(found_examples) == PAGES[page]
    assert [wrong(tree) for tree in found_examples] == [[]] * len(found_examples)


def test_the_study_that_inspect_writes_passes_once_it_is_filled_in():
    text = study_text("income")
    assert "low: DECLARE" in text
    assert wrong(yaml.safe_load(text)) != []
    filled = text.replace("low: DECLARE", "low: 1000").replace("high: DECLARE", "high: 500000").replace("DECLARE", "lognormal")
    assert wrong(yaml.safe_load(filled)) == []


def halves(**change):
    """The study of OWN_MECHANISM.md, with changes at dotted paths."""
    tree = examples("OWN_MECHANISM.md")[0]
    for path, value in change.items():
        *sections, key = path.split("__")
        section = tree
        for name in sections:
            section = section[name]
        section[key] = value
    return tree


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "red"},
        {"synthesizers__Halved__colour": "#000000"},
        {"synthesizers__Weighted__parameters": {"share": 0.5}},
        {"synthesizers__Weighted__parents": 1},
        {"synthesizers__Halved": {"parents": ["Unweighted"]}},
        {"scenarios__groups__replicate": 3},
        {"scenarios__groups__population": {"name": "poisson", "ratio": 5}},
        {"scenarios__groups__population": {"ratio": 5}},
        {"scenarios__groups__audit": {"outcomes": 3}},
        {"figures__2": {"kind": "frontier", "scenario": "groups", "synthesizers": ["Weighted"]}},
        {"code": "my_mechanisms.py"},
    ],
)
def test_what_a_study_may_not_say_is_refused(change):
    assert wrong(halves()) == []
    assert wrong(halves(**change)) != []


@pytest.mark.parametrize(
    "change",
    [
        {"$schema": "../workflow/schemas/study.schema.json"},
        {"figures__2": {"kind": "mine", "scenario": "groups", "height": 3}},
        {"scenarios__groups__family": {"stan": "mine.stan"}},
        {"scenarios__groups__family": "mine"},
    ],
)
def test_own_code_and_the_line_of_the_schema_are_accepted(change):
    assert wrong(halves(**change)) == []


def test_over_a_paper_any_part_of_a_section_may_be_said_or_taken_away():
    changes = {"synthesizers": {"Weighted": {"parameters": {"c": 0.5}}, "CW": None}, "figures": {"1": None}, "tables": None}
    assert wrong({"extends": "range", **changes}) == []
    assert wrong(changes) != []
    assert wrong({"extends": "range", "figure": {}}) != []


def test_sections_of_a_paper_are_not_repeated():
    assert len(json.dumps(schema("study"), indent=2).splitlines()) < 1500
    assert len(json.dumps(schema("paper"), indent=2).splitlines()) > 10_000


def test_a_study_file_may_name_its_schema(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("", encoding="utf-8")
    study = read_study(file, {"$schema": "study.schema.json", "title": "Mine"})
    assert study.tree == {"title": "Mine"}
