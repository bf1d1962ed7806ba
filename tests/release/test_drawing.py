"""What goes out: fresh noise each time, no seed anywhere, nothing beyond the ceiling, nothing outside what was declared."""

import json
import random
import runpy
from dataclasses import replace

import incomes
import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth.custody.checking import typed
from formalsynth.custody.schema import Declared
from formalsynth.data.files import DataError
from formalsynth.release.drawing import draw_sets
from formalsynth.release.noise import noisy_counts, shares
from scipy import stats
from small_release import COLUMNS, a_config, a_schema, histogram, made

SYNTHESIZED = {
    name: column | {"release": "synthesized"} if column.get("release") == "as_is" else column for name, column in COLUMNS.items()
}


def drawn(schema=None, config=None, candidate=None, **changes):
    schema = schema or a_schema()
    declared = Declared("income", None, schema)
    table = typed(schema, incomes.incomes().replace("", np.nan))
    return draw_sets(declared, config or a_config(**changes), table, candidate or histogram()), table


def test_two_releases_of_the_same_data_differ_whatever_is_seeded():
    first, second = [], []
    for sets in (first, second):
        np.random.seed(1)  # noqa: NPY002 # somebody else's habit
        random.seed(1)
        sets += drawn()[0].sets
    assert len(first) == len(second) == 3
    for one, other in zip(first, second, strict=True):
        assert (one["income"].to_numpy() != other["income"].to_numpy()).mean() > 0.9


def test_predictors_as_they_are_keep_their_rows_in_another_order():
    found, table = drawn()
    names = ["age", "region", "sector"]
    for one in found.sets:
        assert list(one) == ["income", *names]
        assert one[names].value_counts().to_dict() == table[names].value_counts().to_dict()
    assert (found.sets[0][names].to_numpy() != table[names].to_numpy()).any()


def test_synthesized_predictors_are_drawn_and_paid_for():
    schema = a_schema(columns=SYNTHESIZED)
    with pytest.raises(DataError, match="predictors_epsilon: is missing"):
        drawn(schema)
    found, table = drawn(schema, predictors_epsilon=2, ceiling=3)
    assert found.epsilon == 3
    share = (found.sets[0]["region"] == "North").mean()
    assert abs(share - (table["region"] == "North").mean()) < 0.1
    assert found.sets[0]["age"].between(18, 80).all()


def test_where_being_in_the_file_is_protected_the_number_of_rows_is_declared():
    schema = a_schema(columns=SYNTHESIZED, neighbours="add_remove")
    with pytest.raises(DataError, match="rows: is missing"):
        drawn(schema, predictors_epsilon=1, ceiling=2)
    found, _ = drawn(schema, predictors_epsilon=1, ceiling=2, rows=2500)
    assert {len(one) for one in found.sets} == {2500}
    with pytest.raises(ValueError, match="cannot be add_remove where"):
        a_schema(neighbours="add_remove")


def test_more_than_the_ceiling_is_refused():
    with pytest.raises(DataError, match=r"claims more than the declared ceiling of 0\.5"):
        drawn(ceiling=0.5)


def test_noise_that_is_not_safe_is_refused():
    other = histogram()
    other = replace(other, synthesizer=other.synthesizer.model_copy(update={"mechanism": "noisy_median"}))
    with pytest.raises(DataError, match="is not safe in floating point"):
        drawn(candidate=other)
    with pytest.raises(DataError, match="could not be fitted"):
        drawn(candidate=replace(histogram(), reason="gate: 3 divergences"))


def test_noise_is_that_of_the_discrete_laplace_distribution():
    noise = np.array(noisy_counts([1000] * 4000, epsilon=0.5, sensitivity=2)) - 1000
    decay = np.exp(-0.25)
    assert noise.dtype == np.int64
    # a correct sampler is outside these bands less than once in 100,000 runs
    assert abs(noise.mean()) < 4.5 * np.sqrt(2 * decay / (1 - decay) ** 2 / 4000)
    expected = stats.dlaplace(0.25)
    for value in (0, 1, -1, 4):
        assert abs((noise == value).mean() - expected.pmf(value)) < 4.5 * np.sqrt(expected.pmf(value) / 4000)


def test_shares_of_noisy_counts():
    assert shares([3, -1, 1]).tolist() == [0.75, 0, 0.25]
    assert shares([-3, -1]).tolist() == [0.5, 0.5]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return made(tmp_path_factory.mktemp("whole") / "income")


def test_the_folder_describes_itself(release):
    package = json.loads((release.folder / "datapackage.json").read_text())
    assert [one["path"] for one in package["resources"]] == ["synthetic_1.csv", "synthetic_2.csv", "synthetic_3.csv"]
    tables = json.loads((release.folder / "metadata.json").read_text())["tables"]
    columns = {column["name"]: column["datatype"] for column in tables[0]["tableSchema"]["columns"]}
    assert columns["income"] == {"base": "integer", "minimum": 1000, "maximum": 500_000}
    assert list(columns) == list(pd.read_csv(release.folder / "synthetic_1.csv"))


CARD = {
    "basic": {"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region",
              "data_product_sector", "publication_date"},
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "number_of_privacy_units", "privacy_parameters",
                     "privacy_parameters_details"},
    "deployment_model": {"model_name", "release_type", "data_source_type", "access_type"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "composition", "post_processing",
                       "justification"},
    "administrative": {"status", "registry_authors", "tier"},
}  # fmt: skip
"""Sections and keys of OpenDP's registry of deployments that a card fills in."""


def test_the_card_has_the_keys_of_the_registry(release):
    card = yaml.safe_load((release.folder / "deployment.yaml").read_text())
    assert set(card) == {"url_slug", "deployment"}
    assert {section: set(keys) for section, keys in card["deployment"].items()} == CARD
    assert card["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert card["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}


def test_another_kind_is_custom_with_its_relation_spelled_out(tmp_path):
    other = replace(histogram(), by_record=np.ones(3), guarantee="asymptotic DP (local eps_x)")
    from formalsynth.release.describing import Telling, card, legal

    telling = Telling(
        "income", Declared("income", tmp_path, a_schema()), a_config(), "weighted", other.guarantee, False, {}, 9, "d"
    )
    variant = yaml.safe_load(card(telling))["deployment"]["dp_variant"]
    assert variant["variant_name"] == "Custom"
    assert set(variant) > {"input_metric", "bound_on_input_distance", "output_measure", "bound_on_output_distance"}
    assert "does not hold as it stands for every file" in legal(telling)


def test_what_readme_says_to_run_runs(release, monkeypatch, capsys):
    code = (release.folder / "README.md").read_text().split("```python")[1].split("```")[0]
    monkeypatch.chdir(release.folder)
    namespace = runpy.run_path("combine.py")
    exec(code.replace("from combine import combine", ""), {"combine": namespace["combine"]})
    mean = float(capsys.readouterr().out.strip("()\n").split(",")[0])
    sets = [pd.read_csv(release.folder / f"synthetic_{k}.csv")["income"].mean() for k in (1, 2, 3)]
    assert mean == pytest.approx(np.mean(sets))
    assert namespace["combine"]([1.0, 3.0], [0.5, 1.5])[1] == 2.0
