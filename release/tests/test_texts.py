"""The texts of a release: each sentence follows from facts, and no two of them contradict each other."""

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from small_release import COLUMNS, a_config, a_schema

from conftest import REPOSITORY
from formalsynth.settings.yaml_file import parsed
from formalsynth_release.crossing import Crossing, Earlier, declarations_of
from formalsynth_release.intervals import Analysed
from formalsynth_release.model import pair_errors
from formalsynth_release.public import software
from formalsynth_release.records import made_up
from formalsynth_release.schema import Answers
from formalsynth_release.tables import measured
from formalsynth_release.texts import ReleaseFacts, texts_of

REGISTRY = REPOSITORY.parent / "shared" / "schemas" / "deployments-registry.yaml"
EARLIER = Earlier(entries=2, epsilon=3.0)
RESULTS = {
    "mean of income": Analysed(23_000.0, 100.0, 400.0, 2.093, (1000.0, 500_000.0)),
    "0.9 quantile of income": Analysed(40_000.0, 0.0, 1.0, 2.093, reason="it is inside a bin"),
}
COVERED = "the columns income, age, region, sector"


def facts_of(neighbours="replace", pairs=(("age", "income"),), config=None, schema=None, compared=True, earlier=None):
    """A release of the example as its texts see it."""
    declared = a_schema(**{"neighbours": neighbours, "pairs": pairs} | (schema or {}))
    public = declarations_of("my_incomes", declared.public, a_config(**{"rows": 2500} | (config or {})))
    tables = measured(declared.public, made_up(declared, np.random.default_rng(1)), 1.0)
    crossing = Crossing(
        statement="made up", date="2026-11-22", software=software(), declarations="0" * 64, seed="0" * 64, rows=2500,
        compared=compared, earlier=earlier or Earlier(), tables=tables,
    )  # fmt: skip
    return ReleaseFacts(crossing, public, RESULTS)


RELEASES = {
    f"{neighbours}, {pairs}": facts_of(neighbours, pairs)
    for neighbours, pairs in itertools.product(("replace", "add_remove"), ((), (("age", "income"),)))
}
"""Every kind of release."""


def rendered(name, facts):
    """One text of a release."""
    return written(facts)[name]


WRITTEN = {}
"""Each release with its texts, by its id."""


def written(facts):
    """All texts of a release, which are written once."""
    if id(facts) not in WRITTEN:
        WRITTEN[id(facts)] = facts, texts_of(facts)
    return WRITTEN[id(facts)][1]


@pytest.fixture(params=RELEASES)
def facts(request):
    return RELEASES[request.param]


def test_the_card_is_a_record_of_the_registry(facts):
    if not REGISTRY.is_file():
        pytest.skip("the schema of the registry of deployments is not here")
    schema = parsed(REGISTRY.read_text(encoding="utf-8"))
    checker = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker(["date"]))
    assert [error.message for error in checker.iter_errors(parsed(rendered("deployment.yaml", facts)))] == []
    # the schema does look: the same without its date is refused
    tree = parsed(rendered("deployment.yaml", facts))
    tree["deployment"]["basic"]["publication_date"] = "yesterday"
    assert len(list(checker.iter_errors(tree))) == 1


def test_the_card_states_what_was_declared(facts):
    tree = parsed(rendered("deployment.yaml", facts))
    assert {key: tree[key] for key in ("url_slug", "status", "tier")} == {"url_slug": "my-incomes", "status": "Draft", "tier": 3}
    deployment = tree["deployment"]
    assert deployment["basic"]["data_curators"] == ["Office of Examples"]
    assert deployment["basic"]["data_product_type"] == "Synthetic data"
    assert deployment["dp_variant"]["variant_name"] == "Pure DP"


def test_a_sector_that_the_registry_does_not_know_is_left_out():
    tree = parsed(rendered("deployment.yaml", facts_of(config={"sector": None})))
    assert "data_product_sector" not in tree["deployment"]["basic"]
    with pytest.raises(ValueError, match="'Government'"):
        facts_of(config={"sector": "Statistics"})


