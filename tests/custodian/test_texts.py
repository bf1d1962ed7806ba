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
from conftest import REPOSITORY
from formalsynth.custodian.comparison import combined
from formalsynth.custodian.crossing import Crossing, Declarations, Earlier, ReleasedDraws, Unchanged, statement_of
from formalsynth.custodian.model import pair_errors
from formalsynth.custodian.public import software
from formalsynth.custodian.schema import Answers
from formalsynth.custodian.tables import measured
from formalsynth.custodian.texts import ReleaseFacts, texts_of
from formalsynth.inference.intervals import without_draws
from formalsynth.settings.yaml_file import parsed
from small_release import COLUMNS, a_config, a_schema

REGISTRY = REPOSITORY.parent / "shared" / "schemas" / "deployments-registry.yaml"


def columns(release):
    """The columns of the example with all predictors released in one way."""
    return {
        name: column | {"release": release} if name not in ("income", "person") else column for name, column in COLUMNS.items()
    }


KINDS = {
    "histogram": ("perturbed_histogram", "DP (replace-one)", True),
    "strict draws": ("censored_unweighted", "DP (add/remove)", False),
    "other draws": ("weighted", "asymptotic DP (local eps_x)", False),
    "fitted tables": ("noisy_tables", "DP (add/remove)", False),
    "exact family": ("noisy_tables", "DP (add/remove)", False),
}
"""Mechanism, guarantee, and whether all sets come from one noisy table."""
EARLIER = Earlier(entries=2, epsilon=3.0)
AUDITED = Unchanged(columns=("age", "region", "sector"), rows=2935, unique=52, sha256="0" * 64)
DRAWS = ReleasedDraws(
    name="draws", mechanism="weighted", epsilon=None, reason="drawn", parameters={"a": ((1.0,),) * 3}, shapes={"a": ()}
)
FITTED = DRAWS.model_copy(update={"mechanism": "noisy_tables", "epsilon": 0.0, "fit_p": 0.43})


def facts_of(
    kind="histogram", neighbours="replace", release="as_is", audit="passed", config=None, schema=None, compared=True,
    earlier=None, claim=None, uses_predictors=None,
):  # fmt: skip
    """A release of the example as its texts see it."""
    mechanism, guarantee, direct = KINDS[kind]
    declared = {"predictors_epsilon": 0.5} if release == "synthesized" else {}
    declared |= {"exact_family": True} if kind == "exact family" else {}
    declared |= {"rows": 2500} if neighbours == "add_remove" else {}
    schema = a_schema(**{"neighbours": neighbours, "columns": columns(release)} | (schema or {}))
    claim = None if kind == "other draws" else claim or 1 - declared.get("predictors_epsilon", 0)
    public = Declarations(
        name="my_incomes", schema=schema.public, release=a_config(**declared, **config or {}), mechanism=mechanism,
        guarantee=guarantee, parameters={"epsilon": claim} if direct else {}, claim=claim, family=None if direct else "gamma",
    )  # fmt: skip
    crossing = Crossing(
        statement="made up", date="2026-11-22", software=software(), declarations="0" * 64, seed="0" * 64, rows=2935, audit=audit,
        compared=compared, earlier=earlier or Earlier(), unchanged=AUDITED,
        draws=None if direct else FITTED if mechanism == "noisy_tables" else DRAWS,
    )  # fmt: skip
    return ReleaseFacts(crossing, public, not direct if uses_predictors is None else uses_predictors)


