from typing import get_args

import numpy as np
import pytest

from formalsynth.core import data_files
from formalsynth.core.data_files import FILES, load
from formalsynth.core.text import DataError
from formalsynth_workflow.papers.reps.datasets import (
    _CATEGORY_EFFECTS,
    _SLOPES,
    ADULT_SCHEMA,
    DATASETS,
    GERMAN_SCHEMA,
    SIMULATED_SCHEMA,
    adult,
    breast_cancer,
    german,
    simulated,
)
from formalsynth_workflow.papers.reps.files import GERMAN_COLUMNS, NEEDED, read_columns
from formalsynth_workflow.papers.reps.settings import DatasetName
from formalsynth_workflow.papers.reps.tables import table_of

from .conftest import frame_of

GERMAN_ROW = "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1"


def test_simulated_outliers_alone_have_rare_categories_and_shifted_numbers(generator):
    table = simulated(generator, n=20_000)
    last = np.array(SIMULATED_SCHEMA.levels) - 1
    rare = table.categories == last
    assert (rare.all(axis=1) == rare.any(axis=1)).all()
    outlier = rare.any(axis=1)
    assert outlier.sum() == 400
    # Means of 400 and of 9,800 unit-variance values (inliers: two components, variance 1 + 1): five standard errors.
    assert np.abs(table.continuous[outlier].mean(axis=0) - 4).max() < 5 / np.sqrt(400)
    assert np.abs(table.continuous[~outlier].mean(axis=0)).max() < 5 * np.sqrt(2 / 19_600)


def test_simulated_label_is_logistic_in_the_declared_effects(generator):
    """The mean of y minus its probability, times each regressor, is zero in expectation."""
    table = simulated(generator, n=20_000)
    logit = table.continuous @ _SLOPES
    logit += sum(np.array(effect)[table.categories[:, j]] for j, effect in enumerate(_CATEGORY_EFFECTS))
    p = 1 / (1 + np.exp(-logit))
    regressors = np.column_stack([np.ones(len(table)), table.continuous])
    score = regressors.T @ (table.label - p)
    assert (np.abs(score) < 5 * np.sqrt((regressors**2).T @ (p * (1 - p)))).all()


def test_breast_cancer_has_27_numbers_and_3_even_categories(generator):
    table = breast_cancer(generator)
    assert (len(table), table.continuous.shape[1], table.schema.levels) == (569, 27, (5, 5, 5))
    assert np.bincount(table.label).tolist() == [212, 357]
    for column in table.categories.T:
        assert np.bincount(column, minlength=5).min() >= 569 // 5 - 3  # ties at an edge move a record or two


def test_breast_cancer_bins_other_features_with_another_seed():
    chosen = {tuple(c.name for c in breast_cancer(np.random.default_rng(seed)).schema.categorical) for seed in range(5)}
    assert len(chosen) > 1


def test_adult_is_the_complete_records_of_the_published_data(generator):
    table = adult(generator, "")
    assert len(table) == 45_222
    assert np.bincount(table.label).tolist() == [34_014, 11_208]
    assert not [column.name for column in ADULT_SCHEMA.categorical if "?" in column.values]
    unused = {
        value for j, column in enumerate(ADULT_SCHEMA.categorical)
        for code, value in enumerate(column.values) if not (table.categories[:, j] == code).any()
    }  # fmt: skip
    assert unused == {"Never-worked"}
    assert (len(table.schema.categorical), len(table.schema.continuous)) == (8, 6)


def test_german_is_the_published_data(generator):
    table = german(generator, "")
    assert np.bincount(table.label).tolist() == [300, 700]
    assert (len(GERMAN_SCHEMA.continuous), len(GERMAN_SCHEMA.categorical)) == (7, 13)
    assert frame_of(table)["amount"].sum() == 3_271_258


def test_hours_and_amounts_are_records_of_the_same_files():
    hours, amounts = load("adult_hours", ""), load("german_amounts", "")
    assert (len(hours), hours.design.shape, hours.x.max()) == (32_561, (32_561, 1), 99)
    assert hours.x.mean() == pytest.approx(40.437, abs=1e-3)
    assert (len(amounts), amounts.x.max(), amounts.design[:, 1].max()) == (1000, 18_424, 72)
    assert (amounts.design[:, 0] == 1).all()


def test_config_may_name_every_data_set():
    assert set(get_args(DatasetName)) == set(DATASETS) >= set(NEEDED)
    assert all(FILES[entry].holds == "columns" for entries in NEEDED.values() for entry in entries)


def test_absent_files_are_named(monkeypatch, tmp_path, generator):
    monkeypatch.setattr(data_files, "SHIPPED", tmp_path)
    for name, entries in NEEDED.items():
        with pytest.raises(DataError, match=FILES[entries[0]].file):
            DATASETS[name](generator, tmp_path)


def test_another_file_under_the_name_is_refused(tmp_path, generator):
    (tmp_path / "german.data").write_text(GERMAN_ROW + "\n")
    with pytest.raises(DataError, match="sha256"):
        german(generator, tmp_path)


def test_wrong_shape_is_refused(tmp_path):
    path = tmp_path / "german.data"
    path.write_text(GERMAN_ROW + "\n")
    assert len(read_columns(path, names=GERMAN_COLUMNS, n=1, separator=" ")["credit"]) == 1
    with pytest.raises(DataError, match="1 rows and 21 columns, expected 2 and 21"):
        read_columns(path, names=GERMAN_COLUMNS, n=2, separator=" ")


@pytest.mark.parametrize(("column", "value", "message"), [
    ("age", "17", "column age, row 1: given 17; allowed: 18 to 100"),
    ("age", "nan", "column age"),
    ("age", "old", "not a number"),
    ("status", "A15", "column status: given A15; allowed: A11"),
    ("credit", "3", "column credit: given 3"),
])  # fmt: skip
def test_values_outside_the_schema_are_refused(column, value, message):
    columns = {name: [field] for name, field in zip(GERMAN_COLUMNS, GERMAN_ROW.split(), strict=True)}
    assert len(table_of(GERMAN_SCHEMA, columns, "file")) == 1
    with pytest.raises(DataError, match=message):
        table_of(GERMAN_SCHEMA, columns | {column: [value]}, "file")


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="columns: status"):
        table_of(GERMAN_SCHEMA, {name: [] for name in GERMAN_COLUMNS if name != "status"}, "file")