def test_the_data_package_is_of_version_2(facts):
    package = json.loads(rendered("datapackage.json", facts))
    assert package["$schema"] == "https://datapackage.org/profiles/2.0/datapackage.json"
    assert set(package) == {"$schema", "name", "title", "description", "created", "licenses", "contributors", "resources"}
    assert package["created"] == "2026-11-22T00:00:00Z"
    assert package["contributors"] == [{"title": "Office of Examples", "roles": ["publisher"]}]
    assert package["licenses"] == [{"name": "CC-BY-4.0", "title": "CC-BY-4.0"}]
    for resource in package["resources"]:
        assert resource["type"] == "table"
        assert not {"profile", "$schema"} & set(resource)
        assert [field["name"] for field in resource["schema"]["fields"]] == list(facts.schema.released)


def test_the_name_of_a_licence_is_one_for_programs():
    (licence,) = json.loads(rendered("datapackage.json", facts_of(config={"licence": "Open licence, version 2 (données)"})))[
        "licenses"
    ]
    assert licence["title"] == "Open licence, version 2 (données)"
    assert re.fullmatch(r"[-a-zA-Z0-9._]+", licence["name"])


def words_of(facts):
    """Every text of a release, by the name of its file, on one line."""
    readers = {".yaml": parsed, ".json": json.loads}
    return {name: " ".join(str(readers.get(Path(name).suffix, str)(value)).split()) for name, value in written(facts).items()}


CONTRADICTIONS = [
    (r"one record replaced", r"one record added or removed|with one person added"),
    (r"whether one person is in the file is right", r"one of two values of"),
    (r"begins with this release", r"earlier entr(?!y\.)"),
    (r"may depend on the file", r"the ledger contains no comparison of candidates on the file"),
    (r"No relation between columns is kept", r"For each pair of columns|For the pair"),
]
"""Sentences that may not be in the texts of one release together."""


def test_no_two_sentences_contradict_each_other(facts):
    together = " ".join(words_of(facts).values())
    for first, second in CONTRADICTIONS:
        assert not (re.search(first, together) and re.search(second, together)), (first, second)


def test_every_contradiction_could_be_seen():
    """Each sentence that is looked for is in some release."""
    every = [*RELEASES.values(), facts_of(earlier=EARLIER), facts_of(compared=False)]
    everything = " ".join(" ".join(words_of(facts).values()) for facts in every)
    assert {pattern for pair in CONTRADICTIONS for pattern in pair if not re.search(pattern, everything)} == set()


def test_the_guarantee_names_the_columns_that_it_covers(facts):
    texts = words_of(facts)
    for name in ("README.md", "LEGAL.md", "NIST-SP-800-226.md", "deployment.yaml", "metadata.json", "datapackage.json"):
        assert f"Epsilon at most 1 for {COVERED}, for all files of this folder together." in texts[name]


@pytest.mark.parametrize(("pairs", "sentence"), [
    ((), "No relation between columns is kept: no pair is declared."),
    ((("age", "income"),), "For the pair of columns"),
])  # fmt: skip
def test_the_first_lines_state_which_relations_are_lost(pairs, sentence):
    facts = facts_of(pairs=pairs)
    assert words_of(facts)["README.md"].startswith(f"# Incomes {sentence}")
    assert json.loads(rendered("metadata.json", facts))["dc:description"].startswith(sentence)
    assert json.loads(rendered("datapackage.json", facts))["description"].startswith(sentence)
    assert parsed(rendered("deployment.yaml", facts))["deployment"]["basic"]["description"].startswith(sentence)
    assert sentence in words_of(facts)["LEGAL.md"]


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize(("missing", "zeros", "cause"), [
    ("drop_rows", "refuse", "a missing value in a released column"),
    ("refuse", "drop_rows", "an outcome of 0"),
    ("drop_rows", "drop_rows", "a missing value in a released column or an outcome of 0"),
])  # fmt: skip
def test_whether_a_row_was_left_out_is_protected(neighbours, missing, zeros, cause):
    text = rendered("LEGAL.md", facts_of(neighbours, schema={"missing": missing, "zeros": zeros}))
    published = "The number of rows of the file, 3000, is published and not protected." in text
    assert published == (neighbours == "replace")
    assert f"Rows with {cause} were left out. The guarantee also covers whether a row was left out, and how many were." in text