RELEASES = {
    ", ".join(facts): facts_of(*facts)
    for facts in itertools.product(
        KINDS, ("replace", "add_remove"), ("as_is", "synthesized", "suppressed"), ("passed", "none", "refuted")
    )
    if facts[1:3] != ("add_remove", "as_is")
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
    refuted = facts.crossing.audit == "refuted"
    assert deployment["privacy_loss"].get("privacy_parameters") == (None if refuted else {"epsilon": 1.0})
    exact = facts.declarations.mechanism in ("perturbed_histogram", "noisy_tables") and not refuted
    assert deployment["dp_variant"]["variant_name"] == ("Pure DP" if exact else "Custom")


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


def combine_of(facts):
    namespace = {}
    exec(rendered("combine.py", facts), namespace)
    return namespace["combine"]


@pytest.mark.parametrize("sets", [1, 2, 5])
def test_the_rule_of_a_release_is_that_of_the_internal_report(sets):
    generator = np.random.default_rng(sets)
    for scale in (0.1, 1, 5):
        estimates, variances = scale * generator.standard_normal(sets), generator.random(sets)
        estimate, variance, (low, high) = combine_of(facts_of("other draws"))(list(estimates), list(variances))
        mean, total = combined(estimates[:, None], variances[:, None])
        assert (estimate, variance) == pytest.approx((mean[0], total[0]))
        assert (low, high) == pytest.approx((estimate - 1.96 * variance**0.5, estimate + 1.96 * variance**0.5))


@pytest.mark.parametrize("sets", [2, 5])
def test_the_rule_of_a_release_from_a_fit_to_tables_is_that_of_studies(sets):
    generator = np.random.default_rng(sets)
    for scale in (0.1, 1, 5):
        estimates, variances = scale * generator.standard_normal(sets), generator.random(sets)
        estimate, variance, (low, high) = combine_of(facts_of("exact family", config={"sets": sets}))(
            list(estimates), list(variances)
        )
        ours = without_draws(estimates, variances)
        assert (estimate, variance, low, high) == pytest.approx((ours.estimate, ours.error**2, ours.low, ours.high), rel=1e-5)


def test_a_single_set_of_a_fit_to_tables_has_no_finite_interval():
    assert combine_of(facts_of("exact family", config={"sets": 1}))([2.0], [1.0])[2] == (-np.inf, np.inf)


def with_fit(p, **given):
    """A release of fitted tables with this p value of the test of fit."""
    facts = facts_of("exact family", **given)
    crossing = facts.crossing.model_copy(update={"draws": FITTED.model_copy(update={"fit_p": p})})
    return ReleaseFacts(crossing, facts.declarations, True)


@pytest.mark.parametrize(("p", "words"), [(0.43, "has p = 0.43; a difference"), (None, "was not tested")])
def test_the_test_of_fit_is_stated(p, words):
    assert words in rendered("README.md", with_fit(p)).replace("\n", " ")


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
def test_there_is_no_interval_where_the_tables_contradict_the_family(neighbours):
    facts = with_fit(0.000999, neighbours=neighbours, release="suppressed")
    estimate, error = combine_of(facts)([1.0, 3.0, 2.0], [4.0, 4.0, 4.0])
    assert (estimate, error) == pytest.approx((2.0, (4 / 3) ** 0.5))
    text = " ".join(rendered("README.md", facts).split())
    assert (
        "combine.py gives no interval: the outcome does not follow gamma. It does not fit the noisy counts: a test of fit" in text
    )
    assert "no more rows than a set" not in text
    assert not re.search(r"a 95 % interval[.,]", rendered("combine.py", facts))
    assert len(combine_of(with_fit(0.001))([1.0, 3.0, 2.0], [4.0, 4.0, 4.0])[2]) == 2


def test_no_text_promises_an_interval_for_a_noisy_table(facts):
    texts = rendered("combine.py", facts) + rendered("README.md", facts)
    without = facts.direct or (facts.declarations.fitted and not facts.config.exact_family)
    assert bool(re.search(r"a 95 % interval[.,]", texts)) == (not without)
    assert ("no interval" in texts) == without


def test_there_is_no_interval_from_a_family_that_nobody_has_declared_to_be_exact():
    facts = facts_of("fitted tables")
    estimate, error = combine_of(facts)([1.0, 3.0, 2.0], [4.0, 4.0, 4.0])
    assert (estimate, error) == pytest.approx((2.0, (4 / 3) ** 0.5))
    text = " ".join(rendered("README.md", facts).split())
    assert "gives no interval, since nobody has declared that the outcome follows gamma exactly. A test of fit" in text


def test_the_interval_states_what_it_assumes(facts):
    text = " ".join(rendered("README.md", facts).split())
    fitted, exact = facts.declarations.fitted, facts.assumes_family
    assert ("assumes that the model of the synthesizer fits" in text) == (not facts.direct and not fitted)
    assert (
        "It assumes that the outcome follows gamma, which the publisher has declared to be exact. A test of fit" in text
    ) == exact
    assert ("A test of fit to the noisy counts has p = 0.43;" in text) == fitted
    joined = facts.schema.neighbours == "add_remove" or not facts.as_is  # rows with a missing value are dropped here
    assert ("at least as many rows as a set" in text) == (not facts.direct and not fitted and joined)
    assert ("no more rows than a set; where it has more, the interval is too long" in text) == (exact and joined)
    given = bool(facts.as_is) and not facts.direct and exact >= fitted
    assert ("It applies to rows with these values of the columns age, region, sector" in text) == given
    assert ("noise of the table from which the predictors" in text) == (
        not facts.direct and exact >= fitted and bool(facts.schema.synthesized)
    )


def words_of(facts):
    """Every text of a release, by the name of its file, on one line."""
    readers = {".yaml": parsed, ".json": json.loads}
    return {name: " ".join(str(readers.get(Path(name).suffix, str)(value)).split()) for name, value in written(facts).items()}


CONTRADICTIONS = [
    (
        r"(?<!not a guarantee )for every (valid file|file|data set)",
        r"not a guarantee|does not hold for this file|Computed from this data set",
    ),
    (r"[Ee]psilon at most", r"No epsilon:"),
    (r"found no loss above the claim", r"found a larger loss|was not audited"),
    (r"Pure DP", r"Custom"),
    (r"comes? from one noisy table", r"(?<!not )from a posterior draw|posterior draw of Stan|Markov chain"),
    (r"a 95 % interval\.", r"no interval"),
    (r"drawn independently of", r"are only those that the synthesizer's model contains"),
    (r"in another order of rows|as in the file", r"\(noisy table\)|noisy table of the predictors"),
    (r"one record replaced|differ in the column", r"one record added or removed|with one person added"),
    (r"The number of rows, 2935, is that of the file", r"as rows that are not in the file|how many it has is not published"),
    (r"is in the file is, as far", r"one of two values of"),
    (r"begins with this release", r"earlier entr(?!y\.)"),
    (r"may depend on it", r"the ledger contains no comparison of candidates on the file|were chosen without the file"),
    (r"everything in this folder", r"columns? [\w, ]+ are those of the file"),
]
"""Sentences that may not be in the texts of one release together."""


def test_no_two_sentences_contradict_each_other(facts):
    together = " ".join(words_of(facts).values())
    for first, second in CONTRADICTIONS:
        assert not (re.search(first, together) and re.search(second, together)), (first, second)


def test_every_contradiction_could_be_seen():
    """Each sentence that is looked for is in some release, but those that are never true."""
    everything = " ".join(" ".join(words_of(facts).values()) for facts in [*RELEASES.values(), facts_of(earlier=EARLIER)])
    unseen = {pattern for pair in CONTRADICTIONS for pattern in pair if not re.search(pattern, everything)}
    assert unseen == {
        "everything in this folder",
        "the ledger contains no comparison of candidates on the file|were chosen without the file",
    }


def test_the_guarantee_names_the_columns_that_it_covers(facts):
    schema, texts = facts.schema, words_of(facts)
    as_is = [name for name, column in schema.columns.items() if column.release == "as_is"]
    covered = {"synthesized": "the columns income, age, region, sector"}.get(
        next((column.release for name, column in schema.predictors.items() if name != "income"), None), "the column income"
    )
    for name in ("README.md", "LEGAL.md", "NIST-SP-800-226.md", "deployment.yaml", "metadata.json", "datapackage.json"):
        text = texts[name]
        promised = f"Epsilon at most 1 for {covered}, for all files of this folder together." in text
        assert promised == (facts.crossing.audit != "refuted")
        if facts.crossing.audit != "refuted":
            assert ("Nothing is promised for the columns age, region, sector." in text) == bool(as_is), name
    assert ("can identify rows" in texts["LEGAL.md"]) == ("can identify rows" in texts["deployment.yaml"]) == bool(as_is)


@pytest.mark.parametrize("uses", [True, False])
def test_the_first_lines_state_which_relations_are_lost(uses):
    texts = words_of(facts_of(uses_predictors=uses))
    sentence = (
        "Relations between income and the columns age, region, sector are only those that the synthesizer's model contains."
        if uses
        else "income was drawn independently of the columns age, region, sector: no relation between them is kept"
    )
    assert texts["README.md"].startswith(f"# Incomes {sentence}")
    assert json.loads(rendered("metadata.json", facts_of(uses_predictors=uses)))["dc:description"].startswith(sentence)
    assert json.loads(rendered("datapackage.json", facts_of(uses_predictors=uses)))["description"].startswith(sentence)
    assert parsed(rendered("deployment.yaml", facts_of(uses_predictors=uses)))["deployment"]["basic"]["description"].startswith(
        sentence
    )
    assert sentence in texts["LEGAL.md"]


@pytest.mark.parametrize(("missing", "zeros", "cause"), [
    ("drop_rows", "refuse", "a missing value in a released column"),
    ("refuse", "drop_rows", "an outcome of 0"),
    ("drop_rows", "drop_rows", "a missing value in a released column or an outcome of 0"),
])  # fmt: skip
def test_rows_that_are_left_out_are_not_protected_where_their_number_shows(missing, zeros, cause):
    rules = {"missing": missing, "zeros": zeros}
    for page in (rendered("LEGAL.md", facts_of(schema=rules)), rendered("deployment.yaml", facts_of(schema=rules))):
        words = " ".join(page.split())
        assert f"Having {cause} is not protected: 65 of 3000 rows were left out." in words
        assert "Their absence from the columns age, region, sector shows whose rows they are." in words
    for neighbours, release in (("replace", "synthesized"), ("replace", "suppressed"), ("add_remove", "synthesized")):
        hidden = rendered("LEGAL.md", facts_of(neighbours=neighbours, release=release, schema=rules))
        published = "The number of rows of the file, 3000, is published and not protected." in hidden
        assert published == (neighbours == "replace")
        assert "is not protected:" not in hidden.split("**What is not protected**")[1]
        assert "The guarantee also covers whether a row was left out, and how many were." in hidden


def test_neighbours_are_alike_in_what_a_release_shows():
    """The values that a row has in other columns do not come if it is left out, so that its missing value shows."""
    shown = "a missing value in a released column"
    for release, alike in (("as_is", True), ("synthesized", False)):
        facts = facts_of(release=release, schema={"missing": "drop_rows", "zeros": "refuse"})
        assert (f"neighbours have one record replaced, both or neither with {shown}." in facts.meaning) == alike
        legal = " ".join(rendered("LEGAL.md", facts).split())
        assert (f"of one person, whose row has {shown} in both files or in neither." in legal) == alike
        assert (f"for one person, both or neither with {shown}, is right with a probability of at most" in legal) == alike


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
    modelled = ", values that the family of the study accepts" if not facts.declarations.tables else ""
    modelled += ", enough rows with different outcomes for a model" if not facts.noisy else ""
    most = ", at most 5,000,000 rows" if facts.schema.neighbours == "add_remove" else ""
    shown = f"shows that the file can be read, has the declared columns, types and categories{most}{modelled}"
    more = "no repeated value in a column named person, if there is one; and that enough of the budget was left."
    assert f"{shown}, and {more}" in text
    member = "Whether a person is in the file is not protected either: only its values are." in text
    assert member == (facts.schema.neighbours == "replace")
    assert ("Whether an audit was made, and its outcome, depend on the file." in text) == (not facts.noisy)


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
    assert "may depend on it. No epsilon covers that." in later["LEGAL.md"]
    assert "Many releases" in later["deployment.yaml"]
    other = words_of(facts_of("other draws", earlier=EARLIER.model_copy(update={"mixed": True})))
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


@pytest.mark.parametrize(("kind", "audit", "expected"), [
    ("other draws", "passed", True), ("other draws", "none", False), ("other draws", "refuted", True),
    ("strict draws", "passed", False), ("histogram", "passed", False),
])  # fmt: skip
def test_the_delta_of_an_audit_is_stated_where_it_is_not_0(kind, audit, expected):
    assert ("The audit was made at δ = 0.001." in rendered("README.md", facts_of(kind, audit=audit))) == expected


@pytest.mark.parametrize(("name", "cell"), [("pay|bonus", r"pay\|bonus"), ("a\\|b", r"a\\\|b"), ("age", "age")])
def test_a_column_name_stays_in_its_cell_of_the_table(name, cell):
    schema = {"outcome": name, "columns": {name: COLUMNS["income"], "age group": COLUMNS["age"]}}
    readme = rendered("README.md", facts_of(schema=schema)).splitlines()
    start = readme.index("| --- | --- | --- |")
    assert readme[start + 1 : start + 3] == [
        f"| {cell} | whole | synthetic (perturbed_histogram) |",
        "| age group | whole | as in the file |",
    ]


CLAIMS = {
    ("histogram", "as_is"): "One noisy table serves all sets. The claim for the column income is epsilon 1.",
    (
        "histogram",
        "synthesized",
    ): "The epsilon of the noisy table of the predictors is added. The claim for the column income is epsilon 0.5, that "
    "for the noisy table of the columns age, region, sector is 0.5: together 1.",
    ("strict draws", "suppressed"): "Sequential: the epsilons of the sets add up. The claim for the column income is epsilon 1.",
    (
        "other draws",
        "synthesized",
    ): "The epsilon of the noisy table of the predictors is added. The claim for the noisy table of the columns age, "
    "region, sector is epsilon 0.5: at most 0.5 of the ceiling of 1 is left for the column income.",
    ("other draws", "as_is"): "Sequential: the epsilons of the sets add up.",
}
"""End of the composition in the card by kind of release and release of the predictors."""


@pytest.mark.parametrize(("kind", "release"), CLAIMS)
def test_the_parts_of_epsilon_in_the_card_add_up(kind, release):
    card = parsed(rendered("deployment.yaml", facts_of(kind, release=release)))["deployment"]
    assert " ".join(card["accounting"]["composition"].split()).endswith(CLAIMS[kind, release])
    assert card["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}


def test_the_total_in_the_card_can_be_below_the_ceiling():
    facts = facts_of(release="synthesized", claim=1.0, config={"ceiling": 2})
    card = parsed(rendered("deployment.yaml", facts))["deployment"]
    assert "is 0.5: together 1.5." in " ".join(card["accounting"]["composition"].split())


@pytest.mark.parametrize("kind", ["histogram", "strict draws"])
def test_the_claim_of_an_own_mechanism_is_nowhere_called_proven(kind):
    facts = facts_of(kind)
    file = f"mine.py, sha256 {'1' * 64}"
    public = facts.declarations.model_copy(update={"own_mechanism": file})
    texts = {**words_of(replace(facts, declarations=public)), "statement": statement_of(public, "none")}
    together = " ".join(texts.values())
    assert not re.search("proven for|Pure|for every file", together)
    for name in ("LEGAL.md", "README.md", "metadata.json", "deployment.yaml", "statement"):
        assert f"Claimed by the publisher's own mechanism ({file}), which formalsynth has not proven" in texts[name], name
    assert texts["statement"].startswith("Epsilon at most 1 is claimed.")
    assert "Custom" in texts["deployment.yaml"]


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
    given, refuted = answers(facts), facts.crossing.audit == "refuted"
    strict = facts.declarations.mechanism != "weighted"
    assert ("Delta is 0." in given["Which kind of guarantee is it, with which delta?"]) == (strict and not refuted)
    assert ("k times 1" in given["Which epsilon protects several rows together?"]) == (strict and not refuted)
    assert ("(unbounded)" in given["Which files are neighbours?"]) == (facts.schema.neighbours == "add_remove")
    assert ("in the file" in given["What is protected (the unit of privacy)?"]) == (facts.schema.neighbours == "add_remove")
    noisy = facts.declarations.mechanism in ("perturbed_histogram", "noisy_tables")
    assert ("noise is a whole number" in given["Where does randomness come from, and is floating point safe?"]) == noisy
    assert ("docs/proofs/" in given["Which mechanism is it, and where is its proof?"]) == strict


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
    assert "| age | Age in years | whole | as in the file |" in rendered("README.md", described)
    assert "| age | whole | as in the file |" in rendered("README.md", facts)
    fields = json.loads(rendered("datapackage.json", described))["resources"][0]["schema"]["fields"]
    assert {field["name"]: field.get("description") for field in fields}["age"] == "Age in years"
    listed = json.loads(rendered("metadata.json", described))["tables"][0]["tableSchema"]["columns"]
    assert {column["name"]: column.get("dc:description") for column in listed}["age"] == "Age in years"


def test_an_own_mechanism_has_no_proof_of_ours():
    facts = facts_of()
    named = {"mechanism": "my_histogram", "own_mechanism": "mine.py"}
    own = ReleaseFacts(facts.crossing, facts.declarations.model_copy(update=named), False)
    assert "It is the publisher's own; ask them for its proof." in rendered("NIST-SP-800-226.md", own)