def test_pairs_are_those_of_two_columns_whatever_their_names_are():
    numbers = {"type": "whole", "lower": 0, "upper": 9, "bins": 10, "release": "synthesized"}
    columns = {"hours": {"type": "whole", "lower": 0, "upper": 9, "bins": 10, "own_zero": True}, "share by age": numbers}
    pairs = [["hours kind", "share by age"], ["hours", "share by age"]]
    settings = {"outcome": "hours", "missing": "refuse", "zeros": "keep", "rows": 50}
    schema = a_schema(columns=columns, pairs=pairs, **settings).public  # fmt: skip
    rows = pd.DataFrame({"hours": [0, 5] * 25, "share by age": list(range(10)) * 5})
    errors = pair_errors(schema, measured(schema, rows, 2.0))
    assert list(errors) == ["hours kind and share by age", "hours and share by age"]
    assert all(error > 0 for error in errors.values())


def test_what_was_refused_is_known():
    text = rendered("LEGAL.md", facts_of(schema={"missing": "refuse", "zeros": "refuse", "outside_bounds": "refuse"}))
    everything = "no missing value in these columns and no outcome of 0 and no number outside the declared bounds"
    assert f"The release shows that the file has {everything}: otherwise" in text
    assert "It also shows that the file can be read" in text
    assert "left out" not in text
    text = rendered("LEGAL.md", facts_of(schema={"missing": "drop_rows", "zeros": "keep", "outside_bounds": "clip"}))
    assert "The release shows that the file has" not in text
    assert "The release shows that the file can be read" in text


def test_conditions_of_a_release_that_depend_on_the_file_are_named(facts):
    text = " ".join(rendered("LEGAL.md", facts).split())
    most = ", at most 5,000,000 rows" if facts.schema.neighbours == "add_remove" else ""
    shown = f"shows that the file can be read, has the declared columns, types and categories{most}"
    more = "no repeated value in a column named person, if there is one; and that enough of the budget was left."
    assert f"{shown}, and {more}" in text
    member = "Whether a person is in the file is not protected either: only its values are." in text
    assert member == (facts.schema.neighbours == "replace")


def test_the_texts_name_earlier_releases_and_comparisons():
    plain = words_of(facts_of(compared=False))
    assert "The ledger of this study begins with this release, which may claim epsilon 1 of a budget of 3" in plain["LEGAL.md"]
    assert "no earlier release" not in plain["LEGAL.md"]
    assert "Releases of the same rows by other studies count against the same budget" in plain["LEGAL.md"]
    assert "It cannot be checked that they do not depend on the file; the ledger contains no comparison" in plain["LEGAL.md"]
    assert "One release" in plain["deployment.yaml"]
    later = words_of(facts_of(compared=True, earlier=EARLIER))
    assert "The ledger of this study has 2 earlier entries" in later["LEGAL.md"]
    assert "Together they may claim epsilon 3, and with this release 4, of a budget of 3." in later["LEGAL.md"]
    assert "is not one guarantee" not in later["LEGAL.md"]
    assert "may depend on the file. No epsilon covers that." in later["LEGAL.md"]
    assert "Many releases" in later["deployment.yaml"]
    other = words_of(facts_of(earlier=EARLIER.model_copy(update={"mixed": True})))
    assert "so the sum is not one guarantee" in other["LEGAL.md"]


def test_one_row_for_each_is_declared_and_not_checked(facts):
    declared = "The publisher declared that each person is in one row only, and is responsible for this: it cannot be checked"
    assert declared in words_of(facts)["LEGAL.md"]


def test_the_readme_states_which_values_the_file_had_and_the_release_has_not():
    words = [
        "Rows with a missing value in a released column or an outcome of 0 were left out.",
        "outside the declared bounds were set to the nearest bound",
    ]
    changed = rendered("README.md", facts_of(schema={"missing": "drop_rows", "zeros": "drop_rows", "outside_bounds": "clip"}))
    refused = rendered("README.md", facts_of(schema={"missing": "refuse", "zeros": "keep", "outside_bounds": "refuse"}))
    assert [part in changed for part in words] == [True, True]
    assert [part in refused for part in words] == [False, False]


@pytest.mark.parametrize(("name", "cell"), [("pay|bonus", r"pay\|bonus"), ("a\\|b", r"a\\\|b"), ("age", "age")])
def test_a_column_name_stays_in_its_cell_of_the_table(name, cell):
    schema = {"outcome": name, "columns": {name: COLUMNS["income"], "age group": COLUMNS["age"]}}
    readme = rendered("README.md", facts_of(pairs=(), schema=schema)).splitlines()
    start = readme.index("| --- | --- | --- |")
    assert readme[start + 1 : start + 3] == [
        f"| {cell} | whole | synthetic (tables) |",
        "| age group | whole | synthetic (tables) |",
    ]


def test_the_claim_in_the_card_is_that_of_all_tables(facts):
    card = parsed(rendered("deployment.yaml", facts))["deployment"]
    assert " ".join(card["accounting"]["composition"].split()).endswith("Together they claim epsilon 1.")
    assert card["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}


def answers(facts):
    """Answers of the page for NIST SP 800-226, by question."""
    rows = [line.strip("| ").split(" | ") for line in rendered("NIST-SP-800-226.md", facts).splitlines() if line.startswith("| ")]
    return {question: answer for question, answer in rows if question not in ("question", "---")}


def test_every_question_of_the_nist_publication_has_an_answer(facts):
    given = answers(facts)
    assert len(given) == 26
    for question, answer in given.items():
        assert question.endswith("?")
        assert re.search(r"\w\w.*[.!]$", answer), question
        assert "{" not in answer


def test_the_answers_about_the_guarantee_are_those_of_the_release(facts):
    given = answers(facts)
    assert "Delta is 0." in given["Which kind of guarantee is it, with which delta?"]
    assert "k times 1" in given["Which epsilon protects several rows together?"]
    assert ("(unbounded)" in given["Which files are neighbours?"]) == (facts.schema.neighbours == "add_remove")
    assert ("in the file" in given["What is protected (the unit of privacy)?"]) == (facts.schema.neighbours == "add_remove")
    assert "noise is a whole number" in given["Where does randomness come from, and is floating point safe?"]
    assert "docs/proofs/tables.md" in given["Which mechanism is it, and where is its proof?"]


def test_the_publisher_answers_what_only_they_can():
    facts, said = facts_of(), {"epsilon": "The board decided it | on 3 March."}
    answered = facts.declarations.release.model_copy(update={"answers": Answers(**said)})
    facts = replace(facts, declarations=facts.declarations.model_copy(update={"release": answered}))
    assert answers(facts_of())["Why is epsilon 1 acceptable, and who decided it?"] == "Not answered."
    assert r"| The board decided it \| on 3 March. |" in rendered("NIST-SP-800-226.md", facts)


def test_columns_are_described_as_declared():
    facts = facts_of()
    columns = dict(facts.schema.columns)
    columns["age"] = columns["age"].model_copy(update={"description": "Age in years"})
    schema = facts.schema.model_copy(update={"columns": columns})
    described = replace(facts, declarations=facts.declarations.model_copy(update={"schema_": schema}))
    assert "| age | Age in years | whole | synthetic (tables) |" in rendered("README.md", described)
    assert "| age | whole | synthetic (tables) |" in rendered("README.md", facts)
    fields = json.loads(rendered("datapackage.json", described))["resources"][0]["schema"]["fields"]
    assert {field["name"]: field.get("description") for field in fields}["age"] == "Age in years"
    listed = json.loads(rendered("metadata.json", described))["tables"][0]["tableSchema"]["columns"]
    assert {column["name"]: column.get("dc:description") for column in listed}["age"] == "Age in years"
